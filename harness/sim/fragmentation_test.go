package sim

import (
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// occupy returns the mask of some slices.
func occupy(at ...int) (m mig.Mask) {
	for _, i := range at {
		m |= 1 << i
	}
	return m
}

// reachableMasks returns the masks that instances make up, with every set of instances
// that does so.
func reachableMasks(g *mig.GPU) map[mig.Mask][][]mig.Instance {
	var all []mig.Instance
	for _, p := range task.RequestProfiles(g) {
		for _, s := range p.Starts {
			all = append(all, mig.Instance{Profile: p, Start: s})
		}
	}
	out := map[mig.Mask][][]mig.Instance{}
	var choose func(i int, m mig.Mask, chosen []mig.Instance)
	choose = func(i int, m mig.Mask, chosen []mig.Instance) {
		if i == len(all) {
			out[m] = append(out[m], append([]mig.Instance(nil), chosen...))
			return
		}
		choose(i+1, m, chosen)
		if in := all[i]; in.Mask()&m == 0 {
			choose(i+1, m|in.Mask(), append(chosen, in))
		}
	}
	choose(0, 0, nil)
	return out
}

func TestFragmentationOfTheWorkedExample(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for r, want := range map[Reading]int32{Literal: 23, Partial: 16, StartFree: 16} {
		if got := Fragmentation(g, r)[occupy(2, 3, 5)]; got != want {
			t.Errorf("%v: F({2,3,5}) = %d, want %d (MFI V-B)", r, got, want)
		}
	}
}

func TestFragmentationAgainstBruteForce(t *testing.T) {
	// Algorithm 1 word by word, over x_{m,i} of single slices.
	score := func(g *mig.GPU, x []int, r Reading) (f int32) {
		freeSlices := len(x)
		for _, v := range x {
			freeSlices -= v
		}
		for _, p := range g.Profiles {
			if p.MediaExtensions || int(p.Length) > freeSlices {
				continue
			}
			for _, i := range p.Starts {
				sum := 0
				for k := i; k < i+p.Length; k++ {
					sum += x[k]
				}
				lost := sum > 0
				switch r {
				case Partial:
					lost = sum > 0 && sum < int(p.Length)
				case StartFree:
					lost = sum > 0 && x[i] == 0
				}
				if lost {
					f += int32(p.Length)
				}
			}
		}
		return f
	}
	for _, g := range mig.GPUs() {
		masks := reachableMasks(g)
		want := map[mig.Slices]int{8: 192, 4: 16}[g.MemorySlices]
		if g.Name == "RTX-PRO-5000" { // nothing begins at its last slice
			want = 9
		}
		if len(masks) != want {
			t.Errorf("%s: %d masks are reachable, want %d", g, len(masks), want)
		}
		for m := range masks {
			x := make([]int, g.MemorySlices)
			for i := range x {
				x[i] = int(m >> i & 1)
			}
			for r := range readings {
				if got, want := Fragmentation(g, r)[m], score(g, x, r); got != want {
					t.Errorf("%s, %v: F(%08b) = %d, want %d", g, r, m, got, want)
				}
			}
		}
	}
}

// TestMasksSayAllThatFits checks what [Cluster] rests on: instances on disjoint memory
// slices never exceed a profile's Max, nor the compute slices.
func TestMasksSayAllThatFits(t *testing.T) {
	for _, g := range mig.GPUs() {
		for _, sets := range reachableMasks(g) {
			for _, set := range sets {
				var compute mig.Slices
				of := map[*mig.Profile]int{}
				for _, in := range set {
					compute += in.Size()
					of[in.Profile]++
				}
				for p, n := range of {
					if n > p.Max {
						t.Errorf("%s: %v holds %d of %v", g, set, n, p)
					}
				}
				if compute > g.ComputeSlices {
					t.Errorf("%s: %v needs %d compute slices", g, set, compute)
				}
			}
		}
	}
}
