package env

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

func mustBatch(t interface{ Fatal(...any) }, o BatchOptions, source Source) *Batch {
	b, err := NewBatch(o, source)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func randomOptions(rng *rand.Rand) BatchOptions {
	o := BatchOptions{
		GPU:         mig.MustLookup([]string{"A30", "A100"}[rng.IntN(2)]),
		Model:       []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}[rng.IntN(3)],
		Tasks:       []int{1, 5, 14}[rng.IntN(3)],
		Levels:      []int{0, 1, 7, 14}[rng.IntN(4)],
		Direct:      rng.IntN(2) == 0,
		Stream:      []int{0, 3, 25}[rng.IntN(3)],
		RandomStart: rng.IntN(2) == 0,
	}
	if o.Levels > 0 {
		o.Encoding = Encoding(rng.IntN(2))
		o.Released = rng.IntN(4) == 0
	}
	if rng.IntN(4) == 0 {
		o.Reconfiguration = 0.7
	}
	o.Listed, o.Unmerged = rng.IntN(4) == 0, rng.IntN(4) == 0
	return o
}

// onlyWhole draws tasks of which most fit the whole GPU only.
func onlyWhole(g *mig.GPU) Source {
	whole := g.Sizes()[len(g.Sizes())-1]
	return func(rng *rand.Rand, tasks []Times) int {
		n := randomTasks(g)(rng, tasks)
		for i := range n {
			if rng.IntN(3) > 0 {
				for _, s := range g.Sizes() {
					if s != whole {
						tasks[i][s] = math.Inf(1)
					}
				}
			}
		}
		return n
	}
}

// greedy returns the allowed action that a policy likes best.
func greedy(policy int, rng *rand.Rand, mask []bool, partitions int) int {
	first, last := slices.Index(mask, true), len(mask)-1
	for !mask[last] {
		last--
	}
	switch policy {
	case 1: // reconfigures whenever it can
		for range 30 {
			if c := 1 + rng.IntN(partitions); mask[c] {
				return c
			}
		}
	case 2: // waits whenever it can, else reconfigures
		return first
	case 3:
		return last
	case 4: // executes only when nothing else is left
		if c := slices.Index(mask[1:1+partitions], true); c >= 0 {
			return 1 + c
		}
		return first
	}
	return choose(rng, mask)
}

// busyDevice puts a random partition on the device, partly busy.
func busyDevice(rng *rand.Rand, d *Device, g *mig.GPU) {
	d.Reset()
	for _, in := range g.Useful()[rng.IntN(len(g.Useful()))] {
		d.Preset(slices.Index(d.instances, in), max(0, 20*rng.Float64()-10))
	}
}

// loaded begins an episode: drawn by Reset, or loaded with releases or on a GPU at
// work.
func loaded(t interface{ Fatal(...any) }, rng *rand.Rand, b *Batch) (release []float64) {
	b.Reset(rng)
	if rng.IntN(2) == 0 {
		return nil
	}
	tasks := slices.Clone(b.tasks)
	release = make([]float64, len(tasks))
	if rng.IntN(2) == 0 {
		for i := range release {
			release[i] = 60 * rng.Float64()
		}
	}
	busyDevice(rng, b.device, b.options.GPU)
	if err := b.Load(tasks, 0, release); err != nil {
		t.Fatal(err)
	}
	return release
}

