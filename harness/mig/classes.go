package mig

import "slices"

// symmetry holds the equivalence classes of Definition 1 of the DRL paper for a GPU.
type symmetry struct {
	useful []Partition
	// canonical[i] is the index in useful of the representative of useful[i].
	canonical []int
}

var symmetries = Derived(findSymmetry)

// Useful returns the maximal partitions that use every compute slice. The DRL paper drops those with 3 slices at 0,
// in which slice 3 is idle. There are 16 on the 7-slice models and 5 on A30.
func (g *GPU) Useful() []Partition { return symmetries(g).useful }

// Classes returns the equivalence classes of the useful partitions (DRL Definition 1): 13 on the 7-slice models and 4
// on A30. The first partition of each is the canonical representative, which is the lexicographically highest.
func (g *GPU) Classes() [][]Partition {
	s := symmetries(g)
	var out [][]Partition
	index := map[int]int{}
	for i, p := range s.useful {
		c := s.canonical[i]
		if _, ok := index[c]; !ok {
			index[c] = len(out)
			out = append(out, nil)
		}
		out[index[c]] = append(out[index[c]], p)
	}
	return out
}

// sizePerSlice returns the vector (c_1, ..., c_K) of DRL Definition 1: the size of each slice's instance.
func sizePerSlice(g *GPU, p Partition) string {
	vector := make([]byte, g.ComputeSlices)
	for _, in := range p {
		for i := range in.Size() {
			vector[in.Start+i] = byte(in.Size())
		}
	}
	return string(vector)
}

// findSymmetry tries all permutations of the slices. One counts if it renames every useful partition to a useful one.
func findSymmetry(g *GPU) *symmetry {
	var s symmetry
	index := map[string]int{} // the index in useful of a vector
	for _, p := range g.partitions() {
		var used Slices
		for _, in := range p {
			used += in.Size()
		}
		if used == g.ComputeSlices {
			index[sizePerSlice(g, p)] = len(s.useful)
			s.useful = append(s.useful, p)
		}
	}
	vectors := make([]string, len(s.useful))
	s.canonical = make([]int, len(s.useful))
	for i, p := range s.useful {
		vectors[i] = sizePerSlice(g, p)
		s.canonical[i] = i
	}
	image := make([]int, len(s.useful)) // image[i] is the index of useful[i] after renaming
	renamed := make([]byte, g.ComputeSlices)
	permutations(nil, int(g.ComputeSlices), func(sigma []int) {
		for i, v := range vectors {
			for k := range renamed {
				renamed[k] = v[sigma[k]]
			}
			j, ok := index[string(renamed)]
			if !ok {
				return // A partition becomes impossible: condition 2 fails.
			}
			image[i] = j
		}
		for i, j := range image {
			// Partitions are in descending order: the lowest index has the highest value.
			s.canonical[i] = min(j, s.canonical[i])
		}
	})
	return &s
}

// permutations calls visit with every permutation of 0..n-1 that begins with p. It reuses the slice.
func permutations(p []int, n int, visit func([]int)) {
	if len(p) == n {
		visit(p)
		return
	}
	for i := range n {
		if !slices.Contains(p, i) {
			permutations(append(p, i), n, visit)
		}
	}
}
