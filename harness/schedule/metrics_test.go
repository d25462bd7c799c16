package schedule_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"miglab/harness/schedule"
)

func TestMeasureOfAWorkedExample(t *testing.T) {
	m, err := schedule.Measure(valid())
	if err != nil {
		t.Fatal(err)
	}
	// Two A100s for 6.58 s have 92.12 slice-seconds; the tasks take
	// 2*1 + 2*2 + 3*1.5 + 4*3 + 7*0.5 + 1*1 = 27 of them, the operations
	// 0.17 + 0.20 + 0.20 + 0.21 + 0.22 + 0.16 = 1.16 s.
	want := schedule.Metrics{
		Makespan: 6.58, Busy: 27, Utilisation: 27 / 92.12, Reconfigurations: 6, Reconfiguring: 1.16,
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12*b }
	if !near(float64(m.Makespan), float64(want.Makespan)) || !near(float64(m.Busy), float64(want.Busy)) ||
		!near(m.Utilisation, want.Utilisation) ||
		m.Reconfigurations != want.Reconfigurations || !near(float64(m.Reconfiguring), float64(want.Reconfiguring)) {
		t.Errorf("got %+v, want %+v", m, want)
	}
}

func TestMeasureOfNoTasks(t *testing.T) {
	m, err := schedule.Measure(schedule.Problem{GPU: a100}, schedule.Schedule{GPU: a100})
	if err != nil || m != (schedule.Metrics{}) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestAnInvalidScheduleHasNoMetrics(t *testing.T) {
	p, s := valid()
	s.Placements = s.Placements[:1]
	s.GPU = h100
	s.Operations[0].End += 1e-3
	m, err := schedule.Measure(p, s)
	invalid, ok := errors.AsType[*schedule.InvalidError](err)
	if !ok || m != (schedule.Metrics{}) {
		t.Fatalf("%+v, %v", m, err)
	}
	if len(invalid.Violations) != len(schedule.Check(p, s)) || invalid.Algorithm != "hand" {
		t.Errorf("%+v", invalid)
	}
	if v := invalid.Violations[0]; v.Kind != schedule.WrongGPU {
		t.Errorf("the first violation is %v", v)
	}
	text := err.Error()
	if !strings.HasPrefix(text, `invalid schedule of "hand": wrong GPU: `) || !strings.HasSuffix(text, "; and 4 more") {
		t.Errorf("%s", text)
	}
}
