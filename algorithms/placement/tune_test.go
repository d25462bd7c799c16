package placement

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/gocarina/gocsv"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var tuneFlag = flag.Bool("tune", false, "write value-table.csv again (ten minutes)")

// trainingSeed is the seed of the streams that value-table.csv is tuned on.
const trainingSeed = "2"

// A tuner climbs from a table to better ones.
type tuner struct {
	gpu     *mig.GPU
	streams []task.Requests
	// masks are those that occur.
	masks []mig.Mask
	rng   *rand.Rand
}

func newTuner(tb testing.TB, g *mig.GPU, instances int) *tuner {
	tb.Helper()
	u := &tuner{gpu: g, masks: reachable(g), rng: rand.New(rand.NewPCG(1, 2))}
	u.draw(tb, 0, instances)
	return u
}

// draw takes other training streams.
func (u *tuner) draw(tb testing.TB, first, instances int) {
	tb.Helper()
	u.streams = nil
	for _, name := range tableII {
		s := datasets.MustParse("mfi/" + name + "?lifespan=steady&seed=" + trainingSeed)
		for i := range instances {
			in, err := datasets.InstanceOf[task.Requests](s, u.gpu, first+i)
			if err != nil {
				tb.Fatal(err)
			}
			u.streams = append(u.streams, in)
		}
	}
}

// start returns the lost placements under equal demand, in thousandths of a slice.
func (u *tuner) start() *sim.Scores {
	n := len(u.streams[0].Demand)
	equal := make([]float64, n)
	for i := range equal {
		equal[i] = 1 / float64(n)
	}
	var out sim.Scores
	for m, v := range lostPlacements(u.gpu, equal) {
		out[m] = int32(math.Round(1000 * v))
	}
	return &out
}

// acceptance returns the mean acceptance in steady state.
func (u *tuner) acceptance(tb testing.TB, table *sim.Scores) float64 {
	tb.Helper()
	p := newTable(u.gpu, incrementRule(table))
	var sum float64
	for _, in := range u.streams {
		r, err := sim.RunPlacement(u.gpu, in.GPUs, in.Requests, p, sim.SteadyWindow, task.Migration{})
		if err != nil {
			tb.Fatal(err)
		}
		sum += float64(r.SteadyAccepted.Requests) / float64(r.SteadyArrived.Requests)
	}
	return sum / float64(len(u.streams))
}

// climb changes the table where that accepts more, and returns the acceptance.
func (u *tuner) climb(tb testing.TB, table *sim.Scores, steps int) float64 {
	tb.Helper()
	best := u.acceptance(tb, table)
	for range steps {
		m := u.masks[u.rng.IntN(len(u.masks))]
		before := table[m]
		table[m] += int32(math.Round(u.rng.NormFloat64() * math.Exp(math.Log(30)+u.rng.Float64()*math.Log(50))))
		if a := u.acceptance(tb, table); a > best {
			best = a
		} else {
			table[m] = before
		}
	}
	return best
}

// TestTunedTable checks that the tuner finds better tables, the same at every run.
// With -tune it writes value-table.csv.
func TestTunedTable(t *testing.T) {
	if *tuneFlag {
		writeTunedTables(t)
		return
	}
	var tables [2]sim.Scores
	for i := range tables {
		u := newTuner(t, mig.MustLookup("A30"), 1)
		tables[i] = *u.start()
		before := u.acceptance(t, &tables[i])
		if after := u.climb(t, &tables[i], 40); !(after > before) {
			t.Errorf("the tuner went from %v to %v", before, after)
		}
	}
	if tables[0] != tables[1] {
		t.Error("two runs of the tuner differ")
	}
}

func writeTunedTables(t *testing.T) {
	// Every round goes on from the last with other streams, so that no stream's
	// accidents are learned.
	const rounds, instances = 30, 24
	var rows []valueRow
	for _, name := range []string{"A30", "A100-80GB"} {
		g := mig.MustLookup(name)
		u := newTuner(t, g, instances)
		table := u.start()
		for round := range rounds {
			u.draw(t, round*instances, instances)
			before := u.acceptance(t, table)
			after := u.climb(t, table, 3*len(u.masks))
			t.Logf("%s round %d: %.5f -> %.5f", g, round, before, after)
		}
		for _, m := range u.masks {
			rows = append(rows, valueRow{g.MemorySlices, int(m), int(table[m])})
		}
	}
	text, err := gocsv.MarshalBytes(rows)
	if err == nil {
		err = os.WriteFile("value-table.csv", text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
