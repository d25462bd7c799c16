package advise

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/sim"
	"miglab/harness/stats"
	"miglab/harness/task"
	"miglab/harness/work"
)

// version is part of the digest of every unit. Raise it whenever the record of a unit changes.
const version = 6

// A Span is the time of a trace, divided into bins and blocks.
type Span struct {
	// Slots is the time from the first to the last arrival.
	Slots int
	// Block is the length of a block in seconds, and Blocks is the number of blocks. The last block also has the rest
	// of the time.
	Block  float64
	Blocks int
	// Per is the number of bins of a block.
	Per int
	// Few says that there are too few requests, or blocks in which one arrives, for intervals.
	Few bool
	// counts has the number of arrivals in each bin, and bins has the bin of each request.
	counts []float64
	bins   []int
}

// Blocks are days if a trace has at least leastDays. Otherwise there are shortBlocks. With fewer than leastRequests, or
// arrivals in fewer than leastBusy blocks, there are no intervals.
const (
	leastDays     = 12
	shortBlocks   = 20
	leastRequests = 2 * shortBlocks
	leastBusy     = 4
	day           = 24 * 60 * 60
)

func newSpan(in task.Requests) Span {
	first, last := in.Requests[0].Arrival, in.Requests[len(in.Requests)-1].Arrival
	s := Span{Slots: last - first + 1, Per: 10}
	blocks := shortBlocks
	s.Block = float64(s.Slots) * in.Seconds() / shortBlocks
	days := int(float64(s.Slots) * in.Seconds() / day)
	if days >= leastDays {
		blocks, s.Block, s.Per = days, day, 24
	}
	s.Blocks = blocks
	s.counts = make([]float64, blocks*s.Per)
	width := s.Block / float64(s.Per) / in.Seconds()
	busy := map[int]bool{}
	for i := range in.Requests {
		bin := min(int(float64(in.Requests[i].Arrival-first)/width), len(s.counts)-1)
		s.counts[bin]++
		s.bins = append(s.bins, bin)
		busy[bin/s.Per] = true
	}
	s.Few = len(s.bins) < leastRequests || len(busy) < leastBusy
	return s
}

// mean estimates the mean per request of a quantity from its sums in the bins from to to-1. Without enough blocks the
// estimate has no interval.
func (s *Span) mean(sums []float64, from, to int) stats.BlockEstimate {
	var sum, n float64
	for i := from; i < to; i++ {
		sum += sums[i]
		n += s.counts[i]
	}
	e, err := stats.BlockMean(sums[from:to], s.counts[from:to], s.Per, 1)
	if s.Few {
		e = stats.BlockEstimate{Mean: sum / max(n, 1)}
	} else if err != nil && n > 0 {
		e.Mean = sum / n
	}
	return e
}

// A Simulation is a policy on a cluster.
type Simulation struct {
	Policy string
	GPUs   int
	// Geometry has the layout of each GPU; nil if instances are made on demand.
	Geometry []string
	// Moves says that the policy may move requests. Each move stops a request for MoveCost seconds.
	Moves    bool
	MoveCost float64
}

// An Outcome is the result of a simulation. Times are in seconds.
type Outcome struct {
	Policy string `json:"policy"`
	GPUs   int    `json:"gpus"`
	// Wait and P95 are the mean and the 95th percentile of the waits of all requests.
	Wait float64 `json:"wait_s"`
	P95  float64 `json:"p95_s"`
	// Bins has the sum of the delays of the requests that arrive in each bin. A delay is the wait plus the pauses after
	// moves, minus the time that a request for work saves if a fixed geometry gives it a larger instance.
	Bins []float64 `json:"bins"`
	// Moves is the number of moves.
	Moves int `json:"moves,omitempty"`
	// Error says why the simulation failed; "" if it did not.
	Error string `json:"error,omitempty"`
}

