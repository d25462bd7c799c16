package placement

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// demandParam is the parameter for the source of each profile's probability.
var demandParam = algo.Param{
	Name: "demand", Default: "estimated", Values: []string{"estimated", "true"},
	Doc: "probability of each profile: estimated from the requests so far, or the true one",
}

// A demandScore computes a score of masks from the probability of each profile.
type demandScore func(g *mig.GPU, demand []float64) [sim.Masks]float64

// newDemandAware returns the constructor of a scheduler that adds least to a score that depends on the demand. The
// constructor fails if the true demand is requested but not known.
func newDemandAware(name string, score demandScore) func(algo.Args, sim.PlacementSetting) (sim.Placer, error) {
	return func(args algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		if args[demandParam.Name] == "true" {
			if s.Demand == nil {
				return nil, fmt.Errorf("%s?demand=true needs requests drawn from a known distribution; "+
					"use demand=estimated for a trace", name)
			}
			return demandTable(s.GPU, score, s.Demand), nil
		}
		ones := slices.Repeat([]float64{1}, len(task.RequestProfiles(s.GPU)))
		e := &estimator{gpu: s.GPU, score: score, seen: ones}
		e.estimate()
		return e, nil
	}
}

func demandTable(g *mig.GPU, score demandScore, demand []float64) table {
	// In whole millionths of a slice, placements that differ only by rounding are equal.
	const scale = 1e6
	var rounded sim.Scores
	for m, v := range score(g, demand) {
		rounded[m] = int32(math.Round(v * scale))
	}
	return newTable(g, incrementRule(&rounded))
}

// An estimator estimates the demand by counting requests of each profile. The counts start at 1, which gives equal
// probabilities. It ranks again whenever the number of requests has doubled.
type estimator struct {
	gpu   *mig.GPU
	score demandScore

	seen           []float64
	requests, next int
	table          table
}

// firstEstimate is the number of requests before the first ranking by counts.
const firstEstimate = 64

// estimate ranks all masks by the counts so far.
func (e *estimator) estimate() {
	demand := make([]float64, len(e.seen))
	for i, n := range e.seen {
		demand[i] = n / float64(len(e.seen)+e.requests)
	}
	e.table = demandTable(e.gpu, e.score, demand)
	e.next = max(firstEstimate, 2*e.next)
}

// Place counts the request and returns the best spot.
func (e *estimator) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	e.seen[profile]++
	e.requests++
	if e.requests == e.next {
		e.estimate()
	}
	return e.table.Place(c, profile)
}
