package drl

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// Section 6.7: 500 data sets of each kind.
var (
	peakAt4   = workload{"peak efficiency at 4", "drl/ADVERSARIAL4", mixUniform, 500}
	peakAt2   = workload{"peak efficiency at 2", "drl/ADVERSARIAL2", mixUniform, 500}
	peaks     = []workload{peakAt4, peakAt2}
	contested = []approach{far, miso, fixBest, noMIG, direct, ourAgent}
)

// adversarialReadings are the readings of 6.7. ADVERSARIAL4 keeps tasks of MIXSCALINGUNIFORM that are most efficient on
// 4 slices and at least 0.95 times as efficient on 3; ADVERSARIAL2 those most efficient on 2 and at least 0.9 times as
// efficient on 3. The generator is as printed: as released, no task gains more than linearly from 3 to 4 slices.
var adversarialReadings = []reading{
	{alike: true, model: mig.Parallel},
	{name: "all batches", alike: true, partial: true, model: mig.Parallel},
	{name: "Sequential", alike: true, model: mig.Sequential},
}

func adversarial(d *figures.Data) {
	for r, values := range figures.Under(d, adversarialReadings) {
		r.adversarial(d, values, peaks)
	}
	for w, values := range figures.Under(d, peaks) {
		adversarialReadings[0].adversarial(d, values, []workload{w})
	}
	for r, values := range figures.Under(d, redraws()) {
		r.measure(d, values)
	}
}

// adversarial measures the claims of 6.7 on data sets of some kinds together.
func (r *reading) adversarial(d *figures.Data, values figures.Values, ws []workload) {
	count := len(ws) * ws[0].datasets
	together := func(of func(w workload) []float64) []float64 { return slices.Concat(figures.Map(ws, of)...) }
	for _, a := range []approach{far, miso, direct} {
		pOpt := func(r *reading, algorithm string) []float64 {
			return together(func(w workload) []float64 { return r.pOpt(d, w, algorithm) })
		}
		values[claim.Of(a.name)] = a.overRuns(d, ws[0], r, count, falls(leastPOpt), pOpt)
	}
	for _, a := range []approach{far, miso} {
		above := func(r *reading, algorithm string) []float64 {
			return together(func(w workload) []float64 { return r.above(d, w, a.algorithm, algorithm) })
		}
		values[overDirect(a)] = direct.overRuns(d, ws[0], r, count, rises(math.Inf(1)), above)
	}
}

// A redraw is a reading whose data sets are drawn in another way. They have names that end in differs.
type redraw struct {
	reading
	differs, from string
}

// measure measures the claims of 6.7 on the data sets of the reading.
func (r *redraw) measure(d *figures.Data, values figures.Values) {
	kinds := slices.Clone(peaks)
	for i := range kinds {
		kinds[i].spec, kinds[i].trainedOn = kinds[i].spec+r.differs, r.from
	}
	r.adversarial(d, values, kinds)
}

// redraws draw tasks with another p_sup, with other limits for both peaks, and from other workloads. POORSCALING has no
// such tasks: 3 slices are at most 0.8 times as efficient as 2, and 4 never the best. Agents learned from the workload.
func redraws() []redraw {
	again := func(name, parameters, differs, from string) redraw {
		r := adversarialReadings[0]
		r.name, r.parameters, r.datasets = name, parameters, 100
		return redraw{r, differs, from}
	}
	return []redraw{
		again("p_sup = 25 %", "psup=25", "", mixUniform),
		again("p_sup = 75 %", "psup=75", "", mixUniform),
		again("p_sup = 100 %", "psup=100", "", mixUniform),
		again("limits of 0.98", "", "+NARROWER", mixUniform),
		again("limits of 0.85", "", "+WIDER", mixUniform),
		again("from GOODSCALING", "", "+GOODSCALING", goodScaling),
		again("from MIXSCALINGEXTREME", "", "+MIXSCALINGEXTREME", mixExtreme),
		again("from WIDETIMES", "", "+WIDETIMES", wideTimes),
	}
}

// overDirect names the gain over an approach as the paper measures it. It says reduction, but its 8.23
// and 19.59 % are ratios less one, 127.82/118.10 and 141.23/118.10; reductions are 7.60 and 16.38 %.
func overDirect(a approach) claim.Cell {
	return claim.Of("makespan of " + a.name + " over DIRECT RECONFIG, less one")
}

// cfd is 20 runs of one kernel, all in one batch (6.7).
func cfd() string { return figures.Dataset("rodinia?only=CFD&copies=20") }

// fourAndThree is the pattern that the paper's agent found.
var fourAndThree = approach{name: "FIXPART(4-3)", algorithm: "fixpart?p=4-3"}

func figure16(d *figures.Data) {
	values := d.Under("")
	r := &reading{model: mig.Parallel}
	trainedOn := synthetic[len(synthetic)-1] // as the agents of measured kernels are
	values[claim.Of(far.name)] = figures.Exactly(pOpt(d, r.series(cfd(), far.algorithm), 1)[0])
	overRuns := func(longer prospect, of func(r *reading, algorithm string) []float64) figures.Measurement {
		return direct.overRuns(d, trainedOn, r, 0, longer, of)
	}
	values[claim.Of(direct.name)] = overRuns(falls(leastPOpt), func(r *reading, algorithm string) []float64 {
		return pOpt(d, r.series(cfd(), algorithm), 1)
	})
	values[overDirect(far)] = overRuns(rises(math.Inf(1)), func(r *reading, algorithm string) []float64 {
		return d.Above(r.series(cfd(), far.algorithm), r.series(cfd(), algorithm), 1)
	})
	t := d.Table("figure16", "Fig. 16. 20 runs of CFD on A100",
		reports.Left("approach").Right("makespan [s]", "p_opt [%]", "FAR's makespan over it, less one [%]"),
		"the public times of CFD: 7.12, 2.43, 2.07, 1.19 and 1.24 s on 1, 2, 3, 4 and 7 slices",
		"Parallel; agents of the first training run; agent, best of 64 (tries): ours")
	sizes := mig.MustLookup("A100").Sizes()
	for _, size := range sizes {
		t.Columns = t.Columns.Right(fmt.Sprintf("tasks on %d slices", size))
	}
	chart := reports.Gantt{Title: "Fig. 16. 20 runs of Rodinia's CFD on A100", Height: 560}
	for _, a := range append(slices.Clone(contested), ourBest, fourAndThree) {
		series := r.series(cfd(), a.one(rodinia))
		p, s := d.Schedule(series, 0)
		t.Row(a, reports.Cells(2, d.First(series, makespan), pOpt(d, series, 1)[0],
			d.Above(r.series(cfd(), far.algorithm), series, 1)[0]),
			figures.Map(sizes, func(size mig.Slices) string { return fmt.Sprint(placedOn(s, size)) }))
		if a == far {
			values[claim.Of("tasks that FAR runs on 7 slices")] = figures.Exactly(placedOn(s, 7))
		}
		if slices.Contains([]approach{far, fourAndThree, direct, ourAgent}, a) {
			p.Tasks = slices.Clone(p.Tasks)
			for i := range p.Tasks {
				p.Tasks[i].Name = "CFD" // all are the same kernel, and get one colour
			}
			chart.Panels = append(chart.Panels, reports.NewGanttPanel(a.name, p, s))
		}
	}
	d.Figure("figure16", chart.Title, chart)
}

func placedOn(s schedule.Schedule, size mig.Slices) int {
	return figures.Count(s.Placements, func(p schedule.Placement) bool { return p.Instance.Size() == size })
}
