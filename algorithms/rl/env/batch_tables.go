package env

import (
	"cmp"
	"math/bits"
	"slices"

	"miglab/harness/mig"
)

// batchTables are the canonical partitions of a GPU model and the ways between them
// (DRL 4.1), computed once. Slices are compute slices.
type batchTables struct {
	// swaps generate the renamings of DRL Definition 1, the small ones first.
	swaps []swap
	// forms are the useful partitions.
	forms []sizeVector
	// canonical is, by form, its canonical partition.
	canonical  []int
	partitions []canonicalPartition
	// whole is the partition of one instance.
	whole int
	// ways are, by current and target canonical partition, the forms of the target's
	// class, in the order of fewest changes.
	ways [][][]way
	// instance[size][slice] is the number in GPU.Tree of the instance of that size over the slice; 0 where no useful
	// partition has one.
	instance [mig.MaxSize + 1][8]int8
}

// A sizeVector is a partition as Definition 1 writes it: for each slice, the size of the instance that covers it.
type sizeVector [8]int8

type canonicalPartition struct {
	form int
	// instances are sets of slices, from left to right.
	instances []uint8
	// sizes has bit s set if there is an instance of size s.
	sizes uint8
	// ofSize is, by size, the set of ordinals of its instances.
	ofSize [mig.MaxSize + 1]uint8
}

// A way is a partition to which a reconfiguration can lead.
type way struct {
	form int
	// changed is the set of slices whose instances differ in size.
	changed uint8
}

// newBatchTables returns the tables of a GPU model. Unmerged partitions are each the only one of their class,
// and no slice is renamed.
func newBatchTables(g *mig.GPU, unmerged bool) *batchTables {
	t, classes := &batchTables{swaps: newLayout(g).swaps}, g.Classes()
	if unmerged {
		t.swaps, classes = nil, slices.Collect(slices.Chunk(g.Useful(), 1))
	}
	number := map[mig.Instance]int8{}
	for i, n := range g.Tree() {
		number[n.Instance] = int8(i)
	}
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
					t.instance[in.Size()][s] = number[in]
				}
			}
			t.forms = append(t.forms, form)
			t.canonical = append(t.canonical, c)
		}
	}
	for _, from := range t.partitions {
		ways := make([][]way, len(t.partitions))
		for f, c := range t.canonical {
			ways[c] = append(ways[c], way{f, t.forms[from.form].differs(&t.forms[f])})
		}
		for c := range ways {
			slices.SortStableFunc(ways[c], func(a, b way) int {
				return cmp.Or(bits.OnesCount8(a.changed)-bits.OnesCount8(b.changed), int(a.changed)-int(b.changed))
			})
		}
		t.ways = append(t.ways, ways)
	}
	return t
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

func (v *sizeVector) differs(w *sizeVector) (changed uint8) {
	for s := range v {
		if v[s] != w[s] {
			changed |= 1 << s
		}
	}
	return changed
}
