package measure

import (
	"fmt"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/session"
)

// The modes of rows under MIG: whether the program made the instance.
const (
	created  = "created"
	existing = "existing"
)

// modeOf is the mode of a GPU; empty without MIG.
func modeOf(id profiling.Identity) string {
	switch {
	case id.Source != profiling.MIG:
		return ""
	case id.Existing:
		return existing
	}
	return created
}

// instancesOf returns the sizes that a sweep measures, ascending, and the instance of each: at the
// first start of the profile. If only instances that exist are used, it leaves out the sizes that
// do not.
func instancesOf(s *session.Session) (sizes []mig.Slices, at map[mig.Slices]mig.Instance, _ error) {
	at = map[mig.Slices]mig.Instance{}
	id := s.Identity()
	for _, size := range id.Model.Sizes() {
		p := id.Model.Profile(size)
		starts := p.Starts
		if id.Existing {
			var err error
			if starts, err = s.Device().Placements(p); err != nil {
				return nil, nil, err
			}
		}
		if len(starts) > 0 {
			sizes = append(sizes, size)
			at[size] = mig.Instance{Profile: p, Start: starts[0]}
		}
	}
	if len(sizes) == 0 {
		return nil, nil, fmt.Errorf("none of the instances that exist on %s has a profile that is measured; those are %v",
			id.UUID, standard(id.Model))
	}
	return sizes, at, nil
}

func standard(g *mig.GPU) (all []*mig.Profile) {
	for _, size := range g.Sizes() {
		all = append(all, g.Profile(size))
	}
	return all
}
