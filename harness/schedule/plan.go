package schedule

import (
	"errors"
	"fmt"
	"io"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
)

// A Plan says which instances run which tasks, without times. Of two uses that share a memory slice of a GPU, the use
// that is earlier in the plan runs first.
type Plan []Use

// A Use is a stretch of time in which one instance runs tasks one after the other.
type Use struct {
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	// Tasks are indices in Problem.Tasks, in order of execution. There is at least one.
	Tasks []int
	// NotBefore is the earliest start of the tasks and of the operations that only this use needs.
	NotBefore mig.Seconds
}

// DecodePlan reads a plan for the problem: a JSON list of objects with gpu, size, slice, tasks and, optionally,
// not_before_s. Each task is in exactly one use. DecodePlan is as strict as [Decode]. A task that is missing, repeated
// or too large for its instance, a use without tasks and a negative time are each a [*FormatError], too. DecodePlan
// passes on the errors of r.
func DecodePlan(r io.Reader, p Problem) (Plan, error) {
	in := strictjson.NewDecoder(r)
	d := planDecoder{
		decoder: decoder{Decoder: in, p: &p, tasks: taskNames(&p)},
		usedBy:  make([]int, len(p.Tasks)),
	}
	if err := d.List(d.use); err != nil {
		return nil, err
	}
	for i, by := range d.usedBy {
		if by == 0 {
			return nil, d.Fail("task %q is missing", p.Tasks[i].Name)
		}
	}
	return d.plan, d.End()
}

// A planDecoder reads the parts of a plan.
type planDecoder struct {
	decoder
	plan Plan
	// usedBy holds, by task, the number of its use, counted from 1; 0 for a task that has not been read.
	usedBy []int
}

// use reads the next use and adds it to the plan.
func (d *planDecoder) use() error {
	var u Use
	var size, slice int
	err := d.Object([]strictjson.Member{
		{Name: "gpu", Read: d.Into(&u.GPU)},
		{Name: "size", Read: d.Into(&size)},
		{Name: "slice", Read: d.Into(&slice)},
		{Name: "tasks", Read: func() error { return d.List(func() error { return d.addTask(&u) }) }},
		{Name: "not_before_s", Optional: true, Read: d.Into(&u.NotBefore)},
	})
	if err != nil {
		return err
	}
	if u.GPU < 0 || u.GPU >= d.p.GPUs() {
		err := fmt.Errorf("there is no GPU %d; there are %d, counted from 0", u.GPU, d.p.GPUs())
		return d.FailAt(d.Line(), "gpu", err)
	}
	if u.Instance, err = d.p.GPU.Instance(mig.Slices(size), mig.Slices(slice)); err != nil {
		return d.FailAt(d.Line(), "size", err)
	}
	if len(u.Tasks) == 0 {
		return d.FailAt(d.Line(), "tasks", errors.New("an instance needs at least one task"))
	}
	for i, t := range u.Tasks {
		if !d.p.Tasks[t].Fits(u.Instance.Size()) {
			err := fmt.Errorf("task %q does not fit size %d", d.p.Tasks[t].Name, size)
			return d.FailAt(d.Line(), fmt.Sprintf("tasks[%d]", i), err)
		}
	}
	if u.NotBefore < 0 {
		return d.FailAt(d.Line(), "not_before_s", fmt.Errorf("%v is negative", u.NotBefore))
	}
	d.plan = append(d.plan, u)
	return nil
}

// addTask reads the name of a task and adds the task to a use.
func (d *planDecoder) addTask(u *Use) error {
	var t int
	if err := readNamed(&d.decoder, &t, d.task)(); err != nil {
		return err
	}
	if d.usedBy[t] > 0 {
		return d.Fail("task %q is in entry %d already", d.p.Tasks[t].Name, d.usedBy[t]-1)
	}
	d.usedBy[t] = len(d.plan) + 1
	u.Tasks = append(u.Tasks, t)
	return nil
}
