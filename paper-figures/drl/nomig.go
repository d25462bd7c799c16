package drl

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The kinds of speedup of 5.1.2.
const (
	superLinear = iota
	nearLinear
	subLinear
)

// A law is the generator of 5.1.2 with its constants. In the step from s to s+1 slices it multiplies a task's time by
// (s + r)/(s + 1). The drawn r is below 0 for super-linear speedup, near 0 for near-linear and near 1 for sub-linear.
type law struct {
	// means are the means of r by kind of speedup. Its deviations and limits follow from them.
	means [3]float64
	// leave is the probability with which a memory-bound task stops being so, after each super-linear step.
	leave float64
	// flat says that memory-bound tasks gain sub-linearly from 3 to 4 slices, as in the public code.
	flat bool
}

// printedLaw has the constants that 5.1.2 prints.
var printedLaw = law{means: [...]float64{superLinear: -0.25, nearLinear: 0.1, subLinear: 0.75}, leave: 0.3}

// laws combines constants around the printed ones in all ways.
func laws() (out []law) {
	for near, sub := range figures.Each([]float64{0, .1, .2, .3}, []float64{.25, .375, .5, .625, .75, .875, 1}) {
		for super, leave := range figures.Each([]float64{0, -.1, -.25, -.4}, []float64{0, .1, .3, 1}) {
			means := [...]float64{superLinear: super, nearLinear: near, subLinear: sub}
			out = append(out, law{means: means, leave: leave}, law{means: means, leave: leave, flat: true})
		}
	}
	return out
}

// drawR draws the r of a kind of speedup.
func (l law) drawR(kind int, rng *rand.Rand) float64 {
	mean, z := l.means[kind], portable.Normal(rng)
	switch kind {
	case superLinear:
		return min(max(mean+float64(0.25*z), -0.5), 0)
	case nearLinear:
		return min(max(mean+float64(mean*z), 0), float64(2*mean))
	}
	return min(max(mean+float64(0.25*z), mean-0.25), mean+0.25, 1)
}

// areas are the mean slice-seconds of tasks that take 1 s on one slice: on all slices, and on each task's best size.
type areas struct{ whole, least float64 }

// meanAreas draws tasks that scale well up to a size.
func (l law) meanAreas(size mig.Slices, memoryBound bool) (mean areas) {
	const drawn = 300
	rng, sizes := rand.New(rand.NewPCG(1, 1)), mig.MustLookup("A100").Sizes()
	for range drawn {
		time, least, bound := 1.0, 1.0, memoryBound
		for have := mig.Slices(1); have < mig.MaxSize; have++ {
			kind := nearLinear
			if bound {
				kind = superLinear
			}
			if have >= size || l.flat && have == 3 && bound {
				kind = subLinear
			}
			time *= (float64(have) + l.drawR(kind, rng)) / float64(have+1)
			if slices.Contains(sizes, have+1) {
				least = min(least, time*float64(have+1))
			}
			leaves := rng.Float64() < l.leave
			bound = bound && (kind != superLinear || !leaves)
		}
		mean.whole += time * float64(mig.MaxSize) / drawn
		mean.least += least / drawn
	}
	return mean
}

// noMIGWorkloads are the workloads of Table 4 with the shares of tasks that scale up to 1, 2, 3, 4 and 7 slices, and of
// memory-bound tasks. WIDETIMES differs from MIXSCALINGUNIFORM in the durations alone.
var noMIGWorkloads = []struct {
	name   string
	shares [5]float64
	psup   int // the share of memory-bound tasks, in quarters
}{
	{poorScaling, [...]float64{50, 50, 0, 0, 0}, 1},
	{goodScaling, [...]float64{0, 0, 0, 50, 50}, 3},
	{mixUniform, [...]float64{20, 20, 20, 20, 20}, 2},
	{mixExtreme, [...]float64{45, 5, 0, 5, 45}, 2},
	{wideTimes, [...]float64{20, 20, 20, 20, 20}, 2},
}

