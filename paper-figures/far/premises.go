package far

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/stats"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// comparedSizes are the sizes on which all measured work was measured: MIGProfiler has no 4g.
var comparedSizes = []mig.Slices{1, 2, 3, 7}

// A sample is a list of tasks of one kind, measured or drawn.
type sample struct {
	name  string
	tasks task.Batch
	// groups has the group of each measured task, such as its network. Tasks of one group are not independent.
	groups []string
}

// measuredSamples returns the measured work of each kind, and all of it at the end.
func measuredSamples() []sample {
	out := []sample{{name: "training"}, {name: "inference"}, {name: "kernels"}, {name: "all measured work"}}
	kinds := []string{"train", "infer", "kernels"}
	for _, m := range datasets.MeasuredWork() {
		if m.GPU == "A30" {
			continue // it has no 7g
		}
		network, _, _ := strings.Cut(m.Name, "-")
		for _, s := range []*sample{&out[slices.Index(kinds, m.Work)], &out[len(kinds)]} {
			s.tasks, s.groups = append(s.tasks, m.Task), append(s.groups, network)
		}
	}
	return out
}

// The workloads of FAR 6.3 and DRL 5.1.3. Those of FAR with NARROWTIMES scale as those with WIDETIMES.
var (
	workloadsOfFAR = []string{"far/POORSCALING+WIDETIMES", "far/MIXEDSCALING+WIDETIMES", "far/GOODSCALING+WIDETIMES"}
	workloadsOfDRL = []string{
		"drl/POORSCALING", "drl/MIXSCALINGUNIFORM", "drl/MIXSCALINGEXTREME", "drl/GOODSCALING", "drl/WIDETIMES",
	}
)

// drawnSamples returns tasks of the workloads of FAR, and then of DRL.
func drawnSamples(d *figures.Data) (out []sample) {
	const batches = 100
	for _, name := range slices.Concat(workloadsOfFAR, workloadsOfDRL) {
		paper, workload, _ := strings.Cut(strings.TrimSuffix(name, "+WIDETIMES"), "/")
		s := sample{name: strings.ToUpper(paper) + " " + workload}
		for i := range d.Scale.Replicates(batches) {
			s.tasks = append(s.tasks, figures.Tasks(name, "A100", i)...)
		}
		out = append(out, s)
	}
	return out
}

// onAll returns the tasks of the sample that fit all compared sizes.
func (s sample) onAll() (out sample) {
	out.name = s.name
	for i, t := range s.tasks {
		if !slices.ContainsFunc(comparedSizes, func(size mig.Slices) bool { return !t.Fits(size) }) {
			out.tasks = append(out.tasks, t)
			if s.groups != nil {
				out.groups = append(out.groups, s.groups[i])
			}
		}
	}
	return out
}

// speedup returns how many times faster a task is on a size than on one slice.
func speedup(t *task.Task, size mig.Slices) float64 { return float64(t.On(1) / t.On(size)) }

// row returns the row of a sample in the table of premises.
func (s sample) row() []any {
	const superLinear, slower = 7 * 1.02, 1.02
	share := func(tasks task.Batch, is func(t *task.Task) bool) string {
		n := figures.Count(tasks, func(t task.Task) bool { return is(&t) })
		return reports.Fixed(100*float64(n)/float64(len(tasks)), 0)
	}
	fit := s.onAll().tasks
	median := spec.Must(stats.Quantile(figures.Map(fit, func(t task.Task) float64 { return speedup(&t, 7) }), 0.5))
	return []any{
		s.name, len(s.tasks),
		share(s.tasks, func(t *task.Task) bool { return !t.Fits(1) }), reports.Fixed(median, 2),
		share(fit, func(t *task.Task) bool { return speedup(t, 7) < 3.5 }),
		share(fit, func(t *task.Task) bool { return speedup(t, 7) >= 3.5 && speedup(t, 7) <= superLinear }),
		share(fit, func(t *task.Task) bool { return speedup(t, 7) > superLinear }),
		share(fit, func(t *task.Task) bool {
			for i, size := range comparedSizes[1:] {
				if float64(t.On(size)/t.On(comparedSizes[i])) > slower {
					return true
				}
			}
			return false
		}),
	}
}

