package sim

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
)

// TestClusterAgainstScan compares every query with a scan over the GPUs, across the
// sizes at which the trees of bits grow a level.
func TestClusterAgainstScan(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	rapid.Check(t, func(t *rapid.T) {
		gpus := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 4095, 4097}).Draw(t, "gpus")
		c, err := NewCluster(g, gpus)
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			gpu := rapid.IntRange(0, gpus-1).Draw(t, "gpu")
			c.set(gpu, mig.Mask(rapid.SampledFrom([]int{0, 1, 64, 128, 255}).Draw(t, "mask")))

			var s MaskSet
			for _, m := range rapid.SliceOfN(rapid.SampledFrom([]mig.Mask{0, 1, 64, 128, 255}), 1, 3).Draw(t, "set") {
				s.Add(m)
			}
			from := rapid.IntRange(0, gpus-1).Draw(t, "from")
			lowest, next, count := -1, -1, 0
			var occurs MaskSet
			for i := range gpus {
				m := c.Mask(i)
				occurs.Add(m)
				if s[m>>6]>>(m&63)&1 == 0 {
					continue
				}
				count++
				if lowest < 0 {
					lowest = i
				}
				if i >= from && next < 0 {
					next = i
				}
			}
			if next < 0 {
				next = lowest
			}
			if got, ok := c.Lowest(&s); ok != (lowest >= 0) || ok && got != lowest {
				t.Fatalf("Lowest = %d, %v; want %d", got, ok, lowest)
			}
			if got, ok := c.Next(&s, from); ok != (next >= 0) || ok && got != next {
				t.Fatalf("Next(%d) = %d, %v; want %d", from, got, ok, next)
			}
			if *c.Occurs() != occurs || s.Meets(c.Occurs()) != (count > 0) {
				t.Fatalf("Occurs = %v, want %v", *c.Occurs(), occurs)
			}
			total := 0
			for m := range Masks {
				if n := int(c.count[mig.Mask(m)]); s[m>>6]>>(m&63)&1 != 0 {
					total += n
				}
			}
			if total != count {
				t.Fatalf("the masks count %d GPUs, want %d", total, count)
			}
		}
	})
}

func TestClusterSizes(t *testing.T) {
	for _, gpus := range []int{-1, 0, maxGPUs + 1} {
		_, err := NewCluster(mig.MustLookup("A30"), gpus)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("a cluster cannot have %d GPUs", gpus)) {
			t.Errorf("NewCluster with %d GPUs: %v", gpus, err)
		}
	}
}
