package bounds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// TestTiesOfChainOrders: what Exact certifies is verified where a task takes as long as two others on two instances, in
// decimals but not in binary.
func TestTiesOfChainOrders(t *testing.T) {
	for k := range 20 {
		r := rand.New(rand.NewPCG(5, uint64(k)))
		g := mig.MustLookup([]string{"A100", "H100"}[k%2])
		p := schedule.Problem{GPU: g}
		hundredths := func(most int) float64 { return float64(1+r.IntN(most)) / 100 }
		add := func(durations map[mig.Slices]mig.Seconds) {
			durations[7] = 20
			p.Tasks = append(p.Tasks, task.New(fmt.Sprint("task", len(p.Tasks)), durations))
		}
		round := func(x float64) mig.Seconds { return mig.Seconds(math.Round(100*x) / 100) }
		two, three, four := g.Profile(2), g.Profile(3), g.Profile(4)
		x3, y2, on4 := 2+hundredths(100), hundredths(12), 1+hundredths(100)
		x2 := round(x3 + y2 + float64(three.Create+three.Destroy))
		add(map[mig.Slices]mig.Seconds{2: x2, 3: mig.Seconds(x3)})
		add(map[mig.Slices]mig.Seconds{1: x2 - 1 + mig.Seconds(hundredths(50)/2), 2: mig.Seconds(y2)})
		for range 4 {
			add(map[mig.Slices]mig.Seconds{4: mig.Seconds(on4)})
		}
		beside := float64(four.Create+two.Create+x2+two.Destroy-three.Create) + 4*on4
		add(map[mig.Slices]mig.Seconds{3: round(beside - 0.15*r.Float64())})
		root := g.Tree()[0].Instance
		now := root.Profile.Create
		known := schedule.Schedule{GPU: g, Algorithm: "whole", Operations: []schedule.Operation{{Op: schedule.Create, Instance: root, End: now}}}
		for i := range p.Tasks {
			known.Placements = append(known.Placements, schedule.Placement{Task: i, Instance: root, Start: now, End: now + 20})
			now += 20
		}
		c, err := bounds.Exact(t.Context(), p, known)
		if err != nil {
			t.Fatal(err)
		}
		if err := certificate.Verify(p, c); err != nil {
			t.Errorf("%s, %d: %v", g, k, err)
		}
	}
}
