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

// A law is the generator of 5.1.2 with other constants.
type law struct {
	// means are the means of r by kind of speedup. The deviations and the limits of r follow from them; see r.
	means [3]float64
	// leave is the probability with which a memory-bound task stops being so, after each super-linear step.
	leave float64
	// flat says that memory-bound tasks gain sub-linearly from 3 to 4 slices, as in the public code.
	flat bool
}

// printedLaw is 5.1.2 word by word.
var printedLaw = law{[...]float64{-0.25, 0.1, 0.75}, 0.3, false}

// laws combines constants around the printed ones in all ways.
func laws() (out []law) {
	for near, sub := range figures.Each([]float64{0, .1, .2, .3}, []float64{.25, .375, .5, .625, .75, .875, 1}) {
		for super, leave := range figures.Each([]float64{0, -.1, -.25, -.4}, []float64{0, .1, .3, 1}) {
			means := [...]float64{super, near, sub}
			out = append(out, law{means, leave, false}, law{means, leave, true})
		}
	}
	return out
}

// r draws the r of 5.1.2.
func (l law) r(kind int, rng *rand.Rand) float64 {
	mean, z := l.means[kind], portable.Normal(rng)
	switch kind {
	case superLinear:
		return min(max(mean+float64(0.25*z), -0.5), 0)
	case nearLinear:
		return min(max(mean+float64(mean*z), 0), float64(2*mean))
	}
	return min(max(mean+float64(0.25*z), mean-0.25), mean+0.25, 1)
}

// areas are slice-seconds of tasks that take 1 s on one slice: on all slices, and on the size where they are least.
type areas struct{ whole, least float64 }

// mean returns the mean areas of tasks that scale well up to a size.
func (l law) mean(size mig.Slices, memoryBound bool) (sum areas) {
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
			time *= (float64(have) + l.r(kind, rng)) / float64(have+1)
			if slices.Contains(sizes, have+1) {
				least = min(least, time*float64(have+1))
			}
			leaves := rng.Float64() < l.leave
			bound = bound && (kind != superLinear || !leaves)
		}
		sum.whole += time * float64(mig.MaxSize) / drawn
		sum.least += least / drawn
	}
	return sum
}

// noMIGWorkloads are the workloads of Table 4 with the shares of tasks that scale up to 1, 2, 3, 4 and 7 slices, and of
// memory-bound tasks. WIDETIMES differs from MIXSCALINGUNIFORM in the durations alone.
var noMIGWorkloads = []struct {
	name   string
	shares [5]float64
	psup   int
}{
	{poorScaling, [...]float64{50, 50, 0, 0, 0}, 1},
	{goodScaling, [...]float64{0, 0, 0, 50, 50}, 3},
	{mixUniform, [...]float64{20, 20, 20, 20, 20}, 2},
	{mixExtreme, [...]float64{45, 5, 0, 5, 45}, 2},
	{wideTimes, [...]float64{20, 20, 20, 20, 20}, 2},
}

// A noMIGFit has the results of a law by workload: p_sup in quarters, p_opt, and how far the makespan is from print in
// percent; worst is the largest.
type noMIGFit struct {
	law
	psup       []int
	value, off []float64
	worst      float64
}

// fit compares a law with Table 4, with the printed p_sup or with the best one for each workload.
func (l law) fit(d *figures.Data, free bool) noMIGFit {
	var by [5][2]areas
	for i, size := range mig.MustLookup("A100").Sizes() {
		by[i] = [...]areas{l.mean(size, false), l.mean(size, true)}
	}
	f := noMIGFit{law: l}
	for _, w := range noMIGWorkloads {
		value, off, at := 0.0, math.Inf(1), 0
		for q := range 5 {
			var whole, least float64
			for i, share := range w.shares {
				whole += float64(share * (float64(float64(4-q)*by[i][0].whole) + float64(float64(q)*by[i][1].whole)))
				least += float64(share * (float64(float64(4-q)*by[i][0].least) + float64(float64(q)*by[i][1].least)))
			}
			o := (whole/least/(1+printed4(d, generated(w.name), noMIG)/100) - 1) * 100
			if (free || q == w.psup) && math.Abs(o) < math.Abs(off) {
				value, off, at = (whole/least-1)*100, o, q
			}
		}
		f.psup, f.value, f.off = append(f.psup, at), append(f.value, value), append(f.off, off)
		f.worst = max(f.worst, math.Abs(off))
	}
	return f
}

