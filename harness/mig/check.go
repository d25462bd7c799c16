package mig

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"miglab/harness/nearest"
)

// usableName matches the names that can be part of file names, specs and lines of text.
var usableName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9 ._-]*[A-Za-z0-9])?$`)

// columns are the sizes that task files have a column for.
var columns = []Slices{1, 2, 3, 4, 7}

// maxCost is the longest time to create or to destroy an instance. It is the longest duration of a
// task as well, so that sums stay finite.
const maxCost Seconds = 1e12

// check refuses a model that schedulers, simulators or bounds cannot handle.
func (g *GPU) check() error {
	if g.Name == "" || len(g.Profiles) == 0 {
		return errors.New("it needs a name and profiles")
	}
	if err := g.checkCosts(); err != nil {
		return err
	}
	for _, name := range append([]string{g.Board()}, g.Aliases...) {
		if !usableName.MatchString(name) || strings.HasSuffix(strings.ToLower(name), ".json") {
			return fmt.Errorf("%q cannot name it; a name has letters, digits, spaces, dots, hyphens and "+
				"underscores, begins and ends with a letter or digit, and does not end with .json", name)
		}
	}
	profiles := map[string]bool{}
	sizes := map[Slices]bool{} // the sizes that have a standard profile
	for i, p := range g.AllProfiles() {
		if p == nil {
			return errors.New("a profile is null")
		}
		if err := g.checkProfile(p); err != nil {
			return err
		}
		standard := p.Standard() && i < len(g.Profiles)
		if profiles[p.String()] {
			return fmt.Errorf("it has two profiles %s", p)
		}
		if standard && sizes[p.Size] {
			return fmt.Errorf("it has two standard profiles of size %d", p.Size)
		}
		profiles[p.String()] = true
		if standard {
			sizes[p.Size] = true
		}
	}
	switch {
	case g.DriverSlices < 0 || g.DriverSlices > MaxMemorySlices:
		return fmt.Errorf("driver_slices is %d; it must be 0 to %d", g.DriverSlices, MaxMemorySlices)
	case !slices.IsSortedFunc(g.Profiles, func(a, b *Profile) int { return int(a.Size - b.Size) }):
		return errors.New("its profiles are not by ascending size")
	case !sizes[g.ComputeSlices]:
		return fmt.Errorf("it has no profile with all %d compute slices", g.ComputeSlices)
	case g.Power != nil:
		if err := g.Power.check(len(sizes)); err != nil {
			return err
		}
	}
	return g.checkTree()
}

// checkProfile refuses a profile that a model of g's slices cannot have.
func (g *GPU) checkProfile(p *Profile) error {
	last := Slices(0) // the last start
	if len(p.Starts) > 0 {
		last = p.Starts[len(p.Starts)-1]
	}
	switch {
	case p.Size < 1 || p.Size > MaxSize || p.Size > g.ComputeSlices:
		return fmt.Errorf("%s has %d compute slices; it must be 1 to %d", p, p.Size, min(MaxSize, g.ComputeSlices))
	case !slices.Contains(columns, p.Size):
		return fmt.Errorf("%s has %d compute slices; there are tasks for %v only", p, p.Size, columns)
	case g.MemorySlices < 1 || g.MemorySlices > MaxMemorySlices:
		return fmt.Errorf("it has %d memory slices; it must be 1 to %d", g.MemorySlices, MaxMemorySlices)
	case p.Length < 1 || p.Length > g.MemorySlices:
		return fmt.Errorf("%s takes %d memory slices; it must be 1 to %d", p, p.Length, g.MemorySlices)
	case len(p.Starts) == 0 || !slices.IsSorted(p.Starts) ||
		len(slices.Compact(slices.Clone(p.Starts))) != len(p.Starts):
		return fmt.Errorf("%s starts at %v; there must be at least one start, in ascending order", p, p.Starts)
	case p.Starts[0] < 0 || last+p.Length > g.MemorySlices:
		return fmt.Errorf("%s starts at %v and takes %d memory slices; the GPU has %d", p, p.Starts, p.Length,
			g.MemorySlices)
	case p.Max < 1 || p.MemoryGB < 1 || p.SMs < 0 || !g.mayTake(p.Create) || !g.mayTake(p.Destroy):
		return fmt.Errorf("%s needs positive numbers for max, memory_gb, create_s and destroy_s", p)
	case max(p.Create, p.Destroy) > maxCost:
		return fmt.Errorf("%s takes %v s to create and %v s to destroy; each must be at most %v s", p, p.Create,
			p.Destroy, maxCost)
	case slices.Contains(g.Others, p): // no algorithm uses it
		return nil
	case !p.Standard() && !slices.ContainsFunc(g.Profiles, p.replaceableBy):
		return fmt.Errorf("%s has no standard profile of its size that may begin where it begins, takes no more "+
			"memory slices and no longer to create and to destroy; lower bounds on makespans need one", p)
	case !p.Standard():
		return nil
	case p.Size == g.ComputeSlices && p.Length != g.MemorySlices:
		return fmt.Errorf("%s takes %d memory slices; the whole GPU has %d", p, p.Length, g.MemorySlices)
	case p.Length < p.Size || last+p.Size > g.ComputeSlices:
		return fmt.Errorf("%s takes %d memory slices from %v on; compute slice i lies in memory slice i, so "+
			"that it must take at least %d and begin by %d",
			p, p.Length, p.Starts, p.Size, g.ComputeSlices-p.Size)
	case p.Max < p.disjoint():
		return fmt.Errorf("%s has max %d; its starts %v have room for %d at once, which partitions then have", p, p.Max,
			p.Starts, p.disjoint())
	}
	return nil
}

// replaceableBy reports whether other is a standard profile that could replace any instance of p at no higher cost.
func (p *Profile) replaceableBy(other *Profile) bool {
	if other == nil || !other.Standard() || other.Size != p.Size || other.Length > p.Length ||
		other.Create > p.Create || other.Destroy > p.Destroy {
		return false
	}
	for _, start := range p.Starts {
		if !slices.Contains(other.Starts, start) {
			return false
		}
	}
	return true
}

// mayTake reports whether t is a valid time of an operation. Only costs in a model's name may be 0: A100?create=0.
func (g *GPU) mayTake(t Seconds) bool { return t > 0 || t == 0 && g.Like != "" }

// disjoint returns how many instances of the profile fit beside each other.
func (p *Profile) disjoint() int {
	n := 0
	end := Slices(0)
	for _, start := range p.Starts {
		if start >= end {
			n++
			end = start + p.Length
		}
	}
	return n
}

// checkTree refuses a model whose instances do not form a tree in which a scheduler splits an
// instance into at most two.
func (g *GPU) checkTree() error {
	derived := *g
	derived.derive()
	for i, n := range derived.tree {
		for j, o := range derived.tree[:i] {
			above := n.Parent // then o itself if o is above n, because parents come before their children
			for above > j {
				above = derived.tree[above].Parent
			}
			if n.Overlaps(o.Instance) && above != j {
				return fmt.Errorf("%v and %v share memory slices, and the larger does not cover the smaller; "+
					"schedulers need instances that are disjoint or one in the other", o, n)
			}
		}
		if len(n.Children) > 2 {
			into := nearest.Names(n.Children, func(c int) string { return derived.tree[c].String() })
			return fmt.Errorf("%v is split into %s at once; schedulers split an instance into two at most, so "+
				"that a profile between them is missing", n, strings.Join(into, ", "))
		}
	}
	return nil
}
