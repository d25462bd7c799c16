package schedule

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
)

// A Plan says which instances run which tasks, without times. Of two uses that share a memory slice of a GPU, the use
// that is earlier in the plan runs first.
type Plan []Use

// A Use is a stretch of time in which one instance runs tasks one after the other.
type Use struct {
	GPU      int // counts from 0
	Instance mig.Instance
	// Tasks are indices in Problem.Tasks, in order of execution. There is at least one.
	Tasks     []int
	NotBefore mig.Seconds // the earliest start of the tasks and of the operations that only this use needs
}

// DecodePlan reads a plan for the problem: a JSON list of objects with gpu, size, slice, tasks and, optionally,
// not_before_s. Each task is in exactly one use. DecodePlan is as strict as [Decode]. A task that is missing, repeated
// or too large for its instance, a use without tasks and a negative time are each a [*FormatError], too. DecodePlan
// passes on the errors of r.
func DecodePlan(r io.Reader, p Problem) (Plan, error) {
	var uses []fileUse
	text, err := strictjson.Read(r, "plan", &uses)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(&p, uses)
	return plan, strictjson.Locate(text, "", err)
}

// A fileUse has the members of a [Use] in JSON.
type fileUse struct {
	GPU       int         `json:"gpu"`
	Size      mig.Slices  `json:"size"`
	Slice     mig.Slices  `json:"slice"`
	Tasks     []string    `json:"tasks"`
	NotBefore mig.Seconds `json:"not_before_s,omitzero"`
}

// newPlan returns the plan of uses that were read, or a [*strictjson.Fault].
func newPlan(p *Problem, uses []fileUse) (plan Plan, err error) {
	tasks := taskNames(p)
	usedBy := make([]int, len(p.Tasks)) // by task, the number of its use, from 1
	for i, f := range uses {
		wrong := func(member string, err error) error {
			return &strictjson.Fault{At: jsontext.Pointer(fmt.Sprintf("/%d/%s", i, member)), Err: err}
		}
		u := Use{GPU: f.GPU, NotBefore: f.NotBefore}
		if u.GPU < 0 || u.GPU >= p.GPUs() {
			return nil, wrong("gpu", fmt.Errorf("there is no GPU %d; there are %d, counted from 0", u.GPU, p.GPUs()))
		}
		if u.Instance, err = p.GPU.Instance(f.Size, f.Slice); err != nil {
			return nil, wrong("size", err)
		}
		for k, name := range f.Tasks {
			t, err := findTask(tasks, name)
			switch {
			case err != nil:
			case usedBy[t] > 0:
				err = fmt.Errorf("task %q is in entry %d already", name, usedBy[t]-1)
			case !p.Tasks[t].Fits(f.Size):
				err = fmt.Errorf("task %q does not fit size %d", name, f.Size)
			}
			if err != nil {
				return nil, wrong(fmt.Sprintf("tasks/%d", k), err)
			}
			usedBy[t] = i + 1
			u.Tasks = append(u.Tasks, t)
		}
		if len(u.Tasks) == 0 {
			return nil, wrong("tasks", errors.New("an instance needs at least one task"))
		}
		if u.NotBefore < 0 {
			return nil, wrong("not_before_s", fmt.Errorf("%v is negative", u.NotBefore))
		}
		plan = append(plan, u)
	}
	missing := slices.Index(usedBy, 0)
	if missing >= 0 {
		return nil, &strictjson.Fault{Err: fmt.Errorf("task %q is missing", p.Tasks[missing].Name)}
	}
	return plan, nil
}