// A noMIGFit has the results of a law by workload.
type noMIGFit struct {
	law
	// quarters are p_sup in quarters.
	quarters []int
	// pOpt and off are in percent; off is how far the makespan is from the printed one.
	pOpt, off []float64
	// worst is the largest absolute off.
	worst float64
}

// fit compares a law with Table 4, with the printed p_sup or with the best one for each workload.
func (l law) fit(d *figures.Data, free bool) noMIGFit {
	var plain, bound [5]areas // by size, of tasks that are not memory-bound and of those that are
	for i, size := range mig.MustLookup("A100").Sizes() {
		plain[i], bound[i] = l.meanAreas(size, false), l.meanAreas(size, true)
	}
	f := noMIGFit{law: l}
	for _, w := range noMIGWorkloads {
		printed := 1 + printed4(d, generated(w.name), noMIG)/100
		pOpt, off, best := 0.0, math.Inf(1), 0
		for quarters := range 5 {
			mix := func(plain, bound float64) float64 {
				return float64(float64(4-quarters)*plain) + float64(float64(quarters)*bound)
			}
			var whole, least float64
			for i, share := range w.shares {
				whole += float64(share * mix(plain[i].whole, bound[i].whole))
				least += float64(share * mix(plain[i].least, bound[i].least))
			}
			by := (whole/least/printed - 1) * 100
			if (free || quarters == w.psup) && math.Abs(by) < math.Abs(off) {
				pOpt, off, best = (whole/least-1)*100, by, quarters
			}
		}
		f.quarters, f.pOpt, f.off = append(f.quarters, best), append(f.pOpt, pOpt), append(f.off, off)
		f.worst = max(f.worst, math.Abs(off))
	}
	return f
}

// nomig searches for a law that gives the numbers of NOMIG in Table 4, and for values of p_sup that bring all baselines
// near their printed numbers. NOMIG's numbers depend on the tasks and l_bound alone.
func nomig(d *figures.Data) {
	all := laws()
	nearest := func(free bool) noMIGFit {
		return slices.MinFunc(figures.Map(all, func(l law) noMIGFit { return l.fit(d, free) }),
			func(a, b noMIGFit) int { return cmp.Compare(a.worst, b.worst) })
	}
	if d.Planning() {
		all = all[:1]
	}
	text, fixed, free := printedLaw.fit(d, false), nearest(false), nearest(true)
	t := d.Table("nomig",
		"NOMIG of Table 4: p_opt [%] by 5.1.2, and by the law that comes nearest to print",
		reports.Left("workload").Right("published [%]", "5.1.2 gives [%]", "5.1.2 is off by [%]",
			"the nearest law with the printed p_sup gives [%]", "that law is off by [%]",
			"p_sup where it is free [%]", "the nearest law with a free p_sup gives [%]",
			"with a free p_sup it is off by [%]"),
		"NOMIG runs one task at a time on all slices, so that only the tasks and l_bound decide its number: the "+
			"mean time on 7 slices over a seventh of the mean least area of a task. Reconfigurations, which are "+
			"less than 1 % of both, are left out",
		fmt.Sprintf("tried: %d laws, which differ from 5.1.2 in the means of r, in the probability of leaving and in "+
			"the step from 3 to 4 slices; the shares p_s are as printed", len(all)),
		"off by: how far the makespan is from the printed one; the nearest law is that with the least deviation on "+
			"the worst of the five workloads",
		fmt.Sprintf("with the printed p_sup: r has the means %v (super-linear, near-linear, sub-linear), a task "+
			"leaves with %v, and gains sub-linearly from 3 to 4 slices: %v", fixed.means, fixed.leave, fixed.flat),
		fmt.Sprintf("with the best of 0, 25, 50, 75 and 100 %% for each workload: means %v, leaving with %v, "+
			"sub-linearly from 3 to 4 slices: %v", free.means, free.leave, free.flat))
	for i, w := range noMIGWorkloads {
		t.RowAbout(claim.Selection{Row: w.name}, "", w.name, reports.Cells(1, printed4(d, generated(w.name), noMIG),
			text.pOpt[i], text.off[i], fixed.pOpt[i], fixed.off[i]), free.quarters[i]*25,
			reports.Cells(1, free.pOpt[i], free.off[i]))
	}
	classByClass := []reading{readings[byScript], readings[byScriptAll]}
	approachShares(d, "nomig-shares", approaches[:4], classByClass, replicates)
	approachShares(d, "nomig-generators", approaches[:4], []reading{readings[byPrint], readings[byTraining]}, 100)
	approachShares(d, "nomig-runs", agents, append(classByClass, readings[byPrint]), agentSets)
	onlineShares(d)
}

