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

// instancesOf returns the instance on which a sweep measures each size, by ascending size: at the
// first start of the profile. If only instances that exist are used, it leaves out the sizes that
// do not.
func instancesOf(s *session.Session) (all []mig.Instance, _ error) {
	id := s.Identity()
	for _, size := range id.Model.Sizes() {
		p := id.Model.Profile(size)
		starts := p.Starts
		if id.Existing {
			var err error
			if starts, err = s.Device().Placements(p); err != nil {
				return nil, err
			}
		}
		if len(starts) > 0 {
			all = append(all, mig.Instance{Profile: p, Start: starts[0]})
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("none of the instances that exist on %s has a profile that is measured; those are %v", id.UUID, standard(id.Model))
	}
	return all, nil
}

func standard(g *mig.GPU) (all []*mig.Profile) {
	for _, size := range g.Sizes() {
		all = append(all, g.Profile(size))
	}
	return all
}
