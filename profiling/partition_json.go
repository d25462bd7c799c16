package profiling

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
)

// WritePartition writes a partition of a model as JSON, with the first memory slice
// of every instance and their number, as nvidia-smi mig -lgi prints them: the one
// format that keeps placements.
//
//	{"gpu":"A100","instances":[{"profile":"3g.20gb","start":4,"length":4}]}
func WritePartition(w io.Writer, g *mig.GPU, p mig.Partition) error {
	type instance struct {
		Profile string     `json:"profile"`
		Start   mig.Slices `json:"start"`
		Length  mig.Slices `json:"length"`
	}
	instances := []instance{}
	for _, in := range p {
		instances = append(instances, instance{in.Profile.String(), in.Start, in.Profile.Length})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		GPU       string     `json:"gpu"`
		Instances []instance `json:"instances"`
	}{g.Name, instances})
}

// ReadPartition reads what [WritePartition] writes, with the instances in any order. It is
// strict. It refuses fields that are unknown, missing, duplicate or of the wrong type, a
// GPU or profile that is not known (a [*nearest.UnknownError]), an instance that cannot
// begin at its slice, has another length, or cannot exist with the others, and text after
// the end. Each of these is a [*strictjson.Error], which names the file and the line.
func ReadPartition(r io.Reader, file string) (*mig.GPU, mig.Partition, error) {
	d := strictjson.NewDecoder(r, file)
	var model string
	var modelLine int
	var written []writtenInstance
	var one writtenInstance
	members := []strictjson.Member{
		{Name: "profile", Read: func() (err error) {
			one.profile, err = d.Text()
			one.line = d.Line()
			return err
		}},
		{Name: "start", Read: strictjson.Into(&one.start, d.Integer)},
		{Name: "length", Read: strictjson.Into(&one.length, d.Integer)},
	}
	err := d.Object([]strictjson.Member{
		{Name: "gpu", Read: func() (err error) {
			model, err = d.Text()
			modelLine = d.Line()
			return err
		}},
		{Name: "instances", Read: func() error {
			return d.List(func() error {
				err := d.Object(members)
				written = append(written, one)
				return err
			})
		}},
	})
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return nil, nil, err
	}
	g, err := mig.Lookup(model)
	if err != nil {
		return nil, nil, d.FailAt(modelLine, "gpu", err)
	}
	p := mig.Partition{}
	for i, w := range written {
		in, err := w.on(g)
		if err == nil {
			err = Conflict(p, in)
		}
		if err != nil {
			return nil, nil, d.FailAt(w.line, fmt.Sprintf("instances[%d]", i), err)
		}
		p = append(p, in)
	}
	slices.SortFunc(p, func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
	return g, p, nil
}

// writtenInstance is an instance as the file has it.
type writtenInstance struct {
	profile       string
	start, length int
	line          int
}

// on is the instance on a model.
func (w *writtenInstance) on(g *mig.GPU) (mig.Instance, error) {
	p, err := g.ProfileByName(w.profile)
	switch {
	case err != nil:
		return mig.Instance{}, err
	case !slices.Contains(p.Starts, mig.Slices(w.start)):
		return mig.Instance{}, fmt.Errorf("%s cannot start at %d; it may start at %v", p, w.start, p.Starts)
	case mig.Slices(w.length) != p.Length:
		return mig.Instance{}, fmt.Errorf("%s has the length %d, not %d", p, p.Length, w.length)
	}
	return mig.Instance{Profile: p, Start: mig.Slices(w.start)}, nil
}
