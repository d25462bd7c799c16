package mig

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
)

// A Partition is a set of disjoint instances of one GPU, by ascending start.
type Partition []Instance

// String returns the sizes from left to right, for example 4-2-1. An instance of another than the standard profile of
// its size has its profile's name.
func (p Partition) String() string {
	names := nearest.Names(p, func(in Instance) string {
		if in.Profile.Standard() {
			return strconv.Itoa(int(in.Size()))
		}
		return in.Profile.String()
	})
	return strings.Join(names, "-")
}

// Mask returns the memory slices that the partition occupies.
func (p Partition) Mask() Mask {
	var m Mask
	for _, in := range p {
		m |= in.Mask()
	}
	return m
}

// Partitions returns the maximal partitions of standard profiles, those to which no instance can be added. They are in
// descending lexicographic order of their sizes, which is the numbering of FAR Fig. 1. There are 19 on the 7-slice
// models, 5 on A30 and RTX-PRO-6000, and 3 on RTX-PRO-5000.
func (g *GPU) Partitions() []Partition { return g.partitions() }

// PartitionNames returns the names of the partitions that some model of this package's table has, sorted.
func PartitionNames() []string {
	var out []string
	for _, g := range models {
		out = append(out, nearest.Names(g.Partitions(), Partition.String)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NamesPartition reports whether a text can name a partition of a model: sizes joined by hyphens, with a sum of at
// most the largest size. A model may not have it, as 3-3-1 or 1-3-3; [GPU.ParsePartition] returns an error then.
func NamesPartition(text string) bool {
	left := columns[len(columns)-1]
	for _, size := range strings.Split(text, "-") {
		i := slices.IndexFunc(columns, func(s Slices) bool { return strconv.Itoa(int(s)) == size })
		if i < 0 || columns[i] > left {
			return false
		}
		left -= columns[i]
	}
	return true
}

// PartitionsOf returns the maximal partitions over the profiles that keep accepts, in descending lexicographic order of
// their sizes.
func (g *GPU) PartitionsOf(keep func(*Profile) bool) []Partition {
	var all []Instance
	for _, p := range g.Profiles {
		if !keep(p) {
			continue
		}
		for _, s := range p.Starts {
			all = append(all, Instance{p, s})
		}
	}
	var out []Partition
	var extend func(Partition)
	extend = func(chosen Partition) {
		maximal := true
		for _, in := range all {
			if g.fits(chosen, in) {
				maximal = false
				// Add instances from left to right, so that each set is found once.
				if len(chosen) == 0 || in.Start > chosen[len(chosen)-1].Start {
					extend(append(slices.Clone(chosen), in))
				}
			}
		}
		if maximal {
			out = append(out, chosen)
		}
	}
	extend(nil)
	slices.SortFunc(out, func(a, b Partition) int {
		return -slices.CompareFunc(a, b, func(x, y Instance) int {
			return cmp.Or(int(x.Size()-y.Size()), int(x.Profile.Length-y.Profile.Length))
		})
	})
	return out
}

// fits reports whether an instance can be added to the others.
func (g *GPU) fits(others Partition, in Instance) bool {
	same := 0
	for _, o := range others {
		if o.Overlaps(in) {
			return false
		}
		if o.Profile == in.Profile {
			same++
		}
	}
	return same < in.Profile.Max
}

// ParsePartition finds a maximal partition by its sizes, for example 4-2-1. The error is a [*nearest.UnknownError].
func (g *GPU) ParsePartition(s string) (Partition, error) {
	return nearest.Find("partition of "+g.Name, s, g.partitions(), Partition.String)
}

// ParseLayout reads the instances of a GPU: the names of their profiles joined by hyphens, as in
// 3g.20gb-1g.10gb-1g.10gb. Each begins at the first free start. They may leave slices free. A text without names is a
// partition; see [GPU.ParsePartition].
func (g *GPU) ParseLayout(s string) (Partition, error) {
	if !NamesProfiles(s) {
		return g.ParsePartition(s)
	}
	var out Partition
	for _, name := range strings.Split(strings.ReplaceAll(s, "-me", "\x00"), "-") { // -me ends a name
		p, err := g.ProfileByName(strings.ReplaceAll(name, "\x00", "-me"))
		if err != nil {
			return nil, err
		}
		free := slices.IndexFunc(p.Starts, func(start Slices) bool { return g.fits(out, Instance{p, start}) })
		if free < 0 {
			return nil, fmt.Errorf("%s cannot have the instances %s in this order", g.Name, s)
		}
		out = append(out, Instance{p, p.Starts[free]})
	}
	slices.SortFunc(out, func(a, b Instance) int { return cmp.Compare(a.Start, b.Start) })
	return out, nil
}

// NamesProfiles reports whether a text for [GPU.ParseLayout] has names of profiles, not the sizes of a partition.
func NamesProfiles(text string) bool { return strings.Contains(text, "g.") }
