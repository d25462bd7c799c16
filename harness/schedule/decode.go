package schedule

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictjson"
)

// Decode reads a schedule for the problem in the format of [Encode]. It is strict. These are each a [*FormatError]: a
// field that is unknown, missing, duplicate or of the wrong type; a task or GPU that the problem does not have; an
// instance that the GPU cannot hold; a makespan_s that is not the end of the last task, to [makespanPrecision]; and
// text after the end. The error wraps a [*nearest.UnknownError] for unknown names. Decode passes on the errors of r. It
// returns an error for a problem without a GPU model.
//
// Decode does not check whether the schedule is valid; see [Check].
func Decode(r io.Reader, p Problem) (Schedule, error) {
	var f File
	text, err := strictjson.Read(r, "schedule", &f)
	if err != nil {
		return Schedule{}, err
	}
	s, err := f.Schedule(p)
	return s, strictjson.Locate(text, "", err)
}

// makespanPrecision is the relative difference of makespan_s from the end of the last task that
// [Decode] accepts, so that other programs may write times with nine digits.
const makespanPrecision = 1e-9

// Schedule returns the schedule of a file that was read for the problem. It returns the errors of [Decode], with the
// place in the file: a [*strictjson.Fault].
func (f *File) Schedule(p Problem) (s Schedule, err error) {
	if p.GPU == nil {
		return s, errors.New("schedule: the problem has no GPU model")
	}
	if err := checkModel(f.GPU, p.GPU); err != nil {
		return s, &strictjson.Fault{At: "/gpu", Err: err}
	}
	s = Schedule{GPU: p.GPU, Algorithm: f.Algorithm}
	if s.Model, err = mig.ParseReconfiguration(f.Reconfiguration); err != nil {
		return s, &strictjson.Fault{At: "/reconfiguration", Err: err}
	}
	if len(f.Counters) > 0 {
		s.Counters = f.Counters
	}
	tasks := taskNames(&p)
	for i, pl := range f.Placements {
		task, err := findTask(tasks, pl.Task)
		if err != nil {
			return s, fault("placements", i, "task", err)
		}
		in, err := p.GPU.Instance(pl.Size, pl.Slice)
		if err != nil {
			return s, fault("placements", i, "size", err)
		}
		s.Placements = append(s.Placements,
			Placement{Task: task, GPU: pl.GPU, Instance: in, Start: pl.Start, End: pl.End})
	}
	for i, o := range f.Reconfigurations {
		op, err := nearest.Find("operation", o.Op, []Op{Create, Destroy}, Op.String)
		if err != nil {
			return s, fault("reconfigurations", i, "op", err)
		}
		in, err := p.GPU.Instance(o.Size, o.Slice)
		if err != nil {
			return s, fault("reconfigurations", i, "size", err)
		}
		s.Operations = append(s.Operations, Operation{Op: op, GPU: o.GPU, Instance: in, Start: o.Start, End: o.End})
	}
	last := s.Makespan()
	tolerance := mig.Seconds(makespanPrecision * max(1, last))
	if f.Makespan > last+tolerance || f.Makespan < last-tolerance {
		err := fmt.Errorf("%v is not the end of the last task, which is %v", f.Makespan, last)
		return s, &strictjson.Fault{At: "/makespan_s", Err: err}
	}
	return s, nil
}

// fault returns the error about a member of an entry of a list.
func fault(list string, entry int, member string, err error) error {
	return &strictjson.Fault{At: jsontext.Pointer(fmt.Sprintf("/%s/%d/%s", list, entry, member)), Err: err}
}

// checkModel returns an error unless a name is of the problem's GPU model.
func checkModel(name string, g *mig.GPU) error {
	isName := func(known string) bool { return strings.EqualFold(known, name) }
	if isName(g.Name) || slices.ContainsFunc(g.Aliases, isName) {
		return nil
	}
	if _, err := new(mig.Catalog).Lookup(name); err != nil {
		return err
	}
	return fmt.Errorf("the schedule is for %s, the problem for %s", name, g)
}

// taskNames returns the index of each name's last task.
func taskNames(p *Problem) map[string]int {
	names := make(map[string]int, len(p.Tasks))
	for i := range p.Tasks {
		names[p.Tasks[i].Name] = i
	}
	return names
}

// findTask returns the index of a task by its name.
func findTask(tasks map[string]int, name string) (int, error) {
	i, ok := tasks[name]
	if !ok {
		return 0, nearest.Unknown("task", name, slices.Collect(maps.Keys(tasks)))
	}
	return i, nil
}
