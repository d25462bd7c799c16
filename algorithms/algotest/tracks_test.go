package algotest_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/algorithms/rl/agents"
	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// TestEveryPlacer runs every placer and every upper bound on every model. The referee takes every
// answer, and no bound is below one.
func TestEveryPlacer(t *testing.T) {
	all, limits := registered(t, algo.TrackPlacement), registered(t, algo.TrackOffline)
	for m, g := range models(t) {
		for i := range deep.N(6, 24) {
			rng := rand.New(rand.NewPCG(uint64(m*100+i), 42))
			p := drawRequests(rng, g, i)
			most, of := 0, ""
			for _, a := range all {
				var answer algotest.PlacementAnswer
				err := guarded(t, func(ctx context.Context) (err error) {
					if answer, err = algotest.Placement.Run(ctx, a, p); err == nil {
						err = algotest.Placement.Check(p, answer)
					}
					return err
				})
				_, unsupported := errors.AsType[*algo.UnsupportedError](err)
				if empty := len(p.Requests) == 0; (err != nil) != empty && !unsupported {
					t.Errorf("%s, case %d: %s: %v", g, i, a.ID, err)
				}
				if n := answer.Result.Accepted.Requests; n > most {
					most, of = n, a.ID
				}
			}
			for _, a := range limits {
				var limit int
				err := guarded(t, func(ctx context.Context) error {
					o, err := algo.Make[algo.Offline](a)
					if err == nil {
						limit, err = o.AcceptedAtMost(ctx, g, p.GPUs, p.Requests)
					}
					return err
				})
				if err != nil || limit < most || limit > len(p.Requests) {
					t.Errorf("%s, case %d: %s says at most %d of %d requests, %v; %s accepts %d", g, i, a.ID, limit, len(p.Requests), err, of, most)
				}
			}
			acceptance(t, p)
		}
	}
}

// acceptance has the certificate of the upper bound verified.
func acceptance(t *testing.T, p algotest.PlacementProblem) {
	t.Helper()
	if err := guarded(t, func(ctx context.Context) error {
		instants, err := bounds.ProveOffline(ctx, p.GPU, p.GPUs, p.Requests)
		if err != nil {
			return err
		}
		c, err := certificate.NewAcceptance(p.GPU, p.GPUs, p.Requests, instants)
		if err != nil {
			return err
		}
		return certificate.VerifyAcceptance(p.GPU, p.GPUs, p.Requests, c)
	}); err != nil {
		t.Errorf("%s, %d requests: the certificate: %v", p.GPU, len(p.Requests), err)
	}
}

// drawRequests draws requests for any profiles. The first cases have none, and one.
func drawRequests(rng *rand.Rand, g *mig.GPU, i int) algotest.PlacementProblem {
	p := algotest.PlacementProblem{GPU: g, GPUs: 1 + rng.IntN(3)}
	profiles := task.RequestProfiles(g)
	for range profiles {
		p.Demand = append(p.Demand, 1/float64(len(profiles)))
	}
	if i%2 == 1 {
		p.Migration = task.Migration{Moves: 1 + rng.IntN(5), Window: 1 + rng.IntN(9), Downtime: rng.IntN(4)}
	}
	arrival := 0
	for range []int{0, 1, 5 + rng.IntN(60)}[min(i, 2)] {
		arrival += rng.IntN(3)
		r := task.Request{Arrival: arrival, Lifespan: []int{1, 5, 1e9, task.Forever}[rng.IntN(4)], Profile: profiles[rng.IntN(len(profiles))]}
		if r.Profile.Length == g.MemorySlices && rng.IntN(3) == 0 {
			r.GPUs = 2
		}
		if i%3 == 2 {
			r.Lifespan, r.GPUs = task.Forever, 0
		}
		p.Requests = append(p.Requests, r)
	}
	return p
}

