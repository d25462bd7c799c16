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
	var tasks []env.Times
	for i := range in.Tasks {
		var t env.Times
		for _, s := range g.Sizes() {
			t[s] = float64(in.Tasks[i].On(s))
		}
		tasks = append(tasks, t)
	}
	for _, id := range []string{"agent", "rl-direct", "rl-onehot"} {
		b.Run(id, func(b *testing.B) {
			a := algo.MustParse(id)
			batch, err := algo.Make[algo.Batch](a)
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
				if id == "agent" || len(tries.active) == 0 {
					begin()
				}
				r.step(r.attempts)
			}
		})
	}
	for _, id := range []string{"agent-endgame", "agent-batch"} {
		b.Run(id, func(b *testing.B) {
			batch, err := algo.Make[algo.Batch](algo.MustParse("agent"))
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
				if id == "agent-endgame" {
					b.StopTimer()
					begin()
					for range len(tasks) - OwnEndgame(g) {
						r.step(r.attempts)
					}
					b.StartTimer()
					r.step(r.attempts)
					continue
				}
				begin()
				for len(tries.active) > 0 {
					r.step(r.attempts)
				}
			}
			if id == "agent-batch" {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tasks)), "ns/decision")
			}
		})
	}
	b.Run("rl-deadline", func(b *testing.B) {
		a := algo.MustParse("rl-deadline")
		d, err := algo.Constructor[algo.NewDispatcher](a)(a.Args, sim.DispatchSetting{Slices: DeadlineSlices})
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
	})
}
