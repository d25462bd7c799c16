package agents

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// dayOf returns the first jobs of a day of the deadline report, and its fleet.
func dayOf(t testing.TB, seed uint64, jobs int) ([]task.Job, task.Fleet) {
	t.Helper()
	fleet, draw, err := datasets.DaySampler("deadline/relaxed", mig.MustLookup("A100"))
	if err != nil {
		t.Fatal(err)
	}
	return draw(rand.New(rand.NewPCG(seed, 50)), nil)[:jobs], fleet
}

// dispatched runs a day with an agent.
func dispatched(t testing.TB, id string, jobs []task.Job, fleet task.Fleet) sim.DispatchResult {
	t.Helper()
	a := algo.MustParse(id)
	d, err := a.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices})
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.RunDispatch(jobs, fleet, d)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return r
}

// Days decided for together are those decided for alone, whichever days are together.
func TestDeadlineAgentsDispatchDaysTogether(t *testing.T) {
	for _, s := range specs(algo.TrackDispatch) {
		for _, id := range variants(s) {
			var days []task.Queue
			var want []sim.DispatchResult
			for i, jobs := range []int{90, 300, 1, 0, 200, 250, 280, 150, 60}[:deep.N(5, 9)] {
				list, fleet := dayOf(t, uint64(i), jobs)
				days = append(days, task.Queue{Jobs: list, Fleet: fleet})
				want = append(want, dispatched(t, id, list, fleet))
			}
			a := algo.MustParse(id)
			d, err := a.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices})
			if err != nil {
				t.Fatal(err)
			}
			got, err := sim.RunDispatches(days, d.(sim.BatchDispatcher))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: days together differ from days alone, %v", id, err)
			}
		}
	}
}