// TestEveryDispatcher runs every dispatcher on fleets of every model. The agent was trained for a
// number of slices.
func TestEveryDispatcher(t *testing.T) {
	all := registered(t, algo.TrackDispatch)
	answered := map[string]int{}
	n := 0
	for m, g := range models(t) {
		for i := range deep.N(8, 32) {
			n++
			p := drawJobs(rand.New(rand.NewPCG(uint64(m*100+i), 43)), g, i)
			_, invalid := sim.NewDispatch(p.Jobs, p.Fleet)
			for _, a := range all {
				err := guarded(t, func(ctx context.Context) error {
					r, err := algotest.Dispatch.Run(ctx, a, p)
					if err == nil {
						err = algotest.Dispatch.Check(p, r)
					}
					return err
				})
				_, unsupported := errors.AsType[*algo.UnsupportedError](err)
				switch {
				case err == nil && invalid == nil:
					answered[a.ID]++
				case unsupported:
				case (err == nil) != (invalid == nil) || err != nil && err.Error() != invalid.Error():
					t.Errorf("%s, case %d: %s: %v; want the error %v", g, i, a.ID, err, invalid)
				}
			}
		}
	}
	for _, a := range all {
		if answered[a.ID] < 10 {
			t.Errorf("%s answers %d of %d problems", a.ID, answered[a.ID], n)
		}
	}
}

// drawJobs draws jobs of one kind: no job, one, jobs that are alike, that are late at once, that are short
// or long, or that do not fit some size.
func drawJobs(rng *rand.Rand, g *mig.GPU, i int) algotest.DispatchProblem {
	p := algotest.DispatchProblem{Seed: rng.Uint64()}
	p.Fleet.Watts = []float64{40, 120, 160}
	for left := agents.DeadlineSlices; left > 0 && (left == agents.DeadlineSlices || i%2 == 0 || rng.IntN(3) > 0); {
		if part := g.Partitions()[rng.IntN(len(g.Partitions()))]; len(part) <= left {
			p.Fleet.Partitions = append(p.Fleet.Partitions, part)
			left -= len(part)
		}
	}
	for len(p.Jobs) < []int{0, 1, 30}[min(i%8, 2)] {
		at := task.Minutes(len(p.Jobs) / 3)
		j := task.Job{Arrival: at, Deadline: at + task.Minutes(rng.IntN(30))}
		if i%8 == 3 {
			j.Deadline = at
		}
		for _, s := range g.Sizes() {
			minutes := gains(rng, s)
			switch i % 8 {
			case 4:
				minutes = 1e-9
			case 5:
				minutes = 1e9
			case 6:
				minutes = 3
			case 7:
				if len(p.Jobs) == 20 {
					minutes = inf
				}
			}
			j.Set(s, task.Minutes(minutes))
		}
		p.Jobs = append(p.Jobs, j)
	}
	return p
}

// TestEveryPlanner runs every planner on windows without jobs and with one, on jobs that are alike, and on
// times from 1e-9 to 1e12 seconds.
func TestEveryPlanner(t *testing.T) {
	all := registered(t, algo.TrackCorun)
	programs := datasets.Programs()
	for i := range deep.N(24, 96) {
		rng := rand.New(rand.NewPCG(uint64(i), 44))
		w := corun.Window{Concurrency: 1 + rng.IntN(5), Model: corun.Model{Kappa: rng.Float64(), Delta: rng.Float64(), Release: rng.IntN(2) == 0}}
		for len(w.Jobs) < []int{0, 1, 2 + rng.IntN(12)}[min(i%8, 2)] {
			p := programs[rng.IntN(len(programs))]
			switch i % 8 {
			case 3:
				p = programs[i%len(programs)]
			case 4:
				p.Solo = 1e-9
			case 5:
				p.Solo = task.MaxSeconds
			case 6:
				p.Solo = []mig.Seconds{1e-9, 1, 1e9}[len(w.Jobs)%3]
			}
			w.Jobs = append(w.Jobs, p)
		}
		for _, a := range all {
			err := guarded(t, func(ctx context.Context) error {
				plan, err := algotest.Corun.Run(ctx, a, w)
				if err == nil {
					err = algotest.Corun.Check(w, plan)
				}
				return err
			})
			if _, invalid := errors.AsType[*corun.InvalidError](err); invalid != (len(w.Jobs) == 0) || err != nil && !invalid {
				t.Errorf("case %d, %d jobs: %s: %v", i, len(w.Jobs), a.ID, err)
			}
		}
	}
}
