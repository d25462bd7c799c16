package far

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A grid is one of Tables 4 to 9: the same quantities for each workload and number of tasks.
type grid struct {
	name string
	rows []workload
	// sizes are the numbers of tasks.
	sizes      []int
	quantities []string
	// procedures are the ways to make it. The first one is the default reading.
	procedures []procedure
}

// A measure returns the quantities of a cell in the order of the grid.
type measure func(d *figures.Data, w workload, n int) []figures.Measurement

// A procedure is one way to make a grid.
type procedure struct {
	// name is the reading's name.
	name    string
	measure measure
	// also returns further values for conclusions.csv; it may be nil.
	also func(*figures.Data) figures.Values
}

// cell returns the cell of a quantity for a workload and a number of tasks.
func cell(w workload, n int, quantity string) claim.Cell {
	return claim.Cell{Row: w.String(), Column: fmt.Sprintf("n=%d", n), Quantity: quantity}
}

func (g grid) printed(claims *claim.Set, w workload, n int, quantity string) float64 {
	return claims.Published(g.name, cell(w, n, quantity))
}

func (p procedure) String() string { return p.name }

func (s setting) String() string { return s.name }

func (c comparison) String() string { return c.name }

func (g grid) build(d *figures.Data) {
	procedures := g.procedures
	if d.DefaultAlone {
		procedures = procedures[:1]
	}
	for p, values := range figures.Under(d, procedures) {
		for w, n := range figures.Each(g.rows, g.sizes) {
			for i, m := range p.measure(d, w, n) {
				values[cell(w, n, g.quantities[i])] = m
			}
		}
		if p.also != nil && !d.DefaultAlone {
			maps.Copy(values, p.also(d))
		}
	}
	var columns []claim.Cell
	for n, q := range figures.Each(g.sizes, g.quantities) {
		columns = append(columns, claim.Cell{Column: fmt.Sprintf("n=%d", n), Quantity: q})
	}
	title := fmt.Sprintf("Table %s. %s", strings.TrimPrefix(g.name, "table"), d.Title)
	head := d.Table(g.name, title, reports.Left("workload"))
	d.Layout(head, figures.Map(g.rows, workload.String), columns, d.Readings[0])
}

// A variant is a named way to draw batches and to run FAR on them.
type variant[T any] struct {
	name string
	way  T
}

// memoryBoundShares are in percent. With 0 they give each number of memory-bound tasks that a size of two to six or of
// ten tasks can have.
var memoryBoundShares = strings.Fields("10 25 34 40 50 60 75 84 90 100")

// shares returns variants of the text and of the script with other shares of memory-bound tasks. The text with 50 % is
// a whole reading. of takes the generator's parameters.
func shares[T any](of func(parameters string, script bool) T) (out []variant[T]) {
	for _, psup := range memoryBoundShares {
		if psup != "50" {
			out = append(out, variant[T]{"text, p_sup = " + psup + " %", of("psup="+psup, false)})
		}
		out = append(out, variant[T]{"the script, p_sup = " + psup + " %", of("gen=released&psup="+psup, true)})
	}
	return out
}

// procedures returns a reading for each variant. The end of its name says how it measures.
func procedures[T any](all []variant[T], end string, of func(T) measure) []procedure {
	return figures.Map(all, func(v variant[T]) procedure {
		return procedure{name: strings.TrimPrefix(v.name+end, ", "), measure: of(v.way)}
	})
}

// A setting is a way to run FAR on batches of a generator.
type setting struct {
	// name is the reading's name, parameters are the generator's, and far is the variant of the algorithm.
	name, parameters, far string
	model                 mig.Reconfiguration
}

// settings are the readings of Table 4. The first one is the script inputs_config_task_size_test.
var settings = []setting{
	{"", "gen=released", "far?keep=last", mig.Sequential},
	{
		"the script of March 2024, FAR unrefined and without reconfiguration time",
		"gen=released", "far?refine=false", mig.Free,
	},
	{"text", "", "far", mig.Sequential},
	{"text, p_sup = 50 %", "psup=50", "far", mig.Sequential},
	{"text, p_sup = 50 %, released generator", "psup=50&gen=released", "far", mig.Sequential},
}

func (s setting) series(w workload, n int) store.Series {
	return batch(synthetic(w, n, s.parameters), s.far, s.model)
}

