package placement

import (
	"slices"

	"miglab/harness/mig"
)

// counts holds a number of instances for each profile, by its index. No model that NVIDIA sells has more profiles.
type counts [16]int32

// without subtracts b from a, down to 0 at least.
func (a *counts) without(b *counts) (out counts) {
	for i := range a {
		out[i] = max(a[i]-b[i], 0)
	}
	return out
}

// countProfiles returns how many instances of each profile a partition has.
func countProfiles(profiles []*mig.Profile, partition mig.Partition) (out counts) {
	for _, in := range partition {
		out[slices.Index(profiles, in.Profile)]++
	}
	return out
}

// An option is a geometry that contains the instances in use, and the fresh instances that it adds to them.
type option struct{ geometry, fresh counts }

// listOptions lists the geometries that contain the instances in use. It skips geometries without fresh instances and
// geometries that never provide more than an earlier one.
func listOptions(geometries []counts, used counts) (out []option) {
	for _, geometry := range geometries {
		if used.without(&geometry) != (counts{}) {
			continue
		}
		fresh := geometry.without(&used)
		noMore := func(o option) bool { return fresh.without(&o.fresh) == (counts{}) }
		if fresh != (counts{}) && !slices.ContainsFunc(out, noMore) {
			out = append(out, option{geometry, fresh})
		}
	}
	return out
}

// bestOption returns the first option that provides the most lacking instances; nil if no option provides any. An
// option replaces the free instances of its GPU, so a lacking profile counts unless its free instances suffice.
func bestOption(options []option, free, lacking *counts) (best *option) {
	var useful counts
	for p, n := range lacking {
		if free[p] < n {
			useful[p] = n
		}
	}
	most := int32(0)
	for i := range options {
		provided := int32(0)
		for p, fresh := range options[i].fresh {
			provided += min(fresh, useful[p])
		}
		if provided > most {
			most, best = provided, &options[i]
		}
	}
	return best
}

// A placedInstance is an instance whose profile is an index.
type placedInstance struct {
	profile int
	start   mig.Slices
	mask    mig.Mask
}

// An arrangementKey has the arguments of a call of arrange.
type arrangementKey struct {
	want     counts
	occupied mig.Mask
}

// arrange gives instances of the wanted profiles, by index, starts on the free slices. It never skips an instance that
// has a free start; for the geometries of today's models this also places as many as possible. The instance that it
// places last comes first.
func arrange(profiles []*mig.Profile, want []int, occupied mig.Mask) (best []placedInstance) {
	if len(want) == 0 {
		return nil
	}
	for start, at := range (freeStarts{profiles[want[0]], occupied}).all {
		made := append(arrange(profiles, want[1:], occupied|at), placedInstance{want[0], start, at})
		if len(made) > len(best) {
			best = made
		}
		if len(best) == len(want) {
			return best
		}
	}
	if best == nil {
		best = arrange(profiles, want[1:], occupied)
	}
	return best
}
