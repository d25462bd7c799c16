package algotest

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A PlacementProblem is a problem of the placement track.
type PlacementProblem struct {
	GPU       *mig.GPU
	GPUs      int
	Requests  []task.Request
	Demand    []float64      // the true probability of each profile, or nil
	Migration task.Migration // the cluster's limits on moves
}

// A Decision is a placer's answer to a request.
type Decision struct {
	Spot     sim.Spot
	Accepted bool
}

// PlacementAnswer has all decisions and their result.
type PlacementAnswer struct {
	Decisions []Decision
	Result    sim.PlacementResult
}

// Placement is the placement track. The simulator checks every decision, and the referee all of them together.
var Placement = Track[PlacementProblem, PlacementAnswer]{
	Name: algo.TrackPlacement,
	Run: func(_ context.Context, a algo.Algorithm, p PlacementProblem) (PlacementAnswer, error) {
		s := sim.PlacementSetting{GPU: p.GPU, GPUs: p.GPUs, Demand: p.Demand}
		placer, err := a.Placer(s)
		if err != nil {
			return PlacementAnswer{}, err
		}
		log := &placementLog{Placer: placer}
		var logging sim.Placer = log
		if mover, ok := placer.(sim.Mover); ok {
			logging = &moverLog{log, mover}
		}
		r, err := sim.RunPlacement(p.GPU, p.GPUs, p.Requests, logging, sim.SteadyWindow, p.Migration)
		return PlacementAnswer{log.decisions, r}, err
	},
	Check: func(p PlacementProblem, a PlacementAnswer) error {
		return sim.CheckPlacement(p.GPUs, p.Requests, places(p.Requests, a.Decisions), a.Result.Moved,
			p.Migration)
	},
}

// places returns the places of each request's instances: nil if one was rejected.
func places(requests []task.Request, decisions []Decision) [][]sim.Spot {
	places := make([][]sim.Spot, len(requests))
	for i := range requests {
		for n := requests[i].Instances(); n > 0; n-- {
			d := decisions[0]
			decisions = decisions[1:]
			if !d.Accepted {
				places[i] = nil
				break
			}
			places[i] = append(places[i], d.Spot)
		}
	}
	return places
}

// placementLog records decisions.
type placementLog struct {
	sim.Placer
	decisions []Decision
}

func (l *placementLog) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	spot, ok := l.Placer.Place(c, profile)
	l.decisions = append(l.decisions, Decision{spot, ok})
	return spot, ok
}

// moverLog is a placementLog that moves.
type moverLog struct {
	*placementLog
	mover sim.Mover
}

func (l *moverLog) Move(r *sim.Residents, profile int) (sim.Move, bool) {
	return l.mover.Move(r, profile)
}