// rho measures Table 4 under the setting.
func (s setting) rho(d *figures.Data, w workload, n int) []figures.Measurement {
	return []figures.Measurement{mean(d, rho(d, s.series(w, n), executions))}
}

var table4 = grid{
	"table4", wide, allSizes,
	[]string{"rho"},
	slices.Concat(
		figures.Map(settings, func(s setting) procedure { return procedure{name: s.name, measure: s.rho} }),
		procedures(shares(refinerOf), "", func(r refiner) measure {
			return setting{"", r.parameters, r.refined, mig.Sequential}.rho
		}),
	),
}

// a30 measures the one number about A30. Neither its workload nor the shares of the sizes are printed.
func a30(d *figures.Data) {
	read := func(name string, w workload, s setting) {
		series := seriesOn("A30", 1, s.series(w, 10))
		d.Under(name)[claim.Of("rho n=10")] = mean(d, rho(d, series, executions))
	}
	mixed := workload{"MIXEDSCALING", "WIDETIMES"}
	read("", mixed, settings[0])
	read("text", mixed, settings[2])
	read("MIXEDSCALING, p_sup = 50 %", mixed, settings[3])
	for _, w := range workloads {
		if w != mixed {
			read(w.String(), w, settings[0])
		}
	}
}

// An approach is a column of Table 5.
type approach struct{ name, algorithm string }

var approaches = []approach{
	{"MISO-OPT", "miso"},
	{"FIXPART(1,...,1)", "fixpart"},
	{"FIXPARTBEST", "fixpartbest"},
	{"FIXPART(7)", "fixpart?p=7"},
}

// A comparison is one way to make Table 5. The approaches have no reconfiguration time in any
// of them (6.5.2: "despite the reconfiguration costs that such proposals do not need").
type comparison struct {
	// name is the reading's name, and parameters are the generator's.
	name, parameters string
	// miso and far are the variants of the two algorithms; model is FAR's.
	miso, far string
	model     mig.Reconfiguration
}

// of returns the series of an approach.
func (c comparison) of(a approach, data string) store.Series {
	if a.algorithm == "miso" {
		a.algorithm = c.miso
	}
	return batch(data, a.algorithm, mig.Free)
}

// sigmas measures the approaches on a GPU.
func (c comparison) sigmas(d *figures.Data, gpu, data string, as []approach, count int) []figures.Measurement {
	return figures.Map(as, func(a approach) figures.Measurement {
		sigmas := figures.Ratios(d.Values(seriesOn(gpu, 1, c.of(a, data)), count, makespan),
			d.Values(seriesOn(gpu, 1, batch(data, c.far, c.model)), count, makespan))
		return mean(d, sigmas)
	})
}

// sigma measures Table 5 by the comparison.
func (c comparison) sigma(d *figures.Data, w workload, n int) []figures.Measurement {
	return c.sigmas(d, "A100", synthetic(w, n, c.parameters), approaches, executions)
}

// further is the number of executions of other generators, and of the readings on other GPUs except the default.
const further = 300

// march is the script compare_size_test at commit 329d713 of March 2024.
var march = comparison{
	"", "psup=50&gen=released&leave=0.3", "miso?order=permute", "far?refine=false", mig.Free,
}

// comparisons are the readings of Table 5.
var comparisons = []comparison{
	march,
	{"the script, MISO-OPT in order of arrival", march.parameters, "miso", march.far, march.model},
	{"text", "", "miso", "far", mig.Sequential},
	{"text, p_sup = 50 %", "psup=50", "miso", "far", mig.Sequential},
	{
		"text, p_sup = 50 %, FAR unrefined and without reconfiguration time",
		"psup=50", "miso", march.far, march.model,
	},
}

var table5 = grid{
	"table5", workloads,
	[]int{15},
	figures.Map(approaches, func(a approach) string { return "sigma " + a.name }),
	append(
		figures.Map(comparisons, func(c comparison) procedure { return procedure{c.name, c.sigma, c.wider} }),
		march.memoryBound("75", "0.3"), march.memoryBound("100", "0.3"), march.memoryBound("75", "0"),
		march.memoryBound("100", "0"), march.memoryBound("63", "0.3"), march.memoryBound("88", "0.3"),
		march.memoryBound("63", "0"), march.memoryBound("88", "0"),
	),
}

