package sim

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestWaitingByHand follows one GPU. Slots are seconds.
func TestWaitingByHand(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile { return profileOf(t, g, name) }
	requests := []task.Request{
		{Arrival: 0, Lifespan: 40, Profile: p("4g.40gb")}, // at once, slices 0 to 3
		{Arrival: 10, Lifespan: 20, Profile: p("7g.80gb")},
		{Arrival: 20, Lifespan: 30, Profile: p("3g.40gb")},
		{Arrival: 40, Lifespan: 10, Profile: p("1g.10gb")},
	}
	for waiting, want := range map[task.Waiting]struct {
		starts  []int
		blocked int
		use     Use
	}{
		// The 3g overtakes the 7g, which begins when it has gone; so does the 1g, as the last slot of the 4g is 39.
		task.Retry: {[]int{0, 50, 20, 40}, 0, Use{Slots: 10, Compute: 1, Memory: 1, Queued: 1, Peak: 1}},
		// Nobody overtakes the 7g. In the ten seconds that count, half of the GPU is in use.
		task.FIFO: {[]int{0, 40, 60, 60}, 0, Use{Slots: 10, Compute: 4. / 7, Memory: 0.5, Queued: 1, Peak: 1}},
	} {
		in := task.Requests{Requests: requests, GPUs: 1, Waiting: waiting}
		got, err := RunWaiting(g, in, firstSpot{})
		if err != nil || !slices.Equal(got.Starts, want.starts) || got.Blocked != want.blocked || got.Use != want.use {
			t.Errorf("%s: starts %v, %d blocked, %+v, %v; want %+v", waiting, got.Starts, got.Blocked, got.Use, err, want)
		}
	}
}