// shares are the values of p_sup that are tried, in percent.
var shares = []int{0, 25, 50, 75, 100}

// agentSets is the number of data sets on which they are tried for agents.
const agentSets = 10

// withShare returns the reading on the first data sets, with another p_sup in percent.
func (r reading) withShare(psup, sets int) *reading {
	r.parameters = strings.TrimPrefix(fmt.Sprintf("%s&psup=%d", r.parameters, psup), "&")
	r.alike, r.datasets = false, sets
	return &r
}

// approachShares shows approaches with each p_sup, agents by the mean over their training runs.
func approachShares(d *figures.Data, file string, as []approach, generators []reading, sets int) {
	t := d.Table(file, "Approaches of Table 4: p_opt [%] with each p_sup",
		reports.Left("workload", "generator").Right("p_sup [%]").PlusMinus(namesOf(as)...),
		fmt.Sprintf("%d data sets, %d for FIXBEST; full batches, if the reading is not all batches; ±: half of the "+
			"95 %% interval, of an agent over its training runs, which learned with the printed p_sup", sets,
			partitioned),
		"the p_sup that 5.1.3 prints: 25 % for POORSCALING, 75 % for GOODSCALING and 50 % for the others")
	for w, g := range figures.Each(synthetic, generators) {
		row := func(share any, cells func(approach) []string) {
			name := cmp.Or(g.name, "create_dataset.py")
			t.RowAbout(claim.Selection{Row: w.name}, fmt.Sprintf("%s, p_sup %v", name, share), w, name, share,
				figures.Map(as, cells))
		}
		for _, share := range shares {
			r := g.withShare(share, sets)
			row(share, func(a approach) []string { return figures.PlusMinus(a.measure(d, w, r), 1) })
		}
		row("published", func(a approach) []string { return []string{reports.Fixed(printed4(d, w, a), 1), ""} })
	}
}

// onlineShares shows the first training run of the online agent on data sets with each p_sup, as in Table 5.
func onlineShares(d *figures.Data) {
	t := d.Table("nomig-online", "MISO and FAR over the online agent of Table 5 with each p_sup [%]",
		reports.Left("workload", "generator").Right("p_sup [%]", "MISO over online", "FAR over online"),
		fmt.Sprintf("the first training run, which learned with the printed p_sup, on %d data sets", agentSets))
	for w, generator := range figures.Each(synthetic, []reading{readings[byScript], readings[byPrint]}) {
		row := func(share any, over func(queued) float64) {
			name := cmp.Or(generator.name, "create_dataset.py")
			t.RowAbout(claim.Selection{Row: w.name}, fmt.Sprintf("%s, p_sup %v", name, share), w, name, share,
				reports.Fixed(over(queuedMISO), 1), reports.Fixed(over(queuedFAR), 1))
		}
		for _, share := range shares {
			r := generator.withShare(share, agentSets)
			row(share, func(q queued) float64 {
				own := r.queue(w, algo.TrackStream, online.one(w))
				return figures.Mean(d.Above(r.queue(w, q.track, q.algorithm), own, agentSets))
			})
		}
		row("published", func(q queued) float64 {
			return d.Claims.Published("table5", claim.Cell{Row: w.name, Column: q.name})
		})
	}
}
