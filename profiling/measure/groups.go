package measure

import "gonum.org/v1/gonum/stat/combin"

// Combine returns the groups of as many kernels as each split has numbers of multiprocessors, with 0 for no limit. The
// first kernel has the first number. If there are more than most groups, it draws that many; 0 means all.
func Combine(names []string, splits [][]int, most int) []Group {
	var out []Group
	for _, split := range splits {
		for _, chosen := range choose(names, len(split)) {
			var g Group
			for i, name := range chosen {
				g = append(g, Part{name, split[i]})
			}
			out = append(out, g)
		}
	}
	if most > 0 && most < len(out) {
		cellStream("groups").Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:most]
	}
	return out
}

// choose returns the sets of a number of names. Two names may be the same one.
func choose(names []string, number int) (sets [][]string) {
	if number == 2 {
		for i, first := range names {
			for _, second := range names[i:] {
				sets = append(sets, []string{first, second})
			}
		}
		return sets
	}
	for _, indices := range combin.Combinations(len(names), number) {
		var set []string
		for _, i := range indices {
			set = append(set, names[i])
		}
		sets = append(sets, set)
	}
	return sets
}

// AloneToo puts before groups each of their jobs alone with the same number of multiprocessors, and with the whole
// GPU. The rows then show the cost of the limit and the cost of the others apart.
func AloneToo(groups []Group, whole int) []Group {
	var out []Group
	for _, g := range groups {
		if len(g) == 1 {
			continue
		}
		for _, p := range g {
			out = append(out, Group{p}, Group{{p.Kernel, whole}})
		}
	}
	return distinct(append(out, groups...))
}