// TestWaitingMetrics: waits of 0, 1 and 8 slots of two seconds.
func TestWaitingMetrics(t *testing.T) {
	g := mig.MustLookup("A30")
	p := profileOf(t, g, "4g.24gb")
	in := task.Requests{GPUs: 1, Waiting: task.Retry, SlotSeconds: 2, Requests: []task.Request{
		{Arrival: 0, Lifespan: 5, Profile: p}, {Arrival: 4, Lifespan: 10, Profile: p}, {Arrival: 7, Lifespan: 1, Profile: p},
	}}
	r, err := RunWaiting(g, in, firstSpot{})
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := r.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range metrics {
		got[m.Name] = m.Value
	}
	want := map[string]float64{
		"wait_mean_s": 6, "wait_p50_s": 2, "wait_p95_s": 2 + 0.9*14, "wait_p99_s": 2 + 0.98*14,
		"turnaround_mean_s": 6 + 32./3, "slowdown": (1 + 1.1 + 9) / 3, "makespan_s": 32, "blocked_by_geometry": 0, "peak_used": 1,
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-9 {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v, want no use before the 30th second", got)
	}
}

// TestBlockedByGeometry: 1g on slices 0 and 4 leave six slices free, and no place for a 3g or a 4g.
func TestBlockedByGeometry(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile { return profileOf(t, g, name) }
	in := task.Requests{GPUs: 1, Waiting: task.Retry, Requests: []task.Request{
		{Lifespan: 100, Profile: p("1g.10gb")},
		{Lifespan: 90, Profile: p("1g.10gb")},
		{Arrival: 40, Lifespan: 10, Profile: p("3g.40gb")},
		{Arrival: 50, Lifespan: 10, Profile: p("3g.40gb")},
		{Arrival: 60, Lifespan: 10, Profile: p("7g.80gb")},
	}}
	spots := script{{0, 0}, {0, 4}}
	placer := fallback{&spots, 90}
	got, err := RunWaiting(g, in, &placer)
	if err != nil || got.Blocked != 2 || !slices.Equal(got.Starts, []int{0, 0, 90, 100, 110}) {
		t.Errorf("%d blocked, starts %v, %v; want 2, the 3g after the second 1g", got.Blocked, got.Starts, err)
	}
	// From 30 to 60, two of eight slices are in use, and the longest free run below the last slice is three of five.
	if want := (Use{Slots: 30, Compute: 2. / 7, Memory: 0.25, Fragmentation: 0.4, Queued: 2. / 3, Peak: 1}); got.Use != want {
		t.Errorf("%+v, want %+v", got.Use, want)
	}
	// With FIFO, the second 3g is first tried in slot 90, when three memory slices are free.
	in.Waiting, spots = task.FIFO, script{{0, 0}, {0, 4}}
	if got, err := RunWaiting(g, in, &placer); err != nil || got.Blocked != 1 {
		t.Errorf("FIFO: %d blocked, %v; want 1", got.Blocked, err)
	}
	// Seven 1g leave a memory slice free, but no compute slice. The GPU is full.
	in = task.Requests{GPUs: 1, Waiting: task.Retry, Requests: slices.Repeat([]task.Request{{Lifespan: 9, Profile: p("1g.10gb")}}, 8)}
	if got, err := RunWaiting(g, in, firstSpot{}); err != nil || got.Blocked != 0 || got.Use.Peak != 1 {
		t.Errorf("eight 1g: %d blocked, a peak of %v, %v; want 0 and 1", got.Blocked, got.Use.Peak, err)
	}
}

// TestLongWaitingStreamsRun: 6,000 requests that last for days in slots of a millisecond.
func TestLongWaitingStreamsRun(t *testing.T) {
	g := mig.MustLookup("H100")
	in := task.Requests{GPUs: 1000, Waiting: task.Retry, SlotSeconds: 0.001, Requests: slices.Repeat([]task.Request{{Lifespan: 3 << 30, Profile: profileOf(t, g, "1g.10gb")}}, 6000)}
	if _, err := RunWaiting(g, in, firstSpot{}); err != nil {
		t.Error(err)
	}
}

// fallback follows a script and then takes the first spot.
type fallback struct {
	*script
	_ int
}

func (f *fallback) Place(c *Cluster, profile int) (Spot, bool) {
	if len(*f.script) > 0 {
		return f.script.Place(c, profile)
	}
	return firstSpot{}.Place(c, profile)
}

// refusal rejects everything.
type refusal struct{}

func (refusal) Place(*Cluster, int) (Spot, bool) { return Spot{}, false }

func TestWaitingErrors(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := profileOf(t, g, "7g.80gb")
	for _, c := range []struct {
		q    []task.Request
		by   Placer
		want string
	}{
		{[]task.Request{{Lifespan: task.Forever, Profile: p}}, firstSpot{}, "request 0 never leaves, so that others could wait forever"},
		{[]task.Request{{Lifespan: 1, Profile: p, GPUs: 3}}, firstSpot{}, "request 0 needs 3 GPUs of 2 and would wait forever"},
		{[]task.Request{{Lifespan: 1, Profile: p}, {Lifespan: 0, Profile: p}}, firstSpot{}, "request 1 has a lifespan of 0"},
		{[]task.Request{{Arrival: 2, Lifespan: 1, Profile: p}, {Arrival: 1, Lifespan: 1, Profile: p}}, firstSpot{}, "request 1 arrives in slot 1, after slot 2"},
		{[]task.Request{{Lifespan: 1 << 52, Profile: p}, {Lifespan: 1, Profile: p}}, firstSpot{}, "request 1 may end after slot 4503599627370496"},
		{[]task.Request{{Lifespan: 1, Profile: p}}, refusal{}, "requests wait forever: the scheduler rejects 1 on an empty cluster"},
		{[]task.Request{{Lifespan: 1, Profile: p}}, &script{{2, 0}}, "request 0: 7g.80gb cannot be placed on GPU 2 at slice 0: the GPUs are 0 to 1"},
	} {
		_, err := RunWaiting(g, task.Requests{Requests: c.q, GPUs: 2, Waiting: task.Retry}, c.by)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		_, choice := errors.AsType[*ChoiceError](err)
		if _, first := c.by.(firstSpot); choice == first {
			t.Errorf("%v: a choice of the scheduler: %t", err, choice)
		}
	}
}

func drawWaiting(t *rapid.T) (*mig.GPU, task.Requests) {
	g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
	in := task.Requests{
		GPUs: rapid.IntRange(1, 3).Draw(t, "gpus"), Waiting: rapid.SampledFrom([]task.Waiting{task.Retry, task.FIFO}).Draw(t, "waiting"),
		SlotSeconds: rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "slot"),
	}
	profiles := task.RequestProfiles(g)
	slot := 0
	for range rapid.IntRange(1, 30).Draw(t, "requests") {
		slot += rapid.IntRange(0, 4).Draw(t, "gap")
		q := task.Request{Arrival: slot, Lifespan: rapid.IntRange(1, 20).Draw(t, "lifespan"), Profile: rapid.SampledFrom(profiles).Draw(t, "profile")}
		if q.Profile.Length == g.MemorySlices {
			q.GPUs = rapid.IntRange(0, in.GPUs).Draw(t, "GPUs")
		}
		in.Requests = append(in.Requests, q)
	}
	if rapid.Bool().Draw(t, "fixed") {
		names := []string{g.Partitions()[0].String()} // for those that need a whole GPU
		for range in.GPUs - 1 {
			names = append(names, rapid.SampledFrom(g.Partitions()).Draw(t, "partition").String())
		}
		if err := in.UseGeometry(g, names); err != nil {
			t.Fatal(err)
		}
		for i := range in.Requests {
			in.Requests[i].GPUs = min(in.Requests[i].GPUs, 1) // one GPU may be the only whole one
		}
	}
	return g, in
}

