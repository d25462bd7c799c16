package placement

import (
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// naiveMFI is MFI Algorithm 2 line by line: every GPU is visited, and F is computed
// every time by Algorithm 1.
type naiveMFI struct{ reading sim.Reading }

// score is MFI Algorithm 1.
func (n naiveMFI) score(g *mig.GPU, occupied mig.Mask) (f int) {
	for _, p := range g.Profiles {
		if p.MediaExtensions || p.Length > g.MemorySlices-occupied.Count() {
			continue
		}
		for _, i := range p.Starts {
			sum := mig.Slices(0)
			for k := i; k < i+p.Length; k++ {
				sum += mig.Slices(occupied >> k & 1)
			}
			switch n.reading {
			case sim.Literal:
				if sum > 0 {
					f += int(p.Length)
				}
			case sim.Partial:
				if sum > 0 && sum < p.Length {
					f += int(p.Length)
				}
			case sim.StartFree:
				if sum > 0 && occupied>>i&1 == 0 {
					f += int(p.Length)
				}
			}
		}
	}
	return f
}

func (n naiveMFI) Place(c *sim.Cluster, profile int) (best sim.Spot, ok bool) {
	p := c.Profiles()[profile]
	least := 0
	for m := range c.GPUs() {
		if p.Length > c.GPU().MemorySlices-c.Mask(m).Count() {
			continue
		}
		for _, i := range p.Starts {
			w := mig.Instance{Profile: p, Start: i}.Mask()
			if w&c.Mask(m) != 0 {
				continue
			}
			delta := n.score(c.GPU(), c.Mask(m)|w) - n.score(c.GPU(), c.Mask(m))
			if !ok || delta < least {
				best, least, ok = sim.Spot{GPU: m, Start: i}, delta, true
			}
		}
	}
	return best, ok
}

// both asks two schedulers, and goes on with the first one's answer.
type both struct {
	t       *testing.T
	grouped sim.Placer
	naive   naiveMFI
	asked   int
}

func (b *both) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	b.asked++
	g, ok := b.grouped.Place(c, profile)
	n, naiveOK := b.naive.Place(c, profile)
	if ok != naiveOK {
		b.t.Fatalf("decision %d: grouped accepts %v, naive %v", b.asked, ok, naiveOK)
	}
	if ok && g != n {
		b.t.Fatalf("decision %d: grouped chooses %+v, naive %+v", b.asked, g, n)
	}
	return g, ok
}

// TestGroupedMFIIsAlgorithm2 compares many decisions of MFI with Algorithm 2.
func TestGroupedMFIIsAlgorithm2(t *testing.T) {
	decisions := 0
	for i := 0; decisions < deep.N(50_000, 250_000); i++ {
		g := mig.GPUs()[i%len(mig.GPUs())]
		reading := sim.Reading(i % len(sim.ReadingNames()))
		spec := "mfi/" + tableII[i%4] + "?lifespan=steady&gpus=6&rho=1.3&seed=3"
		if i%5 == 0 {
			spec = "mfi/" + tableII[i/5%4] + "?lifespan=forever&gpus=20&load=120&seed=3"
		}
		in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(spec), g, i)
		if err != nil {
			t.Fatal(err)
		}
		p := newMFI(algo.Args{"f": reading.String()}, g)
		b := &both{t: t, grouped: p, naive: naiveMFI{reading}}
		if _, err := sim.RunPlacement(g, in.GPUs, in.Requests, b, sim.SteadyWindow, task.Migration{}); err != nil {
			t.Fatal(err)
		}
		decisions += b.asked
	}
}
