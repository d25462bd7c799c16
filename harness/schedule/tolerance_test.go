package schedule_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// runsOn is a problem of tasks that each take the whole GPU for the duration, and a
// schedule that runs them in the intervals, without reconfiguration times.
func runsOn(duration []mig.Seconds, interval [][2]mig.Seconds) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{GPU: a100, Model: mig.Free}
	s := schedule.Schedule{GPU: a100, Model: mig.Free, Operations: []schedule.Operation{instant(schedule.Create, at(7, 0), 0)}}
	for i, d := range duration {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), map[mig.Slices]mig.Seconds{7: d}))
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: at(7, 0), Start: interval[i][0], End: interval[i][1]})
	}
	return p, s
}

// atOnce runs n tasks of a duration on the whole GPU at the same time.
func atOnce(n int, duration mig.Seconds) (schedule.Problem, schedule.Schedule) {
	var durations []mig.Seconds
	var intervals [][2]mig.Seconds
	for range n {
		durations = append(durations, duration)
		intervals = append(intervals, [2]mig.Seconds{0, duration})
	}
	return runsOn(durations, intervals)
}

// kinds returns what the referee finds, by kind.
func kinds(p schedule.Problem, s schedule.Schedule) map[schedule.Kind]int {
	found := map[schedule.Kind]int{}
	for _, v := range schedule.Check(p, s) {
		found[v.Kind]++
	}
	return found
}

func TestTasksTooShortToCompareAreRefused(t *testing.T) {
	if found := kinds(atOnce(9, 1e-10)); found[schedule.BadProblem] != 9 || found[schedule.TooMuchWork] != 1 {
		t.Errorf("nine tasks of 1e-10 s at once: %v", found)
	}
	if found := kinds(atOnce(9, task.MinSeconds)); found[schedule.BadProblem] != 0 || found[schedule.TaskOverlap] != 8 || found[schedule.TooMuchWork] != 1 {
		t.Errorf("nine tasks of the shortest duration at once: %v", found)
	}
}

func TestToleranceDoesNotGrowWithTheMakespan(t *testing.T) {
	for name, c := range map[string]struct {
		duration []mig.Seconds
		interval [][2]mig.Seconds
		want     schedule.Kind
	}{
		"2 s in no time":            {[]mig.Seconds{2, 1e11}, [][2]mig.Seconds{{0, 0}, {0, 1e11}}, schedule.WrongDuration},
		"2 s in no time, late":      {[]mig.Seconds{1e11, 2}, [][2]mig.Seconds{{0, 1e11}, {1e11, 1e11}}, schedule.WrongDuration},
		"5 ns too short":            {[]mig.Seconds{2, 1e11}, [][2]mig.Seconds{{0, 2 - 5e-9}, {2, 2 + 1e11}}, schedule.WrongDuration},
		"1 ms too short, late":      {[]mig.Seconds{1e11, 2}, [][2]mig.Seconds{{0, 1e11}, {1e11, 1e11 + 2 - 1e-3}}, schedule.WrongDuration},
		"1 us too short, 1e9 s":     {[]mig.Seconds{1e6, 2}, [][2]mig.Seconds{{0, 1e6}, {1e6, 1e6 + 2 - 1e-6}}, schedule.WrongDuration},
		"overlap before a long":     {[]mig.Seconds{2, 2, 1e11}, [][2]mig.Seconds{{0, 2}, {1.99, 3.99}, {4, 4 + 1e11}}, schedule.TaskOverlap},
		"shortest in half its time": {[]mig.Seconds{1e-6, 1e11}, [][2]mig.Seconds{{0, 5e-7}, {1, 1 + 1e11}}, schedule.WrongDuration},
	} {
		if found := kinds(runsOn(c.duration, c.interval)); found[c.want] != 1 {
			t.Errorf("%s: %v, want %v", name, found, c.want)
		}
	}
}

func TestRoundingIsAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		duration []mig.Seconds
		interval [][2]mig.Seconds
	}{
		"nanoseconds":       {[]mig.Seconds{0.3}, [][2]mig.Seconds{{0, 0.3 - 3.9e-9}}},
		"touching, 3.9 ns":  {[]mig.Seconds{1, 1}, [][2]mig.Seconds{{0, 1}, {1 - 3.9e-9, 2 - 3.9e-9}}},
		"rounded at 1e11 s": {[]mig.Seconds{1e11, 0.7}, [][2]mig.Seconds{{0, 1e11}, {1e11, 1e11 + 0.7}}},
		"sixteen units":     {[]mig.Seconds{1e11, 0.7}, [][2]mig.Seconds{{0, 1e11}, {1e11, 1e11 + 0.7 + 16*(mig.Seconds(math.Nextafter(1e11, 2e11))-1e11)}}},
	} {
		if found := schedule.Check(runsOn(c.duration, c.interval)); found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

// A simulator adds durations of any size one after the other.
func TestLongSumsAreAccepted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var durations []mig.Seconds
	var intervals [][2]mig.Seconds
	var now mig.Seconds
	for range 20_000 {
		d := mig.Seconds(math.Pow(10, -6+18*r.Float64()))
		durations = append(durations, d)
		intervals = append(intervals, [2]mig.Seconds{now, now + d})
		now += d
	}
	if found := schedule.Check(runsOn(durations, intervals)); found != nil {
		t.Errorf("%d violations; the first is %v", len(found), found[0])
	}
}

// Each overlap is within the tolerance; together they are work that no GPU can do.
func TestRoundingDoesNotAddUp(t *testing.T) {
	var durations []mig.Seconds
	var intervals [][2]mig.Seconds
	for i := range 100 {
		start := mig.Seconds(i) * (1e-6 - 3.9e-9)
		durations = append(durations, 1e-6)
		intervals = append(intervals, [2]mig.Seconds{start, start + 1e-6})
	}
	p, s := runsOn(durations, intervals)
	if found := kinds(p, s); len(found) != 1 || found[schedule.TooMuchWork] != 1 {
		t.Errorf("%v", found)
	}
	if _, err := schedule.Measure(p, s); err == nil {
		t.Error("it is measured")
	}
}