// memoryBound returns a comparison with another share of memory-bound tasks, which leave with another probability.
func (c comparison) memoryBound(psup, leave string) procedure {
	c.parameters = fmt.Sprintf("psup=%s&gen=released&leave=%s", psup, leave)
	name := fmt.Sprintf("the script, p_sup = %s %%, leaving with %s", psup, leave)
	return procedure{name: name, measure: func(d *figures.Data, w workload, n int) []figures.Measurement {
		return c.sigmas(d, "A100", synthetic(w, n, c.parameters), approaches, further)
	}}
}

// A refiner is a variant of FAR on batches of a generator.
type refiner struct{ parameters, refined string }

func (r refiner) run(w workload, n int) longerRun {
	return longerRun{"table6", w.scaling, w.times, n, r.parameters, r.refined == "far?keep=last"}
}

// values returns, by execution, the gain of the refinement in percent, and its moves and swaps.
func (r refiner) values(d *figures.Data, w workload, n int) (gains, moves, swaps []float64) {
	data, count := synthetic(w, n, r.parameters), r.run(w, n).executions(executions)
	after, before := batch(data, r.refined, mig.Sequential), batch(data, "far?refine=false", mig.Sequential)
	return d.Above(before, after, count), d.Values(after, count, "moves"), d.Values(after, count, "swaps")
}

func (r refiner) means(d *figures.Data, w workload, n int) []figures.Measurement {
	gains, moves, swaps := r.values(d, w, n)
	return []figures.Measurement{mean(d, gains), mean(d, moves), mean(d, swaps)}
}

// refinerOf returns FAR as the script has it or as the text describes it.
func refinerOf(parameters string, script bool) refiner {
	if script {
		return refiner{parameters, "far?keep=last"}
	}
	return refiner{parameters, "far"}
}

// refiners are the ways to make Table 6. The first three, the script refinement_test and two of the text, are whole
// readings.
var refiners = append([]variant[refiner]{
	{"", refinerOf("gen=released", true)},
	{"text", refinerOf("", false)},
	{"text, p_sup = 50 %", refinerOf("psup=50", false)},
}, shares(refinerOf)...)

// operatedGain is like means, with p_ref as the mean of only those executions that have a move or swap.
func (r refiner) operatedGain(d *figures.Data, w workload, n int) []figures.Measurement {
	gains, moves, swaps := r.values(d, w, n)
	return []figures.Measurement{operated(d, gains, moves, swaps), mean(d, moves), mean(d, swaps)}
}

// operated returns the mean gain of the executions with a move or swap.
func operated(d *figures.Data, all, moves, swaps []float64) figures.Measurement {
	var gains []float64
	for i, gain := range all {
		if moves[i]+swaps[i] > 0 {
			gains = append(gains, gain)
		}
	}
	if len(gains) == 0 {
		gains = []float64{0} // a single value gives no verdict
	}
	return d.MeanOf(gains, verdict.Executions, len(gains))
}

// withOperation ends the names of readings that leave out the executions or pairs without a move or swap.
const withOperation = ", with an operation"

var table6 = grid{
	"table6", workloads, threeSizes,
	[]string{"p_ref", "moves", "swaps"},
	slices.Concat(
		figures.Map(refiners[:3], func(v variant[refiner]) procedure {
			return procedure{v.name, v.way.means, v.way.moreMoves}
		}),
		procedures(refiners[3:], "", func(r refiner) measure { return r.means }),
		procedures(refiners, withOperation, func(r refiner) measure { return r.operatedGain }),
	),
}

const (
	// scripted has the parameters with which far-concat repeats concat_test and multi_batch_test.
	scripted = "&iterations=20&keep=last&margin=shifted"
	// shifted is the metric with their makespan, in microseconds. They never reconfigure between two batches.
	shifted = "shifted_us"
)

// A joining is a way to join two batches of a generator. With script it is concat_test: a pair is a batch and its copy.
// Without script it is the text of 6.7.1: a pair is two successive batches, and in half of the pairs the first one is
// reversed.
type joining struct {
	generator string
	script    bool
	pairs     int
}

var copies, successive = joining{"gen=released", true, executions}, joining{"", false, executions}

func (j joining) run(w workload, n int) longerRun {
	return longerRun{"table7;table8", w.scaling, w.times, n, j.generator, j.script}
}

