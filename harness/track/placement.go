package track

import (
	"context"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Placement is the track that places requests for MIG profiles on a cluster (MFI IV).
var Placement = Register(Track{
	Name: algo.TrackPlacement, Order: 3,
	Data: task.Requests{}.Kind(), GPU: "A100-80GB", Count: clusterSize, Beside: []Reference{acceptedAtMost},
	Boards: []Board{acceptanceBoard, steadyBoard, waitingBoard, waitingEnergyBoard},
	Audited: []Board{acceptanceBoard, waitingBoard, waitingEnergyBoard, {
		Metric: MetricMakespan, Bound: Reference{algo.TrackOffline, "offline-bound", MetricEndAtLeast}, Unbounded: true,
	}},
	Try: func(a algo.Algorithm, p Problem) error {
		_, err := newPlacer(a, p)
		return err
	},
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		placer, err := newPlacer(a, p)
		if err != nil {
			return Answer{}, err
		}
		var out Answer
		out.Took, err = simulate(ctx, placer, func() (err error) {
			in := payload[task.Requests](p)
			if in.Waiting == task.Reject {
				out.Metrics, err = place(p.GPU, in, placer)
			} else {
				err = out.placeWaiting(p.GPU, in, placer)
			}
			return err
		})
		if r, ok := placer.(sim.Reporter); ok && err == nil {
			out.Metrics = append(out.Metrics, r.Report()...)
		}
		return out, invalidIf[*sim.ChoiceError](err)
	},
})

// place simulates a cluster that rejects requests that fit nowhere.
func place(g *mig.GPU, in task.Requests, p sim.Placer) ([]Metric, error) {
	r, err := sim.RunPlacement(g, in.GPUs, in.Requests, p, sim.SteadyWindow, in.Migration)
	if err != nil {
		return nil, err
	}
	if r.Spots != nil {
		if err := sim.CheckPlacement(in.GPUs, in.Requests, r.Spots, r.Moved, in.Migration); err != nil {
			return nil, &InvalidError{err}
		}
	}
	return r.Metrics(), nil
}

// placeWaiting simulates a cluster that lets requests wait.
func (a *Answer) placeWaiting(g *mig.GPU, in task.Requests, p sim.Placer) error {
	r, err := sim.RunWaiting(g, in, p)
	if err != nil {
		return err
	}
	if err := sim.CheckWaiting(&r); err != nil {
		return &InvalidError{err}
	}
	a.History = func() schedule.History { return waitingHistory(g, r) }
	a.Metrics, err = r.Metrics()
	if err == nil && g.Power != nil {
		a.Metrics = append(a.Metrics, Metric{Name: MetricEnergy, Value: float64(waitingEnergy(g, &r))})
	}
	return err
}

// waitingHistory returns the history of a cluster that lets requests wait.
func waitingHistory(g *mig.GPU, r sim.WaitingResult) schedule.History {
	h := schedule.History{Slices: r.In.GPUs * int(g.ComputeSlices)}
	slot := r.In.Seconds()
	for i, q := range r.In.Requests {
		h.Work = append(h.Work, schedule.Work{
			Arrival: mig.Seconds(float64(q.Arrival) * slot),
			Stays: []schedule.Stay{{
				Start:  mig.Seconds(float64(r.Starts[i]) * slot),
				End:    mig.Seconds(float64(r.Ends[i]) * slot),
				Slices: q.ComputeSlices(),
			}},
		})
	}
	return h
}

// waitingEnergy returns the energy of a cluster until its last request ends. A request that moves is busy from its
// start to its end, pauses included. If a cluster rejects requests, there is no energy, since a scheduler that refuses
// work would lead.
func waitingEnergy(g *mig.GPU, r *sim.WaitingResult) mig.Joules {
	begins, spots := slices.Clone(r.Starts), slices.Clone(r.Spots) // since its last move
	var runs []mig.Run
	addRuns := func(request, slot int) { // up to the slot
		for k, s := range spots[request] {
			runs = append(runs, mig.Run{
				Board: s.GPU, Size: r.In.Requests[request].Member(k).Profile.Size,
				Start: mig.Seconds(float64(begins[request]) * r.In.Seconds()),
				End:   mig.Seconds(float64(slot) * r.In.Seconds()),
			})
		}
	}
	for _, m := range r.Moved {
		addRuns(m.Request, m.Slot)
		begins[m.Request], spots[m.Request] = m.Slot, []sim.Spot{m.To}
	}
	for i, end := range r.Ends {
		addRuns(i, end)
	}
	return g.Energy(r.In.GPUs, runs)
}

func newPlacer(a algo.Algorithm, p Problem) (sim.Placer, error) {
	in := payload[task.Requests](p)
	return a.Placer(sim.PlacementSetting{
		GPU: p.GPU, GPUs: p.Count, PerNode: in.PerNode, Waiting: in.Waiting, Geometry: in.Geometry,
		Gangs: in.HasGangs(), Demand: in.Demand, Seed: p.Seed,
	})
}

func clusterSize(p task.Payload) int { return p.(task.Requests).GPUs }

// acceptedAtMost is the upper bound from which gaps of the acceptance are measured.
var acceptedAtMost = Reference{algo.TrackOffline, "offline-bound", MetricAcceptanceAtMost}

// The boards of the placement track. Steady datasets count the requests that arrive once the cluster is full; other
// datasets count all requests. Where requests wait, all are accepted, and the mean time from arrival to end is ranked.
var (
	acceptanceBoard = Board{
		Metric: "acceptance", Higher: true, Regime: task.Whole, Bound: acceptedAtMost, Unbounded: true,
		Aside: "mean_fragmentation",
	}
	steadyBoard = Board{
		Metric: "acceptance_steady", Higher: true, Regime: task.Steady, Unbounded: true, Aside: "mean_fragmentation",
		Bound: Reference{algo.TrackOffline, "offline-bound", MetricSteadyAtMost},
	}
	waitingBoard = Board{
		Metric: "turnaround_mean_s", Regime: task.Queued, Aside: "wait_mean_s", Unbounded: true,
		Load:  []Least{{"peak_used", 0.99}, {"queued", 0.9}},
		Bound: Reference{algo.TrackOffline, "offline-bound", MetricTurnaroundAtLeast},
	}
	waitingEnergyBoard = Board{
		Metric: MetricEnergy, Regime: task.Queued, Aside: "turnaround_mean_s", Powered: true, Unbounded: true,
		Load: waitingBoard.Load, Bound: Reference{algo.TrackOffline, "offline-bound", MetricEnergyAtLeast},
	}
)
