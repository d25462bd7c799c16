package agents

import (
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// BenchmarkDecision is the time of one decision, observation, network and choice,
// with the portable kernel on one core (the DRL paper's take 3040 us, 6.6). Our agent
// sees all 14 tasks each time, as in the first decision of a batch. Its endgame is the
// decision that places the last tasks, and its batch is the mean over all decisions of
// a batch. Those of the paper go through whole batches of 14.
func BenchmarkDecision(b *testing.B) {
	g := mig.MustLookup("A100")
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("drl/WIDETIMES"), g, 0)
	if err != nil {
		b.Fatal(err)
	}
	tasks := env.TimesOf(g, in.Tasks)
	for _, c := range []struct{ name, id, part string }{
		{"agent", "agent", "first"},
		{"rl-direct", "rl-direct", "any"},
		{"rl-onehot", "rl-onehot", "any"},
		{"agent-endgame", "agent", "last"},
		{"agent-batch", "agent", "all"},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkDecision(b, c.id, c.part, g, tasks) })
	}
	b.Run("rl-deadline", benchmarkDeadline)
}

// benchmarkDecision times a part of a batch's decisions: the first, any, those of the endgame, which is
// one, or all of them.
func benchmarkDecision(b *testing.B, id, part string, g *mig.GPU, tasks []env.Times) {
	batch, err := algo.Make[algo.Batch](algo.MustParse(id))
	if err != nil {
		b.Fatal(err)
	}
	r, err := batch.(*agent).newRunner(g, mig.Sequential)
	if err != nil {
		b.Fatal(err)
	}
	tries := r.attempts[0]
	begin := func() {
		tries.lanes[0].Device().Reset()
		if err := tries.lanes[0].Load(tasks, 0, nil); err != nil {
			b.Fatal(err)
		}
		tries.active = append(tries.active[:0], 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		if part == "last" {
			b.StopTimer()
		}
		if part != "any" || len(tries.active) == 0 {
			begin()
		}
		if part == "last" {
			for range len(tasks) - OwnEndgame(g) {
				r.step(r.attempts)
			}
			b.StartTimer()
		}
		for r.step(r.attempts); part == "all" && len(tries.active) > 0; {
			r.step(r.attempts)
		}
	}
	if part == "all" {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tasks)), "ns/decision")
	}
}

func benchmarkDeadline(b *testing.B) {
	a := algo.MustParse("rl-deadline")
	d, err := a.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices})
	if err != nil {
		b.Fatal(err)
	}
	jobs, fleet := dayOf(b, 1, 300)
	e, err := sim.NewDispatch(jobs, fleet)
	if err != nil {
		b.Fatal(err)
	}
	q := e.Next()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Place(d.Dispatch(q)); err != nil {
			b.Fatal(err)
		}
		if q = e.Next(); q == nil {
			if err := e.Reset(jobs); err != nil {
				b.Fatal(err)
			}
			q = e.Next()
		}
	}
}
