package far

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A contest compares schedulers of a track on the same data sets.
type contest struct {
	track      string
	parameters []string
	// instances is the number of instances of each data set.
	instances  int
	schedulers []string
}

// contests lists schedulers that can do any batch of 14 tasks. All batches of a stream are there at its beginning.
var contests = []contest{
	{algo.TrackBatch, nil, batchInstances, []string{
		"far", "treedp", "miso", "fixpartbest", "nomig", "agent", "rl-float", "rl-direct",
	}},
	{algo.TrackStream, []string{"batches=4"}, 20, []string{
		"far-concat", "lns-stream", "miso-online", "agent-stream", "rl-float-stream", "rl-direct-stream",
	}},
}

var (
	measuredData  = []string{"measured/train", "measured/infer", "measured/all"}
	syntheticData = []string{
		"drl/POORSCALING", "drl/MIXSCALINGUNIFORM", "drl/MIXSCALINGEXTREME", "drl/GOODSCALING", "drl/WIDETIMES",
	}
)

// batchInstances is the number of instances of each data set of batches.
const batchInstances = 50

func (c contest) series(name, scheduler string) store.Series {
	parameters := c.parameters
	if strings.HasPrefix(name, "measured/") {
		parameters = append([]string{"n=14"}, parameters...)
	}
	if len(parameters) > 0 {
		name += "?" + strings.Join(parameters, "&")
	}
	return figures.Series(c.track, figures.Dataset(name), "A100", algo.MustParse(scheduler).ID, mig.Sequential)
}

// valuesOf returns a metric by scheduler and instance.
func (c contest) valuesOf(d *figures.Data, name, gpu, metric string) [][]float64 {
	return figures.Map(c.schedulers, func(scheduler string) []float64 {
		s := c.series(name, scheduler)
		s.GPU = gpu
		return d.Values(s, c.instances, metric)
	})
}

// aboveLeast returns, by scheduler and instance, by how many percent values exceed the least one of an instance.
func aboveLeast(all [][]float64) [][]float64 {
	least := slices.Clone(all[0])
	for _, values := range all {
		for i, v := range values {
			least[i] = min(least[i], v)
		}
	}
	return figures.Map(all, func(values []float64) []float64 {
		return figures.Percent(figures.Ratios(values, least))
	})
}

// measured compares the schedulers on measured work and on the papers' workloads. It also compares FAR with the
// approaches of Table 5 on measured work.
func measured(d *figures.Data) {
	for _, c := range contests {
		above := map[string][][]float64{}
		for _, name := range slices.Concat(measuredData, syntheticData) {
			above[name] = aboveLeast(c.valuesOf(d, name, "A100", makespan))
		}
		c.table(d, above)
		c.rankings(d, above)
	}
	t := d.Table("measured-sigma", "sigma of the approaches of Table 5 on measured work",
		reports.Left("workload").PlusMinus("MISO-OPT", "FIXPARTBEST", "FIXPART(7)"),
		fmt.Sprintf("means of %d batches of 14 tasks; as in Table 5, only FAR pays for reconfigurations",
			batchInstances))
	values := d.Under("")
	for _, name := range measuredData {
		row := []any{name}
		ours := d.Values(contests[0].series(name, "far"), batchInstances, makespan)
		for _, a := range []approach{approaches[0], approaches[2], approaches[3]} { // all but FIXPART(1,...,1)
			s := contests[0].series(name, a.algorithm)
			s.Model = mig.Free.String()
			m := mean(d, figures.Ratios(d.Values(s, batchInstances, makespan), ours))
			values[claim.Cell{Row: name, Quantity: "sigma " + a.name}] = m
			row = append(row, figures.PlusMinus(m, 2))
		}
		t.Row(row...)
	}
}

// table shows by how much each scheduler is above the best one.
func (c contest) table(d *figures.Data, above map[string][][]float64) {
	t := d.Table("measured-"+c.track, "Mean makespan above the least of an instance [%], "+c.track+" track",
		reports.Left("workload").PlusMinus(c.schedulers...),
		fmt.Sprintf("%d instances of 14 tasks, or of 4 batches of 14, on one A100, ± half of the 95 %% interval; the "+
			"least makespan that one of these schedulers found", c.instances))
	for _, name := range slices.Concat(measuredData, syntheticData) {
		t.Row(name, figures.Map(above[name], func(values []float64) []string {
			return figures.PlusMinus(mean(d, values), 1)
		}))
	}
}

// rankings compares the order of the schedulers on synthetic work with their order on measured work.
func (c contest) rankings(d *figures.Data, above map[string][][]float64) {
	t := d.Table("measured-"+c.track+"-ranks",
		"Order of the schedulers on measured and on synthetic work, "+c.track+" track",
		reports.Left("workload", "measured work").Right("Kendall's tau", "tau, from", "tau, to").Left("change places"),
		"tau: 1 if both have the same order of means, -1 if the orders are opposite; from, to: 95 % interval, "+
			"instances drawn again",
		"change places: pairs of which one scheduler is ahead on the measured work and the other on the synthetic, "+
			"both in at least 97.5 % of the draws")
	if d.Planning() {
		return // without values there is no order
	}
	for name, work := range figures.Each(syntheticData, measuredData) {
		order := c.compare(above[name], above[work], name+" "+work)
		t.Row(name, work, reports.Cells(2, order.tau.value, order.tau.low, order.tau.high),
			strings.Join(order.swapped, "; "))
	}
}

