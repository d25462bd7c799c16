package schedule_test

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A task needs an instance, which needs to be created: the first schedule forgets
// that, and runs the task too long.
func ExampleCheck() {
	gpu := mig.MustLookup("A30")
	half, err := gpu.Instance(2, 0)
	if err != nil {
		panic(err)
	}
	p := schedule.Problem{
		GPU:   gpu,
		Tasks: task.Batch{task.New("lud", map[mig.Slices]mig.Seconds{1: 5, 2: 3})},
	}
	s := schedule.Schedule{
		GPU:        gpu,
		Placements: []schedule.Placement{{Task: 0, Instance: half, Start: 0, End: 5}},
	}
	for _, v := range schedule.Check(p, s) {
		fmt.Println(v)
	}

	s.Operations = []schedule.Operation{{Op: schedule.Create, Instance: half, Start: 0, End: 0.12}}
	s.Placements[0].Start, s.Placements[0].End = 0.12, 3.12
	fmt.Println(len(schedule.Check(p, s)), "violations")
	// Output:
	// wrong duration: "lud" runs for 5 s on size 2, where it takes 3 s
	// no instance: "lud" starts at 0 s on 2@0 of GPU 0, which is not there
	// 0 violations
}
