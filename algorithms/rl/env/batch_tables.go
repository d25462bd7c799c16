package env

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
)

// batchTables are the canonical partitions of a GPU model and what lies between
// them and the real ones (DRL 4.1), worked out once. Slices are compute slices.
type batchTables struct {
	partitions []canonicalPartition
	// whole is the partition of one instance.
	whole int
	real  []realPartition
	// changed is, by current and target canonical partition, the set of slices whose
	// instances differ in size.
	changed [][]uint8
	// moves is what a reconfiguration does, by current real and target canonical
	// partition.
	moves [][]batchMove
	// compute is, by instance of the device, the set of its compute slices.
	compute []uint8
}

type canonicalPartition struct {
	// size is the instance size by slice, the vector of DRL Definition 1.
	size [8]int8
	// instances are sets of slices, from left to right.
	instances []uint8
	// sizes has bit s set if there is an instance of size s.
	sizes uint8
	// ofSize is, by size, the set of ordinals of its instances.
	ofSize [mig.MaxSize + 1]uint8
	// real is the number of the same partition among the real ones.
	real int
}

type realPartition struct {
	canonical int8
	// sigma is, by canonical slice, the real one.
	sigma [8]int8
	// device is, by ordinal in the canonical partition, the instance on the device.
	device [8]int8
	// at is, by real slice, the instance on the device.
	at [8]int8
}

type batchMove struct {
	// real is the real partition that it leads to.
	real int8
	// from is, by canonical slice afterwards, what it was before.
	from [8]int8
}

func newBatchTables(g *mig.GPU) *batchTables {
	t := &batchTables{}
	number := map[mig.Instance]int8{}
	for i, n := range g.Tree() {
		number[n.Instance] = int8(i)
		t.compute = append(t.compute, uint8(n.Mask()&(1<<g.ComputeSlices-1)))
	}
	useful := g.Useful()
	var vectors [][8]int8 // of real partitions
	for _, p := range useful {
		vectors = append(vectors, sizeVector(p))
	}
	var representatives []mig.Partition
	for c, class := range g.Classes() {
		p := newCanonicalPartition(class[0])
		p.real = slices.Index(vectors, p.size)
		if len(p.instances) == 1 {
			t.whole = c
		}
		t.partitions = append(t.partitions, p)
		representatives = append(representatives, class[0])
	}
	for _, p := range useful {
		representative, sigma, _ := g.Canonical(p)
		r := realPartition{}
		for s := range r.sigma {
			r.sigma[s] = int8(s)
		}
		for _, in := range p {
			for s := in.Start; s < in.Start+in.Size(); s++ {
				r.at[s] = number[in]
			}
		}
		for s, real := range sigma {
			r.sigma[s] = int8(real)
		}
		r.canonical = int8(slices.IndexFunc(representatives, func(q mig.Partition) bool { return slices.Equal(q, representative) }))
		for m, in := range representative {
			r.device[m] = r.at[r.sigma[in.Start]]
		}
		t.real = append(t.real, r)
	}
	for _, from := range t.partitions {
		changed := make([]uint8, len(t.partitions))
		for c := range t.partitions {
			for s := range from.size {
				if from.size[s] != t.partitions[c].size[s] {
					changed[c] |= 1 << s
				}
			}
		}
		t.changed = append(t.changed, changed)
	}
	for r := range t.real {
		moves := make([]batchMove, len(t.partitions))
		for c := range t.partitions {
			moves[c] = t.move(r, c, vectors)
		}
		t.moves = append(t.moves, moves)
	}
	return t
}

func sizeVector(p mig.Partition) (v [8]int8) {
	for _, in := range p {
		for s := in.Start; s < in.Start+in.Size(); s++ {
			v[s] = int8(in.Size())
		}
	}
	return v
}

func newCanonicalPartition(p mig.Partition) canonicalPartition {
	c := canonicalPartition{size: sizeVector(p)}
	for m, in := range p {
		c.instances = append(c.instances, uint8((1<<in.Size()-1)<<in.Start))
		c.sizes |= 1 << in.Size()
		c.ofSize[in.Size()] |= 1 << m
	}
	return c
}

// move works out the reconfiguration of a real partition to a canonical one.
func (t *batchTables) move(from, to int, vectors [][8]int8) batchMove {
	sigma := &t.real[from].sigma
	var size, canonical [8]int8 // by real slice: the target's, and the slice's old name
	for s, real := range sigma {
		size[real] = t.partitions[to].size[s]
		canonical[real] = int8(s)
	}
	real := slices.Index(vectors, size)
	if real < 0 {
		panic(fmt.Sprintf("env: a renaming leads to no partition, but to sizes %v", size)) // no renaming by Definition 1
	}
	m := batchMove{real: int8(real)}
	for s := range m.from {
		m.from[s] = canonical[t.real[real].sigma[s]]
	}
	return m
}