// run returns the outcomes of simulations.
func (a *adviser) run(all []Simulation) ([]Outcome, error) {
	var units []work.Unit
	for _, s := range all {
		algorithm, err := algo.ParseFor(s.Policy, algo.TrackPlacement)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("simulate/%s/%d/%s", algorithm.ID, s.GPUs, strings.Join(s.Geometry, "+"))
		if s.Moves {
			what += fmt.Sprintf("/moves %v", s.MoveCost)
		}
		inputs := fmt.Sprintf("v%d %s", algorithm.Spec.Version, algorithm.Weights())
		units = append(units, a.unit(what, inputs, func(context.Context) (any, error) {
			o, err := a.simulate(algorithm, s)
			if err != nil {
				o = Outcome{Policy: s.Policy, GPUs: s.GPUs, Error: err.Error()}
			}
			return o, nil
		}))
	}
	return records[Outcome](a, units)
}

// unit returns a piece of work about the trace.
func (a *adviser) unit(what, inputs string, do func(context.Context) (any, error)) work.Unit {
	d := task.NewDigest()
	d.Int(version)
	d.Text(string(a.q.GPU.Definition()))
	d.Text(inputs)
	return work.Unit{
		Key:    fmt.Sprintf("advise/%s/%s/%s", a.digest, a.q.GPU, what),
		Digest: d.String(), Do: do,
	}
}

// records does units and returns their records.
func records[T any](a *adviser, units []work.Unit) ([]T, error) {
	raw, err := a.runner.Run(a.ctx, units)
	if err != nil {
		return nil, err
	}
	out := make([]T, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &out[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", units[i].Key, err)
		}
	}
	return out, nil
}

// simulate runs a policy. The referee checks the result.
func (a *adviser) simulate(algorithm algo.Algorithm, s Simulation) (o Outcome, err error) {
	in := a.in
	in.GPUs = s.GPUs
	if s.Geometry != nil {
		in.Requests = append([]task.Request(nil), in.Requests...)
		if err := in.UseGeometry(a.q.GPU, s.Geometry); err != nil {
			return o, err
		}
	}
	if s.Moves {
		sum := 0
		for i := range in.Requests {
			sum += in.Requests[i].Lifespan
		}
		in.Migration = task.Migration{
			Moves: mostMoves, Window: sum / len(in.Requests), Downtime: int(math.Round(s.MoveCost / in.Seconds())),
		}
	}
	r, err := runChecked(a, algorithm, in)
	if err != nil {
		return o, err
	}
	metrics, err := r.Metrics()
	if err != nil {
		return o, err
	}
	o = Outcome{Policy: s.Policy, GPUs: s.GPUs, Bins: make([]float64, len(a.span.counts)), Moves: len(r.Moved)}
	for _, m := range metrics {
		switch m.Name {
		case "wait_mean_s":
			o.Wait = m.Value
		case "wait_p95_s":
			o.P95 = m.Value
		}
	}
	for i, bin := range a.span.bins {
		o.Bins[bin] += a.seconds(float64(r.Ends[i] - in.Requests[i].Arrival - a.in.Requests[i].Lifespan))
	}
	return o, nil
}

// runChecked simulates a policy, which may be a program, and returns the referee's error if the result breaks a rule.
func runChecked(a *adviser, algorithm algo.Algorithm, in task.Requests) (r sim.WaitingResult, err error) {
	placer, err := algorithm.Placer(sim.PlacementSetting{
		GPU: a.q.GPU, GPUs: in.GPUs, PerNode: in.PerNode, Waiting: in.Waiting, Geometry: in.Geometry, Seed: 1,
	})
	if err != nil {
		return r, err
	}
	err = algo.Simulate(a.ctx, placer, func() (err error) {
		r, err = sim.RunWaiting(a.q.GPU, in, placer)
		return err
	})
	if err != nil {
		return r, err
	}
	return r, sim.CheckWaiting(&r)
}