// longer returns the joining with as many pairs as its readings of a cell have.
func (j joining) longer(w workload, n int) joining {
	j.pairs = j.run(w, n).executions(j.pairs)
	return j
}

// values returns a metric by pair.
func (j joining) values(d *figures.Data, w workload, n int, mode, metric string) []float64 {
	data, parameters := synthetic(w, n, j.generator, "batches=2"), ""
	if j.script {
		data, parameters = synthetic(w, n, j.generator, "repeat=2"), scripted
	}
	first := func(of string) store.Series { return stream(data, "far-concat?mode="+mode+"&first="+of+parameters) }
	if mode == "trivial" || j.script { // trivial concatenation reverses no batch
		return d.Values(first("forward"), j.pairs, metric)
	}
	all := d.Scale.Replicates(j.pairs)
	return slices.Concat(d.Span(first("forward"), 0, all/2, metric),
		d.Span(first("reversed"), all/2, all-all/2, metric))
}

// makespans returns the makespans of the pairs in seconds.
func (j joining) makespans(d *figures.Data, w workload, n int, mode string) []float64 {
	if j.script {
		return inSeconds(j.values(d, w, n, mode, shifted))
	}
	return j.values(d, w, n, mode, makespan)
}

func inSeconds(microseconds []float64) []float64 {
	return figures.Map(microseconds, func(us float64) float64 { return us / 1e6 })
}

// gain returns, by pair, the improvement over trivial concatenation in percent.
func (j joining) gain(d *figures.Data, w workload, n int, mode string) []float64 {
	j = j.longer(w, n)
	return figures.Percent(figures.Ratios(j.makespans(d, w, n, "trivial"), j.makespans(d, w, n, mode)))
}

func (j joining) gains(d *figures.Data, w workload, n int) []figures.Measurement {
	return []figures.Measurement{mean(d, j.gain(d, w, n, "reverse")), mean(d, j.gain(d, w, n, "moveswap"))}
}

// operatedGains returns the gains with p_move/swap as the mean of the pairs with a move or swap alone.
func (j joining) operatedGains(d *figures.Data, w workload, n int) []figures.Measurement {
	const mode = "moveswap"
	j = j.longer(w, n)
	all, moves, swaps := j.gain(d, w, n, mode), j.values(d, w, n, mode, "moves"), j.values(d, w, n, mode, "swaps")
	return []figures.Measurement{mean(d, j.gain(d, w, n, "reverse")), operated(d, all, moves, swaps)}
}

func (j joining) operations(d *figures.Data, w workload, n int) []figures.Measurement {
	return figures.Map([]string{"moves", "swaps"}, func(metric string) figures.Measurement {
		return mean(d, j.longer(w, n).values(d, w, n, "moveswap", metric))
	})
}

// joinings are the ways to make Tables 7 and 8. The first three are whole readings; the last ones are the text's pairs
// of different batches by the script's generator.
var joinings = slices.Concat([]variant[joining]{
	{"", copies}, {"text", successive}, {"text, p_sup = 50 %", joining{"psup=50", false, executions}},
}, shares(func(psup string, script bool) joining { return joining{psup, script, further} }), []variant[joining]{
	{"text, released generator", joining{"gen=released", false, further}},
}, figures.Map(memoryBoundShares, func(psup string) variant[joining] {
	return variant[joining]{
		"text, released generator, p_sup = " + psup + " %", joining{"gen=released&psup=" + psup, false, further},
	}
}))

var table7 = grid{
	"table7", workloads, threeSizes,
	[]string{"p_rev", "p_move/swap"},
	slices.Concat(
		figures.Map(joinings[:3], func(v variant[joining]) procedure {
			return procedure{v.name, v.way.gains, v.way.measures}
		}),
		procedures(joinings[3:], "", func(j joining) measure { return j.gains }),
		procedures(joinings, withOperation, func(j joining) measure { return j.operatedGains }),
	),
}

// gainsOfJoining makes Table 7, and a table of what moves and swaps gain beyond reversing.
func gainsOfJoining(d *figures.Data) {
	if table7.build(d); d.DefaultAlone {
		return
	}
	t := d.Table("table7-beyond", "p_move/swap less p_rev [%], the gain of moves and swaps beyond reversing",
		reports.Left("workload").Right("n", "print").PlusMinus("script", "text", "text, p_sup = 50 %"),
		"±: half of the 95 % interval over the pairs")
	for w, n := range figures.Each(table7.rows, table7.sizes) {
		print := table7.printed(d.Claims, w, n, "p_move/swap") - table7.printed(d.Claims, w, n, "p_rev")
		t.Row(w, n, reports.Fixed(print, 2), figures.Map(joinings[:3], func(v variant[joining]) []string {
			return figures.PlusMinus(mean(d, v.way.beyondReversing(d, w, n)), 2)
		}))
	}
}

