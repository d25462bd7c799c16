package mig

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/spec"
)

// costParams declares the parameters that may follow the name of a model, as in A100?create=0.05&destroy=10x: the
// times to create and to destroy an instance. A number is in seconds and holds for every profile. A number with an x
// multiplies the model's own time of each profile.
var costParams = []spec.Param{
	{Name: "create", Default: "1x", Type: cost, Doc: "seconds to create an instance, or a multiple of the model's"},
	{Name: "destroy", Default: "1x", Type: cost, Doc: "seconds to destroy an instance, or a multiple of the model's"},
}

// nameParams are all parameters that may follow the name of a model.
var nameParams = slices.Concat(costParams, powerParams)

var cost = spec.Type{
	Want: fmt.Sprintf("seconds from 0 to %v, for example 0.05, or a multiple of the model's, for example 10x", maxCost),
	Read: func(value string) (string, error) {
		v, unit, err := parseCost(value)
		if err != nil || !(v >= 0 && v <= maxCost) { // NaN is not in between
			return "", spec.ErrValue
		}
		if v == 0 {
			return "0", nil
		}
		return spec.FormatFloat(float64(v)) + unit, nil
	},
}

// parseCost returns the number of a cost, and x for a multiple.
func parseCost(value string) (v Seconds, unit string, err error) {
	text, times := strings.CutSuffix(value, "x")
	if times {
		unit = "x"
	}
	number, err := strconv.ParseFloat(text, 64)
	return Seconds(number), unit, err
}

// seconds returns a cost of [costParams] in seconds. own is the model's own time. value has been read by [spec.Read].
func seconds(value string, own Seconds) Seconds {
	v, unit, _ := parseCost(value)
	if unit == "x" {
		return v * own
	}
	return v
}

// withCosts returns the named model with other costs or a [Power], and adds it, so that results are stored under it.
// The name of the new model contains the parameters. The model has no [GPU.Others]. withCosts passes on the errors of
// find, [spec.Read] and [Catalog.Add].
func (c *Catalog) withCosts(name string, costs []string, find func(string) (*GPU, error)) (*GPU, error) {
	g, err := find(name)
	if err != nil {
		return nil, err
	}
	a, err := spec.Read(nameParams, costs)
	if err != nil {
		return nil, fmt.Errorf("GPU %q: %w", name, err)
	}
	id := spec.ID(g.Name, nameParams, a)
	if id == g.Name {
		return g, nil
	}
	out := &GPU{
		Name: id, Like: g.Name, CostSource: "as the name says",
		ComputeSlices: g.ComputeSlices, MemorySlices: g.MemorySlices, DriverSlices: g.DriverSlices,
	}
	if out.Power, err = g.choosePower(a); err != nil {
		return nil, fmt.Errorf("GPU %q: %w", name, err)
	}
	for _, p := range g.Profiles {
		changed := *p
		changed.Create = seconds(a["create"], p.Create)
		changed.Destroy = seconds(a["destroy"], p.Destroy)
		out.Profiles = append(out.Profiles, &changed)
	}
	return c.Add(out)
}

// Board names the model that measured times are filed under: the model itself, or the one that it is [GPU.Like].
func (g *GPU) Board() string { return cmp.Or(g.Like, g.Name) }

// checkCosts returns an error unless the name is [GPU.Like] with costs, or has no costs and Like is empty.
func (g *GPU) checkCosts() error {
	name, costs := spec.Split(g.Name)
	if name != g.Board() {
		return fmt.Errorf("its name has costs after a question mark exactly if it is like another model; it is "+
			"like %q", g.Like)
	}
	_, err := spec.Read(nameParams, costs)
	return err
}

// CostsLike returns assumed times to create and to destroy an instance of a size on a GPU without published times. They
// are the times of g, which must be a GPU of FAR Table 1, for its smallest size that is at least as large, or else for
// its largest size. source names g.
func (g *GPU) CostsLike(size Slices) (create, destroy Seconds, source string) {
	for _, s := range g.sizes {
		p := g.bySize[s]
		if s >= size || s == g.ComputeSlices {
			return p.Create, p.Destroy, fmt.Sprintf("assumed equal to %s in FAR Table 1", g.Name)
		}
	}
	panic("mig: a model without sizes")
}
