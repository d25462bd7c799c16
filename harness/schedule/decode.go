package schedule

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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
	d := strictjson.NewDecoder(r)
	s, err := DecodeFrom(d, p)
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// DecodeFrom reads a schedule that is a part of a larger text, as [Decode] does.
func DecodeFrom(in *strictjson.Decoder, p Problem) (Schedule, error) {
	if p.GPU == nil {
		return Schedule{}, errors.New("schedule: the problem has no GPU model")
	}
	d := &decoder{Decoder: in, p: &p, tasks: taskNames(&p)}
	s, err := d.schedule()
	if _, ok := errors.AsType[*FormatError](err); err != nil && !ok {
		err = fmt.Errorf("schedule: %w", err)
	}
	return s, err
}

// makespanPrecision is the relative difference of makespan_s from the end of the last task that
// [Decode] accepts, so that other programs may write times with nine digits.
const makespanPrecision = 1e-9

// A decoder reads the parts of a schedule.
type decoder struct {
	*strictjson.Decoder
	p *Problem
	// tasks holds the index of each task by name.
	tasks map[string]int
}

func (d *decoder) schedule() (Schedule, error) {
	s := Schedule{GPU: d.p.GPU}
	var makespan mig.Seconds
	var makespanLine int
	err := d.Object([]strictjson.Member{
		{Name: "gpu", Read: readNamed(d, &s.GPU, d.gpu)},
		{Name: "algorithm", Read: d.Into(&s.Algorithm)},
		{Name: "reconfiguration", Read: readNamed(d, &s.Model, mig.ParseReconfiguration)},
		{Name: "makespan_s", Read: func() (err error) {
			err = d.Into(&makespan)()
			makespanLine = d.Line()
			return err
		}},
		{Name: "placements", Read: d.placements(&s.Placements)},
		{Name: "reconfigurations", Read: d.operations(&s.Operations)},
		{Name: "counters", Optional: true, Read: d.counters(&s.Counters)},
	})
	if err != nil {
		return s, err
	}
	last := s.Makespan()
	tolerance := mig.Seconds(makespanPrecision * max(1, last))
	if makespan > last+tolerance || makespan < last-tolerance {
		return s, d.FailAt(makespanLine, "makespan_s",
			fmt.Errorf("%v is not the end of the last task, which is %v", makespan, last))
	}
	return s, nil
}

// readNamed returns a [strictjson.Member.Read] that reads a name and stores the value that find returns for it.
func readNamed[T any](d *decoder, to *T, find func(name string) (T, error)) func() error {
	return func() error {
		var name string
		err := d.Into(&name)()
		if err != nil {
			return err
		}
		if *to, err = find(name); err != nil {
			return d.Fail("%w", err)
		}
		return nil
	}
}

func (d *decoder) gpu(name string) (*mig.GPU, error) {
	g := d.p.GPU
	isName := func(known string) bool { return strings.EqualFold(known, name) }
	if isName(g.Name) || slices.ContainsFunc(g.Aliases, isName) {
		return g, nil
	}
	if _, err := new(mig.Catalog).Lookup(name); err != nil {
		return g, err
	}
	return g, fmt.Errorf("the schedule is for %s, the problem for %s", name, g)
}

// An entry holds the fields that placements and operations share: the GPU, the instance and the interval.
type entry struct {
	gpu, size, slice int
	sizeLine         int
	start, end       mig.Seconds
}

// entries returns a [strictjson.Member.Read] that reads a list of entries. It calls add after each one. first is the
// member that only this kind of entry has.
func (d *decoder) entries(first strictjson.Member, add func(e *entry, in mig.Instance)) func() error {
	e := new(entry)
	members := []strictjson.Member{
		first,
		{Name: "gpu", Read: d.Into(&e.gpu)},
		{Name: "size", Read: func() (err error) {
			err = d.Into(&e.size)()
			e.sizeLine = d.Line()
			return err
		}},
		{Name: "slice", Read: d.Into(&e.slice)},
		{Name: "start_s", Read: d.Into(&e.start)},
		{Name: "end_s", Read: d.Into(&e.end)},
	}
	return func() error {
		return d.List(func() error {
			if err := d.Object(members); err != nil {
				return err
			}
			in, err := d.p.GPU.Instance(mig.Slices(e.size), mig.Slices(e.slice))
			if err != nil {
				return d.FailAt(e.sizeLine, "size", err)
			}
			add(e, in)
			return nil
		})
	}
}

func (d *decoder) placements(to *[]Placement) func() error {
	var task int
	first := strictjson.Member{Name: "task", Read: readNamed(d, &task, d.task)}
	return d.entries(first, func(e *entry, in mig.Instance) {
		*to = append(*to, Placement{Task: task, GPU: e.gpu, Instance: in, Start: e.start, End: e.end})
	})
}

func (d *decoder) operations(to *[]Operation) func() error {
	var op Op
	first := strictjson.Member{Name: "op", Read: readNamed(d, &op, parseOp)}
	return d.entries(first, func(e *entry, in mig.Instance) {
		*to = append(*to, Operation{Op: op, GPU: e.gpu, Instance: in, Start: e.start, End: e.end})
	})
}

func (d *decoder) task(name string) (int, error) {
	i, ok := d.tasks[name]
	if !ok {
		return 0, nearest.Unknown("task", name, slices.Collect(maps.Keys(d.tasks)))
	}
	return i, nil
}

func parseOp(name string) (Op, error) {
	return nearest.Find("operation", name, []Op{Create, Destroy}, Op.String)
}

// counters returns a [strictjson.Member.Read] that reads an object of whole numbers; an empty one stays nil.
func (d *decoder) counters(to *map[string]int) func() error {
	return func() error {
		return d.Each(func(name string) error {
			if *to == nil {
				*to = map[string]int{}
			}
			var n int
			err := d.Into(&n)()
			(*to)[name] = n
			return err
		})
	}
}