// nomig looks for a law that gives the numbers of NOMIG in Table 4, which only the tasks and l_bound decide, and for
// shares of memory-bound tasks with which all baselines come near print.
func nomig(d *figures.Data) (*figures.Output, error) {
	all := laws()
	nearest := func(free bool) noMIGFit {
		return slices.MinFunc(figures.Map(all, func(l law) noMIGFit { return l.fit(d, free) }),
			func(a, b noMIGFit) int { return cmp.Compare(a.worst, b.worst) })
	}
	if d.Planning() {
		all = all[:1]
	}
	text, fixed, free := printedLaw.fit(d, false), nearest(false), nearest(true)
	t := figures.NewTable("nomig",
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
		t.RowAbout(about(w.name, ""), w.name, reports.Cells(1, printed4(d, generated(w.name), noMIG),
			text.value[i], text.off[i], fixed.value[i], fixed.off[i]), free.psup[i]*25,
			reports.Cells(1, free.value[i], free.off[i]))
	}
	return new(figures.Output).Table(t, freeShares(d), sharesOfAgents(d)), nil
}

// shares are the values of p_sup that are tried, in percent, on the first data sets: fewer for the baselines, of which
// FIXBEST takes 16 partitions of 7 batches.
var shares = []int{0, 25, 50, 75, 100}

const shareSets, baselineSets = 10, 4

// withShare returns the reading on data sets with another p_sup.
func (r reading) withShare(psup, sets int) *reading {
	r.parameters = strings.TrimPrefix(fmt.Sprintf("%s&psup=%d", r.parameters, psup), "&")
	r.alike, r.datasets = false, sets
	return &r
}

// freeShares compares the baselines of Table 4 with print, under each generator with the p_sup with which the worst
// of them is nearest.
func freeShares(d *figures.Data) *figures.Table {
	baselines := approaches[:4]
	t := figures.NewTable("nomig-baselines",
		"The baselines of Table 4: p_opt [%] with the p_sup that comes nearest to print",
		reports.Left("workload", "generator").Right("p_sup [%]", "the worst is off by [%]"),
		fmt.Sprintf("full batches of %d data sets; p_sup is that of 0, 25, 50, 75 and 100 %% with which the worst of "+
			"the four is nearest", baselineSets),
		"off by: how far the makespan is from the printed one")
	t.Columns = t.Columns.Right(namesOf(baselines)...)
	for _, w := range synthetic {
		printed := figures.Map(baselines, func(a approach) float64 { return printed4(d, w, a) })
		t.Row(w, "published", reports.Missing, reports.Missing, reports.Cells(1, printed...))
		for _, r := range []reading{readings[byScript], readings[byPrint], readings[byTraining]} {
			name, worst, at, nearest := cmp.Or(r.name, "create_dataset.py"), math.Inf(1), 0, printed
			for _, share := range shares {
				r := r.withShare(share, baselineSets)
				values := figures.Map(baselines, func(a approach) float64 { return a.measure(d, w, r).Value })
				off := 0.0
				for i, v := range values {
					off = max(off, math.Abs((100+v)/(100+printed[i])-1)*100)
				}
				if off < worst {
					worst, at, nearest = off, share, values
				}
			}
			t.Row(w, name, at, reports.Cells(1, worst), reports.Cells(1, nearest...))
		}
	}
	return t
}

// sharesOfAgents shows the first training run of each agent on data sets with each p_sup, the online agent as in Table
// 5.
func sharesOfAgents(d *figures.Data) *figures.Table {
	t := figures.NewTable("nomig-agents", "The agents of Table 4: p_opt [%] on data sets with another p_sup",
		reports.Left("workload", "generator").Right("p_sup [%]"),
		fmt.Sprintf("the first training run of each agent, which learned with the printed p_sup, on the full batches "+
			"of %d data sets; MISO over online: as in Table 5, on the whole data sets", shareSets))
	t.Columns = t.Columns.Right(namesOf(agents)...).Right("MISO over online")
	for w, generator := range figures.Each(synthetic, []reading{readings[byScript], readings[byPrint]}) {
		name := cmp.Or(generator.name, "create_dataset.py")
		row := func(share any, of func(agent approach) float64, over float64) {
			t.RowAbout(about(w.name, fmt.Sprintf("%s, p_sup %v", name, share)), w, name, share,
				figures.Map(agents, func(a approach) string { return reports.Fixed(of(a), 1) }), reports.Fixed(over, 1))
		}
		for _, share := range shares {
			r := generator.withShare(share, shareSets)
			row(share, func(a approach) float64 { return figures.Mean(r.pOpt(d, w, a.one(w))) },
				figures.Mean(d.Above(r.queue(w, algo.TrackBatch, miso.algorithm),
					r.queue(w, algo.TrackStream, online.one(w)), shareSets)))
		}
		row("published", func(a approach) float64 { return printed4(d, w, a) },
			d.Claims.Published("table5", claim.Cell{Row: w.name, Column: miso.name}))
	}
	return t
}
