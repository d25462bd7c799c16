package sim

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A GangPlacer is a [Placer] that chooses the places of all members of a gang together.
//
// For other placers, the engine composes the places from decisions about single instances, in the order of the
// members, which begins with the largest: see [Cluster.Restricted].
type GangPlacer interface {
	Placer
	// PlaceGang chooses a place for each member of a gang, in their order, or rejects the gang with false. The engine
	// checks the choice and carries it out. No places and true leave the gang to decisions about single instances.
	PlaceGang(c *Cluster, g *task.Gang) ([]Spot, bool)
}

// A gangView hides the places at which a member of a gang cannot be.
type gangView struct {
	*task.Gang
	next, gpu int // next is the member that is placed now, and gpu has the one before it
}

// narrow returns a profile with only the starts that the next member can have on a GPU. If the gang needs one GPU, the
// members after it must fit, too.
func (v *gangView) narrow(c *Cluster, gpu int, p *mig.Profile) *mig.Profile {
	members := v.Members[v.next:]
	if !v.OneGPU {
		members = members[:1]
	}
	needsMedia := slices.ContainsFunc(members, func(m task.Member) bool { return m.Media })
	hidden := v.OneGPU && v.next > 0 && gpu != v.gpu || needsMedia && c.media[gpu]
	if !hidden && len(members) == 1 {
		return p
	}
	starts := func(o *mig.Profile) []mig.Slices { return c.ownProfile(gpu, c.index(o)).Starts }
	narrowed := *p
	narrowed.Starts = slices.DeleteFunc(slices.Clone(p.Starts), func(start mig.Slices) bool {
		at := mig.Instance{Profile: p, Start: start}.Mask()
		return hidden || at&c.Mask(gpu) != 0 || !task.FitsBeside(members[1:], c.Mask(gpu)|at, starts)
	})
	return &narrowed
}

// placeGang does the work of [placeInstances] for a request with a gang.
func placeGang(e engine, p Placer, i int, q *task.Request, spots []Spot) ([]Spot, error) {
	c, g := e.state(), q.Gang
	choose := func(k int) (Spot, bool) { return p.Place(c, c.index(g.Members[k].Profile)) }
	joint, isJoint := p.(GangPlacer)
	if isJoint {
		chosen, ok := joint.PlaceGang(c, g)
		switch {
		case !ok:
			return nil, nil
		case len(chosen) == len(g.Members):
			choose = func(k int) (Spot, bool) { return chosen[k], true }
		case len(chosen) > 0:
			return nil, &ChoiceError{fmt.Sprintf("request %d: %v has %d members; there are places for %d", i, g,
				len(g.Members), len(chosen))}
		}
	}
	v := &gangView{Gang: g}
	c.view = v
	defer func() { c.view = nil }()
	for k, m := range g.Members {
		v.next = k
		s, ok := choose(k)
		if !ok {
			removeInstances(e, q, spots)
			return nil, nil
		}
		window, why := c.windowAt(m.Profile, s)
		if why != "" {
			return nil, &ChoiceError{fmt.Sprintf("request %d: %v of %v (gang=%s) cannot be placed on GPU %d at slice "+
				"%d: %s", i, m, g, g.Where(), s.GPU, s.Start, why)}
		}
		e.set(s.GPU, c.Mask(s.GPU)|window)
		c.setMedia(s.GPU, m, true)
		v.gpu = s.GPU
		spots = append(spots, s)
	}
	return spots, nil
}

// Media reports whether the media extensions of a GPU are in use.
func (c *Cluster) Media(gpu int) bool { return c.media != nil && c.media[gpu] }

// setMedia records that the media extensions of a GPU are in use or free, if a member has them.
func (c *Cluster) setMedia(gpu int, m task.Member, used bool) {
	if m.Media {
		c.media[gpu] = used
	}
}

// index returns the index of a profile in [Cluster.Profiles]; -1 for another profile.
func (c *Cluster) index(p *mig.Profile) int { return slices.Index(c.profiles, p) }