// An order says how well the orders of schedulers on two data sets agree.
type order struct {
	// tau is Kendall's tau.
	tau spread
	// swapped lists the pairs of schedulers that change places.
	swapped []string
}

// compare compares the order of the schedulers on two data sets. For the intervals, it resamples the instances of both.
func (c contest) compare(a, b [][]float64, key string) order {
	rng := rand.New(datasets.Hashed([]byte("measured " + c.track + " " + key)))
	meansOf := func(values [][]float64, chosen []int) []float64 {
		return figures.Map(values, func(v []float64) float64 {
			sum := 0.0
			for _, i := range chosen {
				sum += v[i]
			}
			return sum / float64(len(chosen))
		})
	}
	draw := func(n int) []int {
		return figures.Map(make([]int, n), func(int) int { return rng.IntN(n) })
	}
	var inA, inB [][]float64 // means by draw and scheduler
	taus := make([]float64, resamples)
	for k := range taus {
		inA, inB = append(inA, meansOf(a, draw(len(a[0])))), append(inB, meansOf(b, draw(len(b[0]))))
		taus[k] = kendall(inA[k], inB[k])
	}
	mean := func(values [][]float64) []float64 { return figures.Map(values, stats.Mean) }
	out := order{tau: interval(kendall(mean(a), mean(b)), taus)}
	const sure = resamples * 95 / 100 // 97.5 % wins less 2.5 % losses; a tie is half of each
	for i, first := range c.schedulers {
		for j, second := range c.schedulers {
			if lead(inA, i, j) >= sure && lead(inB, j, i) >= sure {
				out.swapped = append(out.swapped, first+" and "+second)
			}
		}
	}
	return out
}

// lead returns in how many draws scheduler i has a lesser mean than scheduler j, less those with a greater one.
func lead(means [][]float64, i, j int) (n int) {
	for _, m := range means {
		n += cmp.Compare(m[j], m[i])
	}
	return n
}

// kendall returns the rank correlation tau-b of two lists of values.
func kendall(x, y []float64) float64 {
	agree, inX, inY := 0, 0, 0
	for i := range x {
		for j := range i {
			a, b := cmp.Compare(x[i], x[j]), cmp.Compare(y[i], y[j])
			agree += a * b
			inX += a * a
			inY += b * b
		}
	}
	if inX == 0 || inY == 0 {
		return 0
	}
	return float64(agree) / math.Sqrt(float64(inX)*float64(inY))
}

var (
	// energyData are measured work and a workload of the DRL paper.
	energyData = append(slices.Clone(measuredData), "drl/WIDETIMES")
	// idleWatts are two readings of an idle A100, and 0, with which only busy instances draw power.
	idleWatts = []float64{0, 45.9, 75.4}
)

// energies compares the order of the schedulers by energy with their order by makespan. Both are of the same schedules:
// a board of other idle watts draws the difference until the makespan.
func energies(d *figures.Data) {
	c := contests[0]
	t := d.Table("energy", "Mean energy above the least of an instance [%], by the power of an idle A100",
		reports.Left("workload").Right("idle [W]").Right(c.schedulers...).Right("tau", "changed"),
		fmt.Sprintf("%d batches of 14 tasks; the least energy that one of these schedulers found", c.instances),
		"busy instances of 1, 2 and 3 slices draw as measured, of 4 and 7 as assumed (harness/mig/power.json)",
		"tau: Kendall's between the orders by mean energy and by mean makespan, both above the least; changed: pairs "+
			"of which one is ahead by energy and the other by makespan, both in at least 97.5 % of the draws")
	changed := make([][]string, len(idleWatts))
	for _, name := range energyData {
		makespans := c.valuesOf(d, name, "A100?idle=0", makespan)
		busy := c.valuesOf(d, name, "A100?idle=0", "energy_j")
		if d.Planning() {
			continue
		}
		for k, idle := range idleWatts {
			above := aboveLeast(boardEnergies(busy, makespans, idle))
			means := figures.Map(above, func(v []float64) string { return reports.Fixed(mean(d, v).Value, 1) })
			order := c.compare(above, aboveLeast(makespans), fmt.Sprint(name, " energy ", idle))
			t.Row(name, reports.Fixed(idle, 1), means, reports.Fixed(order.tau.value, 2), len(order.swapped))
			changed[k] = append(changed[k], order.swapped...)
		}
	}
	for k, pairs := range changed {
		slices.Sort(pairs)
		t.Notes = append(t.Notes, fmt.Sprintf("changed on some workload with %v W: %s", idleWatts[k],
			cmp.Or(strings.Join(slices.Compact(pairs), "; "), "none")))
	}
}

// boardEnergies returns the energies, by scheduler and instance, of one board with the given idle watts.
func boardEnergies(busy, makespans [][]float64, idle float64) [][]float64 {
	out := make([][]float64, len(busy))
	for k, values := range busy {
		for i, joules := range values {
			out[k] = append(out[k], joules+float64(idle*makespans[k][i]))
		}
	}
	return out
}
