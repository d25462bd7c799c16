package sim_test

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// firstFit is a scheduler of the placement track.
type firstFit struct{}

// Place implements [sim.Placer].
func (firstFit) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	p := c.Profiles()[profile]
	for gpu := range c.GPUs() {
		for _, start := range p.Starts {
			if (mig.Instance{Profile: p, Start: start}).Mask()&c.Mask(gpu) == 0 {
				return sim.Spot{GPU: gpu, Start: start}, true
			}
		}
	}
	return sim.Spot{}, false
}

// Three requests arrive at a cluster of one A100. The second one leaves after two slots, so
// that the third one finds room.
func ExampleRunPlacement() {
	gpu := mig.MustLookup("A100")
	requests := []task.Request{
		{Arrival: 0, Lifespan: task.Forever, Profile: gpu.Profile(3)},
		{Arrival: 0, Lifespan: 2, Profile: gpu.Profile(3)},
		{Arrival: 1, Lifespan: 1, Profile: gpu.Profile(1)},
		{Arrival: 2, Lifespan: 1, Profile: gpu.Profile(2)},
	}
	r, err := sim.RunPlacement(gpu, 1, requests, firstFit{}, sim.SteadyWindow, task.Migration{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d requests, %d of %d memory slices\n", r.Accepted.Requests, r.Arrived.Requests, r.Accepted.Slices, r.Arrived.Slices)
	// Output:
	// 3 of 4 requests, 10 of 11 memory slices
}

// lowestFree is a scheduler of the dispatch track.
type lowestFree struct{}

// Dispatch implements [sim.Dispatcher].
func (lowestFree) Dispatch(q *sim.Queue) int {
	for i, s := range q.Slices() {
		if !s.Busy {
			return i
		}
	}
	return -1
}

// Two jobs share an A30 that is divided into halves. The second one has too little time.
func ExampleRunDispatch() {
	gpu := mig.MustLookup("A30")
	halves, err := gpu.ParsePartition("2-2")
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs := make([]task.Job, 2)
	for i := range jobs {
		jobs[i].Deadline = task.Minutes(12 - 4*i)
		for _, size := range gpu.Sizes() {
			jobs[i].Set(size, 20/task.Minutes(size))
		}
	}
	fleet := task.Fleet{Partitions: []mig.Partition{halves}, Watts: []float64{50, 100, 150, 180, 200}}
	r, err := sim.RunDispatch(jobs, fleet, lowestFree{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d jobs late, mean tardiness %v min, done after %v min\n", r.Late, r.Jobs, r.Tardiness, r.Makespan)
	// Output:
	// 1 of 2 jobs late, mean tardiness 1 min, done after 10 min
}
