package mig

import (
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/spec"
)

// costParams are what may follow the name of a model, as in A100?create=0.05&destroy=10x: how long it takes to create
// and to destroy an instance. A number is in seconds and holds for every profile. A number and an x multiplies the
// time that the model has for each.
var costParams = []spec.Param{
	{Name: "create", Default: "1x", Type: cost, Doc: "seconds to create an instance, or a multiple of the model's"},
	{Name: "destroy", Default: "1x", Type: cost, Doc: "seconds to destroy an instance, or a multiple of the model's"},
}

var cost = spec.Type{
	Want: fmt.Sprintf("seconds from 0 to %v, for example 0.05, or a multiple of the model's, for example 10x", maxCost),
	Read: func(value string) (string, error) {
		text, times := strings.CutSuffix(value, "x")
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= float64(maxCost)) { // NaN is not in between
			return "", spec.ErrValue
		}
		out := spec.FormatFloat(v + 0) // -0 becomes 0
		if times && v > 0 {
			out += "x"
		}
		return out, nil
	},
}

// lookupCosts finds a model by its name alone and gives it other costs.
func lookupCosts(name string, costs []string, find func(string) (*GPU, error)) (*GPU, error) {
	g, err := find(name)
	if err != nil {
		return nil, err
	}
	if g, err = g.withCosts(costs); err != nil {
		return nil, fmt.Errorf("GPU %q: %w", name, err)
	}
	return g, nil
}

// withCosts returns a model with other costs, which the parameters after a question mark give. Its name has the
// parameters. It is registered, so that its results take it along. Errors are those of [spec.Read] and [Register].
func (g *GPU) withCosts(pairs []string) (*GPU, error) {
	a, err := spec.Read(costParams, pairs)
	if err != nil {
		return nil, err
	}
	id := spec.ID(g.Name, costParams, a)
	if id == g.Name {
		return g, nil
	}
	out := &GPU{
		Name: id, Like: g.Name, ComputeSlices: g.ComputeSlices, MemorySlices: g.MemorySlices,
		CostSource: "as the name says",
	}
	for _, p := range g.Profiles {
		changed := *p
		changed.Create, changed.Destroy = costOf(a["create"], p.Create), costOf(a["destroy"], p.Destroy)
		out.Profiles = append(out.Profiles, &changed)
	}
	return Register(out)
}

// costOf returns the cost that a parameter makes of the model's.
func costOf(value string, own Seconds) Seconds {
	text, times := strings.CutSuffix(value, "x")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("mig: a cost that was not read: " + value)
	}
	if times {
		return Seconds(v) * own
	}
	return Seconds(v)
}

// plainNames returns the names without costs. The error is about a name with costs that does not agree with [GPU.Like].
func (g *GPU) plainNames() ([]string, error) {
	name, costs := spec.Split(g.Name)
	if name != g.Board() || (costs != nil) != (g.Like != "") {
		return nil, fmt.Errorf("its name has costs after a question mark exactly if it is like another model; it is "+
			"like %q", g.Like)
	}
	if costs == nil {
		return g.names(), nil
	}
	a, err := spec.Read(costParams, costs)
	if err == nil && spec.ID(name, costParams, a) != g.Name {
		err = fmt.Errorf("its name is not written as %s", spec.ID(name, costParams, a))
	}
	return append([]string{name}, g.Aliases...), err
}

// Board names the model that measured times are filed under: the model itself, or the one that it is [GPU.Like].
func (g *GPU) Board() string {
	if g.Like != "" {
		return g.Like
	}
	return g.Name
}