// premises compares the scaling of the papers' tasks with the scaling of measured work.
func premises(d *figures.Data) {
	t := d.Table("premises", "How measured work and the papers' workloads scale",
		reports.Left("tasks").Right("settings or tasks", "do not fit one slice [%]", "median speed-up on 7 slices",
			"poor: below 3.5 [%]", "well: 3.5 to 7.14 [%]", "super-linear: above 7.14 [%]",
			"slower on more slices [%]"),
		"speed-up: over one slice, of the tasks that fit one; 7.14 is 2 % above linear",
		"slower: by more than 2 % on some size than on the next smaller one of 1, 2, 3 and 7 slices; 4 was not "+
			"measured for most of the work",
		"a setting is a network with a batch size and a sequence length, or a kernel; settings of one network are "+
			"not independent of one another")
	measured, drawn := measuredSamples(), drawnSamples(d)
	kinds := measured[:len(measured)-1]
	for _, s := range slices.Concat(measured, drawn) {
		t.Row(s.row()...)
	}
	for _, m := range kinds {
		d.Under("")[claim.Cell{Row: m.name, Quantity: slowest}] = figures.Exactly(m.mostSlowdown())
	}
	if d.Planning() {
		for _, w := range drawn {
			d.Under("")[claim.Cell{Row: w.name, Quantity: beyond}] = figures.Exactly(1)
		}
		return
	}
	d.Figure("premises", "Speed-up by slices of measured work and of the papers' workloads",
		curves(kinds, drawn[:len(workloadsOfFAR)]))
	measureDistances(d, []sample{measured[0], measured[1], measured[len(kinds)]}, drawn)
}

// curves draws quantiles of the speed-ups of samples, a panel each.
func curves(measured, drawn []sample) reports.Panels {
	out := reports.Panels{Title: "Speed-up of a tenth, half and nine tenths of the tasks", Columns: 3}
	for _, s := range slices.Concat(measured, drawn) {
		chart := reports.Lines{
			Title: fmt.Sprintf("%s, %d tasks", s.name, len(s.onAll().tasks)),
			X:     reports.Axis{Label: "Instance size [slices]", Ticks: []float64{1, 2, 3, 7}},
			Y:     reports.Axis{Label: "Speed-up", To: 10},
		}
		for _, q := range []float64{0.9, 0.5, 0.1} {
			line := reports.Series{Name: fmt.Sprintf("%.0f %%", q*100), Markers: true}
			for _, size := range comparedSizes {
				values := figures.Map(s.onAll().tasks, func(t task.Task) float64 { return speedup(&t, size) })
				line.X, line.Y = append(line.X, float64(size)), append(line.Y, spec.Must(stats.Quantile(values, q)))
			}
			chart.Series = append(chart.Series, line)
		}
		ends := []float64{1, 7}
		chart.Series = append(chart.Series, reports.Series{Name: "linear", X: ends, Y: ends, Reference: true})
		out.Charts = append(out.Charts, chart)
	}
	return out
}

// A point has the logarithms of a task's speed-ups on 2, 3 and 7 slices.
type point [3]float64

func (s sample) points() []point {
	return figures.Map(s.onAll().tasks, func(t task.Task) (p point) {
		for i, size := range comparedSizes[1:] {
			p[i] = portable.Log(speedup(&t, size))
		}
		return p
	})
}

func (p point) to(q point) float64 {
	return portable.Hypot(portable.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2])
}

// meanTo returns, for each point, its mean distance to others.
func meanTo(points, others []point) []float64 {
	return figures.Map(points, func(p point) float64 {
		return stats.Mean(figures.Map(others, func(q point) float64 { return p.to(q) }))
	})
}

// energyCoefficient compares two samples (Székely, Rizzo, Energy statistics, 2013): 0 if their distributions are
// equal, 1 at most. It takes the means of the distances between the samples and within each.
func energyCoefficient(between, first, second float64) float64 {
	if between == 0 {
		return 0
	}
	return max(0, (2*between-first-second)/(2*between))
}

// The quantities that conclusions test.
const (
	// slowest is by how many percent a task takes longer, at most, on a size than on the next smaller one.
	slowest = "slowdown with more slices"
	// beyond is a workload's distance from measured work, less the distance that 97.5 % of the random halves of
	// measured work do not exceed.
	beyond = "distance beyond that of halves"
)

// mostSlowdown returns by how many percent a task is slower, at most, on a size than on the next smaller one that was
// measured.
func (s sample) mostSlowdown() float64 {
	most := math.Inf(-1)
	for _, t := range s.tasks {
		before := mig.Seconds(math.Inf(1))
		for _, size := range a100.Sizes() {
			if t.Fits(size) {
				most, before = max(most, float64(t.On(size)/before-1)), t.On(size)
			}
		}
	}
	return 100 * most
}

// resamples is the number of bootstrap samples, and the number of random halves.
const resamples = 1000

// sampleDistances holds the distances of some tasks from measured work: training, inference and all of it.
type sampleDistances struct {
	name string
	from []spread
}

// measureDistances measures the distance of the workloads from measured work by the energy coefficient. For the
// intervals, whole networks are drawn again. The distance between random halves of the measured networks is the scale.
func measureDistances(d *figures.Data, against, drawn []sample) {
	all := figures.Map(drawn, func(w sample) sampleDistances {
		points := w.points()
		inner := stats.Mean(meanTo(points, points))
		return sampleDistances{w.name, figures.Map(against, func(m sample) spread {
			return m.distance(w.name, points, inner)
		})}
	})
	halves := sampleDistances{"half of the networks", figures.Map(against, sample.halves)}
	showDistances(d, append(slices.Clone(all), halves))
	last := len(against) - 1 // all measured work
	most := halves.from[last].high
	for _, w := range all {
		const normal = 1.96
		from := w.from[last]
		d.Under("")[claim.Cell{Row: w.name, Quantity: beyond}] = figures.Measurement{
			Value: from.value - most, Low: from.low - most, High: from.high - most,
			StdErr:     (from.high - from.low) / (2 * normal),
			Replicates: resamples, Unit: verdict.Draws,
		}
	}
}

