package agents_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "miglab/algorithms"
	"miglab/algorithms/algotest"
	_ "miglab/algorithms/rl/agents"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// Only wrong estimates may change a replayed schedule: no algorithm leaves a gap that a replay would close.
func TestReplayOfTheEstimatesIsTheSchedule(t *testing.T) {
	all, replayed := algo.All(algo.TrackBatch), map[string]int{}
	replayIsSame := func(t *rapid.T, among []algo.Spec) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p := algotest.RandomProblem(rng, rapid.IntRange(1, 16).Draw(t, "tasks"))
		p.Model = rapid.SampledFrom([]mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}).Draw(t, "model")
		p.Count = rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "GPUs")
		costs := rapid.SampledFrom([]string{"", "?create=0&destroy=0", "?create=0", "?create=10x&destroy=10x"}).Draw(t, "costs")
		p.GPU = mig.MustLookup(p.GPU.Name + costs)
		if rapid.Bool().Draw(t, "releases") {
			algotest.AddRelease(&p, rng)
		}
		if rapid.Bool().Draw(t, "start") {
			algotest.AddStart(&p, rng)
		}
		s := rapid.SampledFrom(among).Draw(t, "algorithm")
		id := s.Name
		switch {
		case id == "fixpart":
			id += "?p=" + rapid.SampledFrom(p.GPU.Partitions()).Draw(t, "partition").String()
		case id == "lns":
			id += "?iterations=20"
		case id == "treedp" && len(p.Tasks) > 9:
			p.Tasks, p.Release = p.Tasks[:9], p.Release[:min(9, len(p.Release))]
		}
		plan, err := algo.MustParse(id).Schedule(context.Background(), p)
		var unsupported *algo.UnsupportedError
		var infeasible *algo.InfeasibleError
		if errors.As(err, &unsupported) || errors.As(err, &infeasible) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		replayed[s.Name]++
		if want, got := algotest.ScheduleText(p, plan, nil), algotest.ScheduleText(p, schedule.Replay(p, plan), nil); got != want {
			t.Fatalf("%s on %v, %v:\n%s\nreplayed:\n%s", id, p.GPU, p.Model, want, got)
		}
		p.Tasks = slices.Clone(p.Tasks)
		for i := range p.Tasks {
			for _, size := range p.GPU.Sizes() {
				if seconds := p.Tasks[i].On(size); p.Tasks[i].Fits(size) {
					p.Tasks[i].Set(size, seconds*mig.Seconds(math.Exp(0.5*rng.NormFloat64())))
				}
			}
		}
		if v := schedule.Check(p, schedule.Replay(p, plan)); v != nil {
			t.Fatalf("%s with other durations: %v", id, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) { replayIsSame(t, all) })
	for i, s := range all {
		if replayed[s.Name] == 0 { // chance left it out
			rapid.Check(t, func(t *rapid.T) { replayIsSame(t, all[i:i+1]) })
		}
		if replayed[s.Name] == 0 {
			t.Errorf("no schedule of %s was replayed", s.Name)
		}
	}
}