// Every observation, mask, reward and end is what the paper's text gives, and every
// policy comes to an end.
func TestBatchFollowsThePaper(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for range deep.N(250, 1500) {
		o := randomOptions(rng)
		source := randomTasks(o.GPU)
		if rng.IntN(4) == 0 {
			source = onlyWhole(o.GPU)
		}
		b := mustBatch(t, o, source)
		release := loaded(t, rng, b)
		problem := problemOf(o.GPU, o.Model, b.tasks)
		problem.Start = existing(b.device)
		for _, r := range release {
			problem.Release = append(problem.Release, mig.Seconds(r))
		}
		p := newPaperBatch(o, b.tasks, release, b.device)
		shape := b.Shape()
		observation, mask := make([]float32, shape.Observation), make([]bool, shape.Actions)
		if want := 1 + len(p.symmetries().canonical) + p.k*p.n; shape.Actions != want { // DRL 4.2
			t.Fatalf("%+v: %d actions, want %d", o, shape.Actions, want)
		}
		policy, sum := rng.IntN(5), 0.0
		// Between two executions: see Batch.
		left := len(p.levels)*(2*(2*p.k+1)+1) + 2*len(p.levels)
		for done := false; !done; left-- {
			if left == 0 {
				t.Fatalf("%+v: policy %d does not come to an end", o, policy)
			}
			b.Observe(observation, mask)
			if want := p.observation(); !slices.Equal(observation, want) {
				t.Fatalf("%+v:\nobserves %v\nwant     %v", o, observation, want)
			}
			for a := range mask {
				if want := p.legal(a); mask[a] != want {
					t.Fatalf("%+v, partition %d, times %v: action %d is allowed: %v, want %v", o, p.partition(), p.time, a, mask[a], want)
				}
			}
			action := greedy(policy, rng, mask, len(p.symmetries().canonical))
			want, end := p.step(action)
			var reward float32
			reward, done = b.Step(action)
			if reward != float32(want) || done != end {
				t.Fatalf("%+v: action %d gives %v, %v, want %v, %v", o, action, reward, done, want, end)
			}
			sum += float64(reward)
		}
		for i, x := range b.device.placements {
			if x.Task != p.started[i] {
				t.Fatalf("%+v: task %d is executed, want %d", o, x.Task, p.started[i])
			}
		}
		decided := b.device.Schedule()
		if v := schedule.Check(problem, decided); len(v) > 0 || mig.Seconds(b.device.Makespan()) != decided.Makespan() {
			t.Fatalf("%+v: the makespan is %v of %v: %v", o, b.device.Makespan(), decided, v)
		}
		if want := -p.latest / p.reward; math.Abs(sum-want) > 1e-5*(1-want) {
			t.Fatalf("%+v: the return is %v, want %v", o, sum, want)
		}
	}
}

// TestRandomStart counts how often an instance is busy, and for how many of 14 levels.
func TestRandomStart(t *testing.T) {
	for _, c := range []struct {
		released bool
		idle     float64
	}{{false, 1.0 / 2}, {true, 1.0 / 15}} {
		o := BatchOptions{GPU: mig.MustLookup("A100"), Tasks: 14, Levels: 14, RandomStart: true, Released: c.released}
		b, rng := mustBatch(t, o, randomTasks(o.GPU)), rand.New(rand.NewPCG(4, 7))
		var at [15]int
		instances := 0
		for range 20000 {
			b.Reset(rng)
			for _, in := range b.tables.partitions[b.partition].instances {
				if in != 0 {
					at[int(b.remaining[bits.TrailingZeros8(in)])]++
					instances++
				}
			}
		}
		for level, count := range at {
			want := (1 - c.idle) / 14
			if level == 0 {
				want = c.idle
			}
			if got := float64(count) / float64(instances); math.Abs(got-want) > 0.005 {
				t.Errorf("released %v: %.3f of instances are busy for %d levels, want %.3f", c.released, got, level, want)
			}
		}
	}
}

// existing lists what is on a device before any decision.
func existing(d *Device) (start []schedule.Existing) {
	for s := 0; s < int(d.gpu.ComputeSlices); {
		here, until := d.Here(s)
		if here == absent {
			s++
			continue
		}
		in := d.instances[here]
		start = append(start, schedule.Existing{Instance: in, BusyUntil: mig.Seconds(until)})
		s += int(in.Profile.Length)
	}
	return start
}