// showDistances writes the table and the chart of distances.
func showDistances(d *figures.Data, all []sampleDistances) {
	t := d.Table("premises-distance", "How far the papers' workloads are from measured work",
		reports.Left("workload").Right("training", "training, from", "training, to", "inference", "inference, from",
			"inference, to", "all measured work", "all measured work, from", "all measured work, to"),
		"distance: the energy coefficient of the logarithms of the speed-ups on 2, 3 and 7 slices, 0 for equal "+
			"distributions and 1 at most; the tasks that fit one slice",
		"from, to: the 95 % interval if networks, with all their settings, are drawn again",
		"half of the networks: the distance from a random half of the measured networks to the other half, with the "+
			"range of 95 % of the halves; what is not farther than that is as near as measured work is to itself")
	chart := reports.Bars{
		Title:  "Distance from measured work (0: equal, 1: at most)",
		X:      reports.Axis{Label: "Workload"},
		Y:      reports.Axis{Label: "Energy coefficient"},
		Groups: []reports.BarGroup{{Name: "training"}, {Name: "inference"}, {Name: "all measured work"}},
	}
	for _, w := range all {
		row := []any{w.name}
		broken := strings.ReplaceAll(w.name, "SCALING", reports.MayBreak+"SCALING"+reports.MayBreak)
		chart.Categories = append(chart.Categories, broken)
		for i, c := range w.from {
			row = append(row, reports.Cells(2, c.value, c.low, c.high))
			chart.Groups[i].Add(c.value, c.low, c.high)
		}
		t.Row(row...)
	}
	d.Figure("premises-distance", chart.Title, chart)
}

// grouped returns the points of measured work, by group.
func (s sample) grouped() (groups [][]int, points []point) {
	fit := s.onAll()
	at := map[string]int{}
	for i, name := range fit.groups {
		k, ok := at[name]
		if !ok {
			k = len(groups)
			at[name], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return groups, fit.points()
}

// meanWithin returns the mean distance between the chosen points. apart has the distances of all points.
func meanWithin(apart [][]float64, chosen []int) (mean float64) {
	for _, i := range chosen {
		for _, j := range chosen {
			mean += apart[i][j] / float64(len(chosen)*len(chosen))
		}
	}
	return mean
}

// meanOf returns the mean of the chosen values.
func meanOf(values []float64, chosen []int) (mean float64) {
	for _, i := range chosen {
		mean += values[i] / float64(len(chosen))
	}
	return mean
}

func matrix(points []point) [][]float64 {
	return figures.Map(points, func(p point) []float64 {
		return figures.Map(points, func(q point) float64 { return p.to(q) })
	})
}

// A spread is a value with the ends of the middle 95 % of its resamples.
type spread struct{ value, low, high float64 }

func interval(value float64, again []float64) spread {
	return spread{value, spec.Must(stats.Quantile(again, 0.025)), spec.Must(stats.Quantile(again, 0.975))}
}

// distance returns the distance of measured work from the points of a workload with its interval.
func (s sample) distance(workload string, drawn []point, inner float64) spread {
	groups, points := s.grouped()
	apart, to := matrix(points), meanTo(points, drawn)
	all := make([]int, len(points))
	for i := range all {
		all[i] = i
	}
	distance := func(chosen []int) float64 {
		return energyCoefficient(meanOf(to, chosen), meanWithin(apart, chosen), inner)
	}
	rng := rand.New(datasets.Hashed([]byte("premises " + s.name + " " + workload)))
	again := make([]float64, resamples)
	for k := range again {
		var chosen []int
		for range groups {
			chosen = append(chosen, groups[rng.IntN(len(groups))]...)
		}
		again[k] = distance(chosen)
	}
	return interval(distance(all), again)
}

// halves returns the median distance between two random halves of the groups, with its range.
func (s sample) halves() spread {
	groups, points := s.grouped()
	apart := matrix(points)
	rng := rand.New(datasets.Hashed([]byte("premises halves " + s.name)))
	all := make([]float64, resamples)
	for k := range all {
		rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		a, b := slices.Concat(groups[:len(groups)/2]...), slices.Concat(groups[len(groups)/2:]...)
		to := make([]float64, len(points))
		for _, i := range a {
			for _, j := range b {
				to[i] += apart[i][j] / float64(len(b))
			}
		}
		all[k] = energyCoefficient(meanOf(to, a), meanWithin(apart, a), meanWithin(apart, b))
	}
	return interval(spec.Must(stats.Quantile(all, 0.5)), all)
}
