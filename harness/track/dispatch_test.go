package track_test

import (
	"reflect"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
	"miglab/harness/track"
)

// A lastFree takes the last free slice.
type lastFree struct{}

func (lastFree) Dispatch(q *sim.Queue) int {
	last := 0
	for i, s := range q.Slices() {
		if !s.Busy {
			last = i
		}
	}
	return last
}

func (l lastFree) DispatchAll(queues []*sim.Queue, choices []int) {
	for i, q := range queues {
		choices[i] = l.Dispatch(q)
	}
}

// TestDispatchTogether: days solved together have the answers of days solved alone, their histories included. One
// dispatcher does not serve two fleets.
func TestDispatchTogether(t *testing.T) {
	a := algo.Algorithm{Spec: algo.Spec{New: algo.NewDispatcher(
		func(algo.Args, sim.DispatchSetting) (sim.Dispatcher, error) { return lastFree{}, nil })}}
	g := mig.MustLookup("A100")
	var problems []track.Problem
	for day := range 3 {
		in := task.Queue{Fleet: task.Fleet{Partitions: g.Partitions()[:2], Watts: []float64{40, 60}}}
		for i := range 5 {
			job := task.Job{Arrival: task.Minutes(i * (day + 1)), Deadline: task.Minutes(20 + i)}
			for _, size := range g.Sizes() {
				job.Set(size, task.Minutes(30/size))
			}
			in.Jobs = append(in.Jobs, job)
		}
		problems = append(problems, track.Problem{GPU: g, Count: 1, Seed: uint64(day), Payload: in})
	}
	together, err := track.Dispatch.SolveTogether(t.Context(), a, problems)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		alone, err := track.Dispatch.Solve(t.Context(), a, p)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(together[i].Metrics, alone.Metrics) || together[i].History == nil ||
			!reflect.DeepEqual(together[i].History(), alone.History()) {
			t.Errorf("day %d: %+v together, %+v alone", i, together[i], alone)
		}
	}
	other := problems[0].Payload.(task.Queue)
	other.Fleet.Partitions = g.Partitions()[:1]
	problems[1].Payload = other
	if _, err := track.Dispatch.SolveTogether(t.Context(), a, problems); err == nil {
		t.Error("one dispatcher served two fleets")
	}
}