// naiveWaiting looks at every slot, and at every request that waits in it, in order of arrival.
func naiveWaiting(g *mig.GPU, in task.Requests) (starts []int, blocked int, use Use) {
	c, _ := NewCluster(g, in.GPUs)
	c.fix(in.Geometry)
	kept := map[int]bool{} // out by the geometry
	starts = slices.Repeat([]int{-1}, len(in.Requests))
	spots := make([][]Spot, len(in.Requests))
	last := in.Requests[len(in.Requests)-1].Arrival
	seconds := max(in.SlotSeconds, 0)
	if seconds == 0 {
		seconds = 1
	}
	capacity := float64(in.GPUs * int(g.MemorySlices))
	for now := 0; slices.Contains(starts, -1); now++ {
		for i, q := range in.Requests {
			if starts[i] >= 0 && starts[i]+q.Lifespan == now {
				for _, s := range spots[i] {
					c.set(s.GPU, c.Mask(s.GPU)&^mig.Instance{Profile: q.Profile, Start: s.Start}.Mask())
				}
			}
		}
		waits, room := false, map[[2]int]bool{} // by kind: whether there were enough slices at its first rejection
		for i, q := range in.Requests {
			if q.Arrival > now || starts[i] >= 0 {
				continue
			}
			if waits && in.Waiting == task.FIFO {
				break
			}
			for range q.Instances() {
				if s, ok := (firstSpot{}).Place(c, slices.Index(c.Profiles(), q.Profile)); ok {
					c.set(s.GPU, c.Mask(s.GPU)|mig.Instance{Profile: q.Profile, Start: s.Start}.Mask())
					spots[i] = append(spots[i], s)
				}
			}
			if len(spots[i]) == q.Instances() {
				starts[i] = now
				continue
			}
			for _, s := range spots[i] {
				c.set(s.GPU, c.Mask(s.GPU)&^mig.Instance{Profile: q.Profile, Start: s.Start}.Mask())
			}
			spots[i], waits = nil, true
			kind := [2]int{slices.Index(c.Profiles(), q.Profile), q.Instances()}
			if _, tried := room[kind]; !tried {
				memory, compute := naiveFree(c, in, starts, now)
				room[kind] = memory >= q.Slices() && compute >= q.Instances()*int(q.Profile.Size)
			}
			if room[kind] {
				kept[i] = true
			}
		}
		used, compute, scattered := 0, 0., 0.
		for gpu := range in.GPUs {
			used += int(c.Mask(gpu).Count())
			free, longest, run := 0., 0., 0.
			for k := range g.ComputeSlices {
				run++
				free++
				if c.Mask(gpu)>>k&1 != 0 {
					run = 0
					free--
				}
				longest = max(longest, run)
			}
			if free > 0 {
				scattered += 1 - longest/free
			}
		}
		for i, q := range in.Requests {
			if starts[i] >= 0 && starts[i] <= now && now < starts[i]+q.Lifespan {
				compute += float64(q.Instances()*int(q.Profile.Size)) / float64(in.GPUs*int(g.ComputeSlices))
			}
		}
		use.Peak = max(use.Peak, float64(used)/capacity, compute)
		if float64(now)*seconds < WarmUp || now >= last {
			continue
		}
		use.Slots++
		use.Memory += float64(used) / capacity
		use.Fragmentation += scattered / float64(in.GPUs)
		use.Compute += compute
		if waits {
			use.Queued++
		}
	}
	if n := float64(use.Slots); n > 0 {
		use.Compute, use.Memory, use.Fragmentation, use.Queued = use.Compute/n, use.Memory/n, use.Fragmentation/n, use.Queued/n
	}
	return starts, len(kept), use
}

// naiveFree counts the free memory and compute slices of a cluster.
func naiveFree(c *Cluster, in task.Requests, starts []int, now int) (memory, compute int) {
	compute = in.GPUs * int(c.GPU().ComputeSlices)
	for gpu := range in.GPUs {
		memory += int(c.GPU().MemorySlices - c.Mask(gpu).Count())
	}
	for i, q := range in.Requests {
		if starts[i] >= 0 && now < starts[i]+q.Lifespan {
			compute -= q.Instances() * int(q.Profile.Size)
		}
	}
	return memory, compute
}

// TestWaitingIsNaiveWaiting compares the engine with a scan of all slots and requests, and has the referee agree.
func TestWaitingIsNaiveWaiting(t *testing.T) {
	for range 10 { // a hundred draws each
		rapid.Check(t, naiveAgrees)
	}
}

