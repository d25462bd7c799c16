package env

import (
	"cmp"
	"math/bits"
	"slices"

	"miglab/harness/mig"
)

// batchTables holds the canonical partitions of a GPU model and the ways between them (DRL 4.1). Slices are compute
// slices.
type batchTables struct {
	swaps []swap       // generate the permutations sigma of DRL Definition 1, the small ones first
	forms []sizeVector // the useful partitions
	// canonical is, by form, the index of its canonical partition in partitions.
	canonical  []int
	partitions []canonicalPartition
	whole      int // the index of the partition of one instance
	// ways lists, by current and target canonical partition, the forms of the target's class, those that change the
	// fewest slices first.
	ways [][][]way
	// instance[size][slice] is the number in GPU.Tree of the instance of that size over the slice; 0 where no useful
	// partition has one.
	instance [mig.MaxSize + 1][8]int8
}

// A sizeVector is a partition as Definition 1 writes it: for each slice, the size of the instance that covers it.
type sizeVector [8]int8

// A canonicalPartition is the first partition of its class.
type canonicalPartition struct {
	form      int                    // the partition's index in forms
	instances []uint8                // sets of slices, from left to right
	sizes     uint8                  // bit s set if there is an instance of size s
	ofSize    [mig.MaxSize + 1]uint8 // by size, a set of indices in instances
}

// A way is a form to which a reconfiguration can lead.
type way struct {
	form    int
	changed uint8 // the set of slices whose instances differ in size
}

// newBatchTables returns the tables of a GPU model. If unmerged is set, each partition has a class of its own, and no
// slice is renamed.
func newBatchTables(g *mig.GPU, unmerged bool) *batchTables {
	t, classes := &batchTables{swaps: newLayout(g).swaps}, g.Classes()
	if unmerged {
		t.swaps, classes = nil, slices.Collect(slices.Chunk(g.Useful(), 1))
	}
	number := numberInstances(g)
	for c, class := range classes {
		for i, p := range class {
			if i == 0 {
				t.partitions = append(t.partitions, newCanonicalPartition(p, len(t.forms)))
			}
			if len(p) == 1 {
				t.whole = c
			}
			form := sizeVector{}
			for _, in := range p {
				for s := in.Start; s < in.Start+in.Size(); s++ {
					form[s] = int8(in.Size())
					t.instance[in.Size()][s] = int8(number[in])
				}
			}
			t.forms = append(t.forms, form)
			t.canonical = append(t.canonical, c)
		}
	}
	for _, from := range t.partitions {
		t.ways = append(t.ways, t.waysFrom(&t.forms[from.form]))
	}
	return t
}

// waysFrom returns the ways from a partition, by canonical partition.
func (t *batchTables) waysFrom(from *sizeVector) [][]way {
	ways := make([][]way, len(t.partitions))
	for form, c := range t.canonical {
		ways[c] = append(ways[c], way{form: form, changed: from.differs(&t.forms[form])})
	}
	for c := range ways {
		slices.SortStableFunc(ways[c], func(a, b way) int {
			return cmp.Or(bits.OnesCount8(a.changed)-bits.OnesCount8(b.changed), int(a.changed)-int(b.changed))
		})
	}
	return ways
}

func newCanonicalPartition(p mig.Partition, form int) canonicalPartition {
	c := canonicalPartition{form: form}
	for m, in := range p {
		c.instances = append(c.instances, uint8((1<<in.Size()-1)<<in.Start))
		c.sizes |= 1 << in.Size()
		c.ofSize[in.Size()] |= 1 << m
	}
	return c
}

// differs returns the set of slices in which two partitions differ.
func (v *sizeVector) differs(w *sizeVector) (changed uint8) {
	for s := range v {
		if v[s] != w[s] {
			changed |= 1 << s
		}
	}
	return changed
}
