package placement

import (
	"slices"

	"miglab/harness/mig"
)

// numbers are numbers of instances by profile. No model that NVIDIA sells has more profiles.
type numbers [16]int

func (a numbers) without(b numbers) numbers {
	for i := range a {
		a[i] = max(a[i]-b[i], 0)
	}
	return a
}

// count tells the free instances of a GPU from those in use.
func count(profiles []*mig.Profile, exist mig.Partition, occupied mig.Mask) (free, used numbers) {
	for _, in := range exist {
		p := slices.Index(profiles, in.Profile)
		if in.Mask()&occupied == 0 {
			free[p]++
		} else {
			used[p]++
		}
	}
	return free, used
}

// mostProvided returns the geometry that provides most of what is lacking and has the instances in use; false if there
// is none.
func mostProvided(geometries []numbers, free, used, lacking numbers) (best numbers, ok bool) {
	most := 0
	for _, geometry := range geometries {
		if used.without(geometry) != (numbers{}) {
			continue
		}
		provided := 0
		for p, fresh := range geometry.without(used) {
			if free[p] < lacking[p] {
				provided += min(fresh, lacking[p])
			}
		}
		if provided > most {
			most, best, ok = provided, geometry, true
		}
	}
	return best, ok
}

// arrange gives instances starts beside those in use; where not all have one, the later ones do without.
func arrange(want []*mig.Profile, used mig.Mask) (best mig.Partition) {
	if len(want) == 0 {
		return nil
	}
	for start, at := range (freeStarts{want[0], used}).all {
		made := append(arrange(want[1:], used|at), mig.Instance{Profile: want[0], Start: start})
		if len(made) > len(best) {
			best = made
		}
		if len(best) == len(want) {
			return best
		}
	}
	if best == nil {
		best = arrange(want[1:], used)
	}
	return best
}
