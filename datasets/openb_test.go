package datasets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets/traces"
	"miglab/harness/mig"
	"miglab/harness/task"
)

func openbOf(t *testing.T, spec string, index int) task.Requests {
	t.Helper()
	in, err := InstanceOf[task.Requests](MustParse(spec), mig.MustLookup("A100-80GB"), index)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestTraceIsInstance0 counts what the file has.
func TestTraceIsInstance0(t *testing.T) {
	for spec, want := range map[string]int{
		"openb": 6203, "openb?pending=in": 7064, "openb?pods=shared": 2573, "openb?pods=shared&pending=in": 3078,
	} {
		if got := len(openbOf(t, spec, 0).Requests); got != want {
			t.Errorf("%s has %d requests, want %d", spec, got, want)
		}
	}
	several := map[int]int{}
	for _, q := range openbOf(t, "openb?pending=in", 0).Requests {
		several[q.Instances()]++
		if q.Instances() > 1 && q.Profile.String() != "7g.80gb" {
			t.Errorf("%d GPUs of %v", q.Instances(), q.Profile)
		}
	}
	if several[8] != 44 || several[4] != 15 || several[2] != 16 {
		t.Errorf("requests by GPUs: %v", several)
	}
}

// TestMappingOfShares has the least profile on both sides of each profile's share.
func TestMappingOfShares(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for mapping, shares := range map[traces.Mapping]map[int]string{
		traces.Compute: {
			1: "1g.10gb", 142: "1g.10gb", 143: "2g.20gb", 285: "2g.20gb", 286: "3g.40gb", 428: "3g.40gb", 429: "4g.40gb", 571: "4g.40gb",
			572: "7g.80gb", 1000: "7g.80gb",
		},
		traces.Memory: {125: "1g.10gb", 126: "1g.20gb", 250: "1g.20gb", 251: "3g.40gb", 500: "3g.40gb", 501: "7g.80gb", 1000: "7g.80gb"},
	} {
		for milli, want := range shares {
			if got := mapping.Profile(g, milli).String(); got != want {
				t.Errorf("%s of %d thousandths is %s, want %s", mapping, milli, got, want)
			}
		}
	}
}

// TestBootstrapDrawsWholeDays checks what every drawn instance must have.
func TestBootstrapDrawsWholeDays(t *testing.T) {
	s := MustParse("openb?pending=in").(named).Dataset.(openbRequests).openb
	trace := openbPods()
	alive := 0
	byDay := map[int][]pod{}
	for _, p := range trace {
		if end := p.Submit + p.Lifetime; p.Submit < firstDay*daySeconds && end > firstDay*daySeconds {
			alive++
		}
		d := p.Submit / daySeconds
		p.Submit %= daySeconds
		byDay[d] = append(byDay[d], p)
	}
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.IntRange(1, 100_000).Draw(t, "index")
		pods := s.pods(index)
		if again := s.pods(index); !slices.Equal(again, pods) {
			t.Fatal("the second time it is another instance")
		}
		if !slices.IsSortedFunc(pods, func(a, b pod) int { return a.Submit - b.Submit }) {
			t.Fatal("the pods are not sorted by submission")
		}
		drawn := make([][]pod, lastDay-firstDay+1)
		for _, p := range pods[alive:] {
			d := p.Submit / daySeconds
			p.Submit %= daySeconds
			drawn[d] = append(drawn[d], p)
		}
		for d, got := range drawn {
			if !slices.ContainsFunc(slices.Collect(days(byDay)), func(day []pod) bool { return slices.Equal(day, got) }) {
				t.Fatalf("day %d has %d pods, which no day of the trace has", d, len(got))
			}
		}
	})
}

// days yields the days that instances are drawn from.
func days(byDay map[int][]pod) func(yield func([]pod) bool) {
	return func(yield func([]pod) bool) {
		for d := firstDay; d <= lastDay; d++ {
			if !yield(byDay[d]) {
				return
			}
		}
	}
}

// TestScaleMultipliesTheLoad compares the requested slices times slots, without a cluster.
func TestScaleMultipliesTheLoad(t *testing.T) {
	one := len(openbOf(t, "openb?pods=shared", 3).Requests)
	for spec, scale := range map[string]float64{"scale=0.25": 0.25, "scale=2.5": 2.5, "scale=7": 7} {
		got := float64(len(openbOf(t, "openb?pods=shared&"+spec, 3).Requests))
		want := scale * float64(one)
		if d := math.Abs(got - want); d > 4*math.Sqrt(float64(one)) || scale == math.Floor(scale) && d > 0 {
			t.Errorf("%s has %v requests, want about %v", spec, got, want)
		}
	}
}

// TestCopiesAreSpreadOverTheDay: a copy that is drawn at second 0 does not keep the next ones there.
func TestCopiesAreSpreadOverTheDay(t *testing.T) {
	at0 := 0
	for _, p := range scalePods([]pod{{Submit: 1}}, 1e6, rand.New(rand.NewPCG(1, 2))) {
		if p.Submit == 0 {
			at0++
		}
	}
	if at0 == 0 || at0 > 40 { // 1e6/86400 is 11.6
		t.Errorf("%d of a million copies are at second 0", at0)
	}
	for _, p := range scalePods([]pod{{}}, 100, rand.New(rand.NewPCG(1, 2))) {
		if p.Submit != 0 {
			t.Fatalf("a copy of a pod that is there at time 0 comes at %d", p.Submit)
		}
	}
}

// TestSlots rounds submissions down and lifetimes up.
func TestSlots(t *testing.T) {
	seconds, minutes := openbOf(t, "openb", 2).Requests, openbOf(t, "openb?slot=60", 2).Requests
	for i, q := range seconds {
		m := minutes[i]
		if m.Arrival != q.Arrival/60 || m.Lifespan != (q.Lifespan+59)/60 || m.Profile != q.Profile {
			t.Fatalf("request %d: %+v in seconds, %+v in minutes", i, q, m)
		}
	}
}

// TestDaysOfTheTrace counts the pods of a day and compares durations with the assumed law.
func TestDaysOfTheTrace(t *testing.T) {
	g := mig.MustLookup("A100")
	const index = 3
	var day []pod
	for _, p := range openbPods() {
		if p.Submit/daySeconds == firstDay+index && p.GPUs == 1 && p.Phase != "P" {
			day = append(day, p)
		}
	}
	jobs, err := InstanceOf[task.Queue](MustParse("openb/jobs?alpha=0.5"), g, index)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := InstanceOf[task.Batches](MustParse("openb/stream?n=20&alpha=0.5"), g, index)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs.Jobs) != len(day) || len(stream.Tasks) != len(day) || len(stream.Lengths) != (len(day)+19)/20 {
		t.Fatalf("%d jobs, %d tasks in %d batches of %d pods", len(jobs.Jobs), len(stream.Tasks), len(stream.Lengths), len(day))
	}
	for i, p := range day {
		own := traces.Compute.Profile(g, p.Milli).Size
		j, b := jobs.Jobs[i], stream.Tasks[i]
		if got := j.On(own) * 60; math.Abs(float64(got)-float64(p.Lifetime)) > 1e-6 {
			t.Errorf("pod %d takes %v s on its profile, want %d", i, got, p.Lifetime)
		}
		if got := float64(b.On(1) / b.On(4)); math.Abs(got-2) > 1e-9 {
			t.Errorf("pod %d takes %v times as long on 1 slice as on 4, want 2", i, got)
		}
	}
	if _, err := MustParse("openb/stream").Instance(g, lastDay-firstDay+1); err == nil {
		t.Error("there is a day after the last one")
	}
}
