package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/stat/combin"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling/kernels"
	"miglab/profiling/launch"
)

var _ = register(Command{
	Name: "corun", Noun: "groups", Kernels: true, Modes: []string{mig.SourcePartition},
	Short: "Measure kernels that share a GPU, for the co-run model",
	Plan: func(f *pflag.FlagSet) Planner {
		c := corunFlags{}
		f.StringSliceVar(&c.splits, "splits", []string{"64:64"},
			"numbers of multiprocessors of the jobs, joined by colons, or all for each")
		f.StringVar(&c.against, "against", "", "run each kernel beside this one at each intensity")
		f.IntSliceVar(&c.intensities, "intensities", []int{25, 50, 75, 100},
			"shares of the time in percent in which the other kernel runs")
		f.UintVar(&c.sample, "sample", 0, "draw so many of the groups; 0 means all")
		return c.plan
	},
})

// corunFlags say which kernels share a GPU.
type corunFlags struct {
	splits      []string
	against     string
	intensities []int
	sample      uint
}

// plan plans groups of kernels with the splits' numbers of multiprocessors.
func (c *corunFlags) plan(_ context.Context, b *Bench) (*Plan, error) {
	names := nearest.Names(b.Kernels, func(k launch.Kernel) string { return k.Name })
	all := b.Partitions.Multiprocessors()
	var splits [][]int
	most := len(names)
	if c.against != "" {
		most = 2
	}
	for _, text := range c.splits {
		split, err := parseSplit(text, all, most)
		if err != nil {
			return nil, err
		}
		splits = append(splits, split)
	}
	if c.against == "" {
		return Overlap(b, b.Partitions, AloneToo(Combine(names, splits, int(c.sample), b.Seed), all))
	}
	if _, err := kernels.Lookup(c.against); err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	for _, i := range c.intensities {
		if i < 1 || i > 100 {
			return nil, fmt.Errorf("--intensities %d: a share of the time is from 1 to 100 percent", i)
		}
	}
	return Overlap(b, b.Partitions, AloneToo(Against(names, c.against, c.intensities, splits), all))
}

// parseSplit reads the numbers of multiprocessors of a split for at most a number of kernels; 0 is no limit.
func parseSplit(split string, all, kernels int) ([]int, error) {
	var shares []int
	var err error
	sum := 0
	for field := range strings.SplitSeq(split, ":") {
		n := 0
		if field != datasets.All {
			var wrong error
			if n, wrong = strconv.Atoi(field); wrong != nil || n < 1 {
				err = cmp.Or(err, fmt.Errorf("%q is not a number of multiprocessors, nor %s", field, datasets.All))
			}
		}
		shares, sum = append(shares, n), sum+n
	}
	switch {
	case err != nil:
	case len(shares) < 2:
		err = errors.New("at least two numbers, joined by colons")
	case sum > 0 && slices.Contains(shares, 0):
		err = fmt.Errorf("give %s for each job or for none", datasets.All)
	case sum > all:
		err = fmt.Errorf("together %d multiprocessors, and the GPU has %d", sum, all)
	case len(shares) > kernels:
		err = fmt.Errorf("%d numbers for %d kernels", len(shares), kernels)
	default:
		return shares, nil
	}
	return nil, fmt.Errorf("--splits %s: %w", split, err)
}

// scalingFlags registers the flags of scaling, which measures each kernel alone on several numbers of multiprocessors.
func scalingFlags(f *pflag.FlagSet) Planner {
	counts := f.IntSlice("sms", nil, "numbers of multiprocessors (sm-partition; default: every eighth and all)")
	return func(_ context.Context, b *Bench) (*Plan, error) {
		all := b.Partitions.Multiprocessors()
		if len(*counts) == 0 {
			for n := 8; n < all; n += 8 {
				*counts = append(*counts, n)
			}
			*counts = append(*counts, all)
		}
		var groups []Group
		for _, n := range *counts {
			if n < 1 || n > all {
				return nil, fmt.Errorf("--sms %d: the GPU has %d multiprocessors", n, all)
			}
			for _, k := range b.Kernels {
				groups = append(groups, Group{{k.Name, 100, n}})
			}
		}
		return Overlap(b, b.Partitions, groups)
	}
}

// Combine returns the groups of as many kernels as each split has numbers of multiprocessors, with 0 for no limit.
// Pairs are also of a kernel beside itself. The first kernel has the first number. If there are more than most
// groups, it draws that many; 0 means all.
func Combine(names []string, splits [][]int, most int, seed uint64) []Group {
	var out []Group
	for _, split := range splits {
		n, again := len(names), 0
		if len(split) == 2 { // the second may be the first again
			n, again = n+1, 1
		}
		for _, chosen := range combin.Combinations(n, len(split)) {
			var g Group
			for i, k := range chosen {
				g = append(g, Part{names[k-i*again], 100, split[i]})
			}
			out = append(out, g)
		}
	}
	if most > 0 && most < len(out) {
		cellStream(seed, "groups").Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		out = out[:most]
	}
	return out
}

// Against returns a group of each kernel beside a partner at each intensity, for each split into two numbers of
// multiprocessors.
func Against(names []string, partner string, intensities []int, splits [][]int) []Group {
	var out []Group
	for _, split := range splits {
		for _, name := range names {
			for _, intensity := range intensities {
				out = append(out, Group{{name, 100, split[0]}, {partner, intensity, split[1]}})
			}
		}
	}
	return out
}

// AloneToo puts before groups each of their jobs alone with the same number of multiprocessors, and with the whole
// GPU. So what the limit costs and what the others cost come apart.
func AloneToo(groups []Group, whole int) []Group {
	var out []Group
	for _, g := range groups {
		if len(g) == 1 {
			continue
		}
		for _, p := range g {
			p.Intensity = 100
			out = append(out, Group{p}, Group{{p.Kernel, 100, whole}})
		}
	}
	return distinct(append(out, groups...))
}