// onA100 loads tasks on an A100 with instances that are busy for a while, in seconds.
func onA100(t *testing.T, o BatchOptions, tasks []Times, busy map[[2]mig.Slices]float64) *Batch {
	t.Helper()
	o.GPU = mig.MustLookup("A100")
	b := mustBatch(t, o, nil)
	for at, until := range busy {
		in, err := o.GPU.Instance(at[0], at[1])
		if err != nil {
			t.Fatal(err)
		}
		b.device.Preset(slices.Index(b.device.instances, in), until)
	}
	if err := b.Load(tasks, 0, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func allowed(b *Batch) (actions []int) {
	mask := make([]bool, b.Shape().Actions)
	b.allow(mask)
	for a, ok := range mask {
		if ok {
			actions = append(actions, a)
		}
	}
	return actions
}

func partitionNumber(t *testing.T, b *Batch, name string) int {
	t.Helper()
	for c, class := range b.options.GPU.Classes() {
		if class[0].String() == name {
			return c
		}
	}
	t.Fatalf("there is no canonical partition %s", name)
	return 0
}

// figure6 is the state at timestep t of DRL Fig. 6, a level a second: 2-1-1-3 with
// one free instance, a task of class C1 and four of C2.
func figure6(t *testing.T, direct bool) *Batch {
	c1, c2 := Times{1: 14, 2: 7, 3: 5, 4: 3, 7: 2}, Times{1: 12, 2: 6, 3: 4, 4: 2, 7: 1}
	return onA100(t, BatchOptions{Tasks: 14, Levels: 14, Direct: direct}, []Times{c2, c1, c2, c2, c2},
		map[[2]mig.Slices]float64{{2, 0}: 2, {1, 2}: 4, {1, 3}: 0, {3, 4}: 8})
}

func TestBatchFigure6(t *testing.T) {
	b := figure6(t, false)
	// 2-1-1-3, and the free one of the two small instances is canonically the first.
	execute := func(class, instance int) int { return 14 + 7*class + instance }
	if got, want := allowed(b), []int{0, execute(0, 1), execute(1, 1)}; !slices.Equal(got, want) {
		t.Fatalf("at t actions %v, want %v", got, want)
	}
	b.Step(execute(0, 1))
	if got := allowed(b); !slices.Equal(got, []int{0}) {
		t.Fatalf("at t+1 actions %v, want Advance", got)
	}
	if r, _ := b.Step(0); r != -2./14 {
		t.Errorf("Advance gives %v, want -2 levels", r)
	}
	split := 1 + partitionNumber(t, b, "1-1-1-1-3")
	if got, want := allowed(b), []int{0, split, execute(0, 0)}; !slices.Equal(got, want) {
		t.Fatalf("at t+2 actions %v, want %v", got, want)
	}
	if got := b.device.Schedule().Placements[0].Instance.String(); got != "1@3" {
		t.Errorf("the task runs on %s, want 1@3", got)
	}
}

func TestBatchFigure14(t *testing.T) {
	b := figure6(t, true)
	r, _ := b.Step(1 + partitionNumber(t, b, "4-3"))
	// S3 is free after 4, then destroyed and merged.
	if want := -(4 + 0.20 + 0.21) / 14; math.Abs(float64(r)-want) > 1e-6 {
		t.Errorf("the reconfiguration gives %v, want %v", r, want)
	}
	want := [8]float64{4: 8 - 4.41, 5: 8 - 4.41, 6: 8 - 4.41}
	for s := range want {
		if math.Abs(b.remaining[s]-want[s]) > 1e-6 {
			t.Fatalf("then the slices are busy for %v, want %v", b.remaining, want)
		}
	}
	if got, want := allowed(b), []int{0, 14, 21}; !slices.Equal(got, want) {
		t.Fatalf("then actions %v, want %v", got, want)
	}
	b.Step(14)
	if b.remaining[0] != 3 {
		t.Errorf("C1 takes %v levels on 4 slices, want 3", b.remaining[0])
	}
}

// In DRL Fig. 5 the third and fourth slices of 1-1-1-1-3 have just finished: the GPU
// becomes 1-1-2-3, the agent sees 2-1-1-3, and its first instance is {S3, S4}.
func TestBatchFigure5(t *testing.T) {
	for _, released := range []bool{false, true} {
		b := onA100(t, BatchOptions{Tasks: 1, Levels: 10, Released: released}, []Times{{1: 10, 2: 6, 3: 5, 4: 4, 7: 3}},
			map[[2]mig.Slices]float64{{1, 0}: 2, {1, 1}: 3, {1, 2}: 0, {1, 3}: 0, {3, 4}: 4})
		to := partitionNumber(t, b, "2-1-1-3")
		if !slices.Contains(allowed(b), 1+to) {
			t.Fatalf("only actions %v are allowed", allowed(b))
		}
		b.Step(1 + to)
		if cost := 0.20 + 0.17; b.partition != to || math.Abs(b.remaining[0]-cost) > 1e-6 || b.remaining[2] != 2 || b.remaining[3] != 3 {
			t.Fatalf("the state is %d, %v", b.partition, b.remaining)
		}
		b.Step(0)
		b.Step(1 + 13)
		if got := b.device.Schedule().Placements[0].Instance.String(); got != "2@2" {
			t.Errorf("the task runs on %s, want 2@2", got)
		}
	}
}

// Where the device is no useful partition, the agent starts in the nearest one.
func TestBatchStart(t *testing.T) {
	for _, c := range []struct {
		busy map[[2]mig.Slices]float64
		want string
	}{
		{nil, "7"},
		{map[[2]mig.Slices]float64{{3, 0}: 5, {3, 4}: 0}, "4-3"},
		{map[[2]mig.Slices]float64{{2, 0}: 5}, "2-2-3"},
		{map[[2]mig.Slices]float64{{2, 2}: 5, {1, 0}: 0, {1, 6}: 5}, "2-1-1-2-1"},
		{map[[2]mig.Slices]float64{{1, 0}: 5, {2, 4}: 0, {1, 6}: 0}, "2-1-1-2-1"},
	} {
		b := onA100(t, BatchOptions{Tasks: 1, Levels: 10}, []Times{{1: 10, 2: 6, 3: 5, 4: 4, 7: 3}}, c.busy)
		if got := b.options.GPU.Classes()[b.partition][0].String(); got != c.want {
			t.Errorf("%v starts in %s, want %s", c.busy, got, c.want)
		}
		for s := range 7 {
			if _, until := b.device.Here(int(b.sigma[s])); math.Abs(b.remaining[s]*b.unit-until) > 1e-6 {
				t.Errorf("%v: slices are busy for %v levels", c.busy, b.remaining)
			}
		}
	}
}

// The released evaluation draws the levels of a busy start, which its environment shows to the
// agent and its compute_makespan counts as seconds.
func TestBatchStartsInLevels(t *testing.T) {
	tasks := []Times{{1: 98, 2: 49, 3: 35, 4: 28, 7: 14}, {1: 98, 2: 49, 3: 35, 4: 28, 7: 14}} // a level is 7 s
	busy := map[[2]mig.Slices]float64{{4, 0}: 2, {3, 4}: 7}
	for _, c := range []struct {
		inLevels bool
		// want is the time for which the 3 slices stay busy after the 4 are free, in levels.
		want float64
	}{{true, 5}, {false, 5. / 7}} {
		b := onA100(t, BatchOptions{Tasks: 2, Levels: 14, StartInLevels: c.inLevels}, tasks, busy)
		if got := b.remaining[6]; math.Abs(got-c.want) > 1e-6 || b.remaining[0] != 0 {
			t.Errorf("in levels %t: the slices are busy for %v levels, want 0 and %v", c.inLevels, b.remaining, c.want)
		}
		whole := partitionNumber(t, b, "4-3")
		if b.partition != whole {
			t.Fatalf("partition %d, want %d", b.partition, whole)
		}
		// A task on the free 4 slices begins when they are free in seconds.
		first := 1 + len(b.tables.partitions)
		b.Step(first)
		if got := b.device.Makespan(); got != 2+28 {
			t.Errorf("in levels %t: the task ends at %v s, want 30", c.inLevels, got)
		}
		// What runs since then is known in seconds.
		if err := b.Load(tasks, 2, nil); err != nil {
			t.Fatal(err)
		}
		if got, want := b.remaining[0], 23./7; math.Abs(got-want) > 1e-6 {
			t.Errorf("in levels %t: the next batch finds the slices busy for %v levels, want %v", c.inLevels, got, want)
		}
	}
}

func TestBatchRefuses(t *testing.T) {
	g := mig.MustLookup("A30")
	for _, o := range []BatchOptions{
		{GPU: g, Tasks: 1, Levels: -1},
		{GPU: g, Tasks: 1, Levels: MaxLevels + 1},
		{GPU: g, Tasks: 1, Encoding: OneHot},
		{GPU: g, Tasks: 1, Released: true},
		{GPU: g, Tasks: 1, Stream: -1},
	} {
		if _, err := NewBatch(o, nil); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// An episode allocates nothing once lists are as long as they get.
func TestEpisodesDoNotAllocate(t *testing.T) {
	g := mig.MustLookup("A100")
	// As many tasks in every episode.
	source := func(rng *rand.Rand, tasks []Times) int {
		for randomTasks(g)(rng, tasks) < len(tasks) {
		}
		return len(tasks)
	}
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse("corun/queues"), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range map[string]Env{
		"levels":  mustBatch(t, BatchOptions{GPU: g, Tasks: 14, Levels: 14}, source),
		"one-hot": mustBatch(t, BatchOptions{GPU: g, Tasks: 14, Levels: 14, Encoding: OneHot, Direct: true, RandomStart: true}, source),
		"stream":  mustBatch(t, BatchOptions{GPU: g, Tasks: 14, Stream: 40}, source),
		"own":     NewOwn(g, mig.Sequential, 14, source, 0.5),
		"endgame": NewOwn(g, mig.Sequential, 14, source, 0.5).Endgame(8),
		"corun": NewCorun(in.Model, 0.05, true, func(_ *rand.Rand, buf []task.Program) []task.Program {
			return append(buf[:0], in.Jobs...)
		}),
	} {
		rng := rand.New(rand.NewPCG(4, 4))
		observation, mask := make([]float32, e.Shape().Observation), make([]bool, e.Shape().Actions)
		episode := func() {
			e.Reset(rng)
			for done := false; !done; {
				e.Observe(observation, mask)
				_, done = e.Step(choose(rng, mask))
			}
		}
		for range 200 {
			episode()
		}
		if n := testing.AllocsPerRun(100, episode); n != 0 {
			t.Errorf("%s: %v allocations an episode", name, n)
		}
	}
}