var table8 = grid{
	"table8", workloads, threeSizes,
	[]string{"moves", "swaps"},
	procedures(joinings, "", func(j joining) measure { return j.operations }),
}

var table9 = grid{
	"table9", wide, allSizes,
	[]string{"p_multi-batch"},
	[]procedure{
		{"", multiBatchTest, losses(multiBatchTest, perPair, perPair*100-100)},
		{"text", chainTest, losses(chainByParts, 1, 0)},
		{
			name: "text, percent of the area bound that is attained", // which 6.7.2 does not print
			measure: func(d *figures.Data, w workload, n int) []figures.Measurement {
				return []figures.Measurement{figures.Exactly(100 / rho(d, chain(d, w, n), 1)[0])}
			},
		},
	},
}

// narrowLess is a quantity that conclusions test: p_multi-batch with NARROWTIMES, which Table 9 leaves out, less that
// with WIDETIMES.
const narrowLess = "NARROWTIMES less WIDETIMES"

// manyBatches makes Table 9, and a table of how much NARROWTIMES differ.
func manyBatches(d *figures.Data) {
	if table9.build(d); d.DefaultAlone {
		return
	}
	t := d.Table("table9-narrow", "p_multi-batch [%] with NARROWTIMES less that with WIDETIMES",
		reports.Left("scaling").Right("n").PlusMinus("by the script", "by the text"),
		"±: half of the 95 % interval over pairs; the text has one chain of 1001 batches, whose interval is that of "+
			"ten chains of 100",
		"6.7.2 calls both similar and prints WIDETIMES alone")
	for w, n := range figures.Each(wide, allSizes) {
		at := cell(w, n, narrowLess)
		byScript, byText := d.Readings[0].Values[at], d.Readings[1].Values[at]
		t.Row(w.scaling, n, figures.PlusMinus(byScript, 2), figures.PlusMinus(byText, 2))
	}
}

// chained returns the batches of a chain: 1001, or few in a quick run.
func chained(s figures.Scale, w workload, n int, generator string) string {
	return synthetic(w, n, generator, fmt.Sprintf("batches=%d", s.Replicates(executions)+1))
}

func chain(d *figures.Data, w workload, n int) store.Series {
	return stream(chained(d.Scale, w, n, ""), "far-concat")
}

// chainByParts is [chainTest] with the interval of ten chains, which together are as long.
func chainByParts(d *figures.Data, w workload, n int) []figures.Measurement {
	const parts = 10
	data := synthetic(w, n, fmt.Sprintf("batches=%d", executions/parts))
	m := d.MeanOf(figures.Percent(rho(d, stream(data, "far-concat"), parts)), verdict.Draws, 0)
	return []figures.Measurement{m.Affine(1, chainTest(d, w, n)[0].Value-m.Value)}
}

// perPair turns the script's ratio, 1000 pairs over 1001 batches, into the ratio of a pair over its two batches.
const perPair = (executions + 1) / 2. / executions

// chainTest measures 6.7.2: the makespan of one chain.
func chainTest(d *figures.Data, w workload, n int) []figures.Measurement {
	return []figures.Measurement{figures.Exactly(figures.Percent(rho(d, chain(d, w, n), 1))[0])}
}

// multiBatchTest does what the script multi_batch_test does. It adds up the makespans of all consecutive pairs, so that
// inner batches count twice, and divides by the area bound, in which each batch counts once.
func multiBatchTest(d *figures.Data, w workload, n int) []figures.Measurement {
	pairs := inSeconds(d.Values(
		stream(synthetic(w, n, "gen=released&batches=2"), "far-concat?mode=moveswap"+scripted), executions, shifted))
	all := d.First(bound(chained(d.Scale, w, n, "gen=released"), "area", mig.Sequential), track.MetricBound)
	return []figures.Measurement{mean(d, figures.Map(pairs, func(m float64) float64 {
		return (m*float64(len(pairs))/all - 1) * 100
	}))}
}