func naiveAgrees(t *rapid.T) {
	g, in := drawWaiting(t)
	got, err := RunWaiting(g, in, firstSpot{})
	if err != nil {
		t.Fatal(err)
	}
	starts, blocked, use := naiveWaiting(g, in)
	if !reflect.DeepEqual(got.Starts, starts) || got.Blocked != blocked {
		t.Fatalf("starts %v, %d blocked, want %v, %d", got.Starts, got.Blocked, starts, blocked)
	}
	for _, v := range [][2]float64{
		{got.Use.Compute, use.Compute},
		{got.Use.Memory, use.Memory},
		{got.Use.Fragmentation, use.Fragmentation},
		{got.Use.Queued, use.Queued},
		{got.Use.Peak, use.Peak},
		{float64(got.Use.Slots), float64(use.Slots)},
	} {
		if math.Abs(v[0]-v[1]) > 1e-9 {
			t.Fatalf("%+v, want %+v", got.Use, use)
		}
	}
	if err := CheckWaiting(&got); err != nil {
		t.Fatal(err)
	}
}

// waited returns a result without moves.
func waited(in task.Requests, starts []int, spots [][]Spot) *WaitingResult {
	r := &WaitingResult{In: in, Starts: starts, Spots: spots}
	for i, at := range starts {
		r.Ends = append(r.Ends, at+in.Requests[i].Lifespan)
	}
	return r
}

// TestCheckWaitingFindsMutations: the referee refuses whatever breaks a rule.
func TestCheckWaitingFindsMutations(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := func(name string) *mig.Profile { return profileOf(t, g, name) }
	in := task.Requests{GPUs: 2, Waiting: task.FIFO, Requests: []task.Request{
		{Arrival: 0, Lifespan: 4, Profile: p("7g.80gb"), GPUs: 2},
		{Arrival: 1, Lifespan: 3, Profile: p("4g.40gb")},
		{Arrival: 2, Lifespan: 3, Profile: p("3g.40gb")},
	}}
	for name, c := range map[string]struct {
		starts []int
		spots  [][]Spot
		want   string
	}{
		"valid":    {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 4}}}, ""},
		"early":    {[]int{0, 4, 1}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 4}}}, "request 2 begins in slot 1 and arrives in slot 2"},
		"no event": {[]int{0, 4, 6}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 4}}}, "request 2 begins in slot 6, in which nothing arrives or leaves"},
		"overtakes": {
			[]int{0, 7, 4},
			[][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 4}}},
			"request 1 begins in slot 7, after request 2, which arrived later",
		},
		"overlap":  {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 0}}}, "slice 0 of GPU 0 is used by request 1 until slot 7 and by request 2 from slot 4"},
		"lacks":    {[]int{0, 4, 4}, [][]Spot{{{0, 0}}, {{0, 0}}, {{0, 4}}}, "request 0 has 1 of the 2 instances"},
		"twice":    {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {0, 0}}, {{0, 0}}, {{0, 4}}}, "slice 0 of GPU 0 is used by request 0 until slot 4 and by request 0 from slot 0"},
		"no start": {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 4}}, {{0, 4}}}, "request 1 has 4g.40gb on GPU 0 at slice 4, where it cannot be"},
		"never":    {[]int{0, 4, -1}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{0, 4}}}, "request 2 begins in slot -1 and arrives in slot 2"},
		"one more": {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}, {{0, 4}}}, "request 1 has 2 of the 1 instances that it needs"},
		"other GPU": {
			[]int{0, 4, 4},
			[][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}, {{-1, 4}}},
			"request 2 has 3g.40gb on GPU -1 at slice 4, where it cannot be",
		},
		"partly over": {
			[]int{0, 4, 4},
			[][]Spot{{{0, 0}, {1, 0}}, {{1, 0}}, {{1, 0}}},
			"slice 3 of GPU 1 is used by request 1 until slot 7 and by request 2 from slot 4",
		},
		"no GPU":  {[]int{0, 4, 4}, [][]Spot{{{0, 0}, {2, 0}}, {{0, 0}}, {{0, 4}}}, "request 0 has 7g.80gb on GPU 2 at slice 0"},
		"too few": {[]int{0, 4}, [][]Spot{{{0, 0}, {1, 0}}, {{0, 0}}}, "there are 2 starts, 2 ends and 2 lists of places for 3 requests"},
	} {
		err := CheckWaiting(waited(in, c.starts, c.spots))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	fixed := task.Requests{GPUs: 1, Waiting: task.Retry, Requests: []task.Request{{Lifespan: 1, Profile: p("3g.40gb")}}}
	if err := fixed.UseGeometry(g, []string{"4-3"}); err != nil {
		t.Fatal(err)
	}
	for start, want := range map[mig.Slices]bool{0: false, 4: true} {
		if err := CheckWaiting(waited(fixed, []int{0}, [][]Spot{{{0, start}}})); (err == nil) != want {
			t.Errorf("3g at slice %d of the partition 4-3: %v", start, err)
		}
	}
}
