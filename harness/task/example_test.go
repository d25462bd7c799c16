package task_test

import (
	"fmt"
	"os"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A tasks file has a column for each instance size of the GPU. This task does not fit the
// smallest instance.
func ExampleReadCSV() {
	gpu := mig.MustLookup("A30")
	batch, err := task.ReadCSV(strings.NewReader("task,t1,t2,t4\nlud,inf,6,3.5\n"), "tasks.csv", gpu)
	if err != nil {
		fmt.Println(err)
		return
	}
	lud := &batch[0]
	fmt.Println(lud.Name, lud.Fits(1), lud.On(2), lud.On(4))
	// Output:
	// lud false 6 3.5
}

func ExampleWriteStream() {
	batch := task.Batch{task.New("lud", map[mig.Slices]mig.Seconds{1: 10, 2: 6})}
	if err := task.WriteStream(os.Stdout, mig.MustLookup("A30"), task.OneBatch(batch)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// task,t1,t2,t4
	// lud,10,6,inf
}
