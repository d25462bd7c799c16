package far

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The measured Rodinia kernels in the order of their table, and in seeded random orders.
var (
	rodiniaData     = figures.Dataset("rodinia")
	rodiniaShuffled = figures.Dataset("rodinia?order=shuffled")
)

const shuffles = 300

func kernels(gpu string) task.Batch { return figures.Tasks(rodiniaData, gpu, 0) }

func kernel(name string) *task.Task {
	all := kernels("A100")
	return &all[slices.IndexFunc(all, func(t task.Task) bool { return t.Name == name })]
}

func figure2() reports.Bars {
	gaussian := kernel("Gaussian")
	speedups := figures.Map(a100.Sizes(), func(s mig.Slices) float64 {
		return float64(gaussian.On(1) / gaussian.On(s))
	})
	return reports.Bars{
		Title: "Fig. 2. Speedup of Gaussian on A100, the input of 20.7 s on one slice",
		X:     reports.Axis{Label: "Instance size [slices]"}, Y: reports.Axis{Label: "Speedup over one slice"},
		Categories: figures.Map(a100.Sizes(), func(s mig.Slices) string { return fmt.Sprint(s) }),
		Groups:     []reports.BarGroup{{Name: "Gaussian, mean of 10 runs", Values: speedups}},
	}
}

func rodinia(d *figures.Data) {
	// Both sides have the very same kernels, so that the numbers are exact.
	refined := batch(rodiniaData, "far", mig.Sequential)
	omega, areaBound := d.First(refined, makespan), d.First(area(refined), track.MetricBound)
	certified := d.First(bound(rodiniaData, "certified", mig.Sequential), track.MetricBound)
	span := func(data, algorithm string) float64 { return d.First(batch(data, algorithm, mig.Free), makespan) }
	over := func(values figures.Values, far float64) {
		values[claim.Of("rho FAR")] = figures.Exactly(far / areaBound)
		values[claim.Of("over the certified bound")] = figures.Exactly(far / certified)
		for _, a := range approaches {
			values[claim.Of("sigma "+a.name)] = figures.Exactly(span(rodiniaData, a.algorithm) / far)
		}
	}
	over(d.Under(""), omega)
	over(d.Under("FAR unrefined"), d.First(batch(rodiniaData, "far?refine=false", mig.Sequential), makespan))
	sigma := claim.Of("sigma MISO-OPT")
	d.Under("MISO-OPT tries all orders")[sigma] = figures.Exactly(span(rodiniaData, march.miso) / omega)
	d.Under("HotSpot last")[sigma] = figures.Exactly(span(figures.Dataset("rodinia?last=HotSpot"), "miso") / omega)
	misoOrders(d, omega)
}

// misoOrders shows how far sigma of MISO-OPT hangs on the order in which the kernels arrive. omega is FAR's makespan.
func misoOrders(d *figures.Data, omega float64) {
	sigmas := figures.Map(d.Values(batch(rodiniaShuffled, "miso", mig.Free), shuffles, makespan),
		func(span float64) float64 { return span / omega })
	slices.Sort(sigmas)
	printed := d.Claims.Published("rodinia", claim.Of("sigma MISO-OPT"))
	agree := figures.Count(sigmas, func(sigma float64) bool { return math.Abs(sigma-printed) <= 0.005+printed/50 })
	t := d.Table("rodinia-orders", "sigma of MISO-OPT on the Rodinia kernels in random orders",
		reports.Left("").Right("value"),
		"an order agrees with print if its sigma is within half the last digit and 2 % of the printed one")
	for i, name := range []string{"least", "first quartile", "median", "third quartile", "largest"} {
		t.Row(name, reports.Fixed(sigmas[i*(len(sigmas)-1)/4], 2))
	}
	t.Row("orders", len(sigmas))
	t.Row("orders that agree with print", agree)
}

func figure12(d *figures.Data) {
	chart := reports.Gantt{Title: "Fig. 12. The 16 Rodinia kernels on A100", Height: 720}
	add := func(title string, series store.Series) {
		p, s := d.Schedule(series, 0)
		chart.Panels = append(chart.Panels, reports.NewGanttPanel(title, p, s))
	}
	add("FAR", batch(rodiniaData, "far", mig.Sequential))
	for _, a := range approaches {
		add(a.name, batch(rodiniaData, a.algorithm, mig.Free))
	}
	d.Figure("figure12", chart.Title, chart)
}

// optimum compares FAR with the best known schedule of the 16 kernels and the certified bound. The paper does not.
func optimum(d *figures.Data) {
	lower := d.First(bound(rodiniaData, "certified", mig.Sequential), track.MetricBound)
	t := d.Table("optimum", "16 Rodinia kernels on A100, reconfiguration included",
		reports.Left("schedule").Right("makespan [s]", "above the bound [%]"),
		"bound: certified; no schedule that the referee accepts ends earlier")
	chart := reports.Gantt{Title: fmt.Sprintf("The Rodinia kernels on A100: FAR and the best known "+
		"schedule; none ends before %.3f s", lower)}
	for _, x := range []struct {
		name, algorithm string
		drawn           bool
	}{{"FAR", "far", true}, {"lns", "lns", false}, {"treedp", "treedp", true}} {
		series := batch(rodiniaData, x.algorithm, mig.Sequential)
		m := d.First(series, makespan)
		t.Row(x.name, reports.Fixed(m, 4), reports.Fixed((m/lower-1)*100, 3))
		if x.drawn {
			p, s := d.Schedule(series, 0)
			panel := reports.NewGanttPanel(fmt.Sprintf("%s, %.3f s", x.name, s.Makespan()), p, s)
			panel.Marks = []reports.TimeMark{{At: mig.Seconds(lower), Label: "certified bound"}}
			chart.Panels = append(chart.Panels, panel)
		}
	}
	t.Row("certified lower bound", reports.Fixed(lower, 4), 0)
	d.Figure("optimum", chart.Title, chart)
}

// measuredOn returns a number that was measured on a GPU.
func measuredOn(v float64, detail string, p datasets.Provenance) figures.Measurement {
	m := figures.Exactly(v)
	m.Detail = fmt.Sprintf("%sMeasured on %s; %s.", detail, p.GPU, p)
	return m
}

func table2(d *figures.Data) {
	values := d.Under("")
	worst := d.Hardware.WorstIsolation("A100")
	kernels := []string{"Backprop", "Gaussian", "HotSpot", "LavaMD"}
	for kernel, size := range figures.Each(kernels, []mig.Slices{1, 2, 3, 4}) {
		if r, ok := worst[datasets.KernelOn{Kernel: kernel, Size: size}]; ok {
			m := measuredOn(math.Abs(r.Difference), "Beside "+r.Beside+". ", r.Provenance)
			values[claim.Cell{Row: kernel, Column: fmt.Sprint("size ", size)}] = m
		}
	}
}

// batch3 are the kernels of Table 3 in its order. The times of unpublished on A30 are not public.
var batch3 = strings.Fields("PathFinder LavaMD " + unpublished + " Gaussian NW Huffman HeartWall ParticleFilter LU")

const unpublished = "HotSpot"

// table3 judges real end times of an execution on an A30, and end times simulated with the authors' published times.
func table3(d *figures.Data) {
	values := d.Under("")
	p, s := d.Schedule(seriesOn("A30", 1, batch(figures.Dataset("a30-batch"), "far", mig.Sequential)), 0)
	ends := map[string]float64{} // by name in lower case
	for _, pl := range s.Placements {
		ends[strings.ToLower(p.Tasks[pl.Task].Name)] = float64(pl.End)
	}
	executed := d.Hardware.NewestExecution("A30", "far", batch3)
	for i, k := range batch3 {
		if k != unpublished {
			values[claim.At(k, "simulated end")] = figures.Exactly(ends[strings.ToLower(k)])
		}
		if executed != nil {
			r := executed[i]
			values[claim.At(k, "real end")] = measuredOn(float64(r.RealEnd), "", r.Provenance)
			values[claim.At(k, "deviation")] = measuredOn(r.Deviation, "", r.Provenance)
		}
	}
	d.Figure("table3", "The simulated schedule behind Table 3",
		reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel("FAR, eight kernels, A30", p, s)}})
}

// Claims of the text about what was measured on GPUs.
var (
	largestDifference = claim.Of("isolation, largest difference")
	largestDeviation  = claim.Of("simulation error, largest")
)

// inText measures what the text says about GPUs. Isolation needs all kernels, on every size except the largest.
func inText(h datasets.HardwareSet, values figures.Values) {
	worst := h.WorstIsolation("A100")
	largest, complete := 0.0, true
	for k, s := range figures.Each(kernels("A100"), a100.Sizes()) {
		r, ok := worst[datasets.KernelOn{Kernel: k.Name, Size: s}]
		complete = complete && (ok || s == a100.ComputeSlices)
		largest = max(largest, math.Abs(r.Difference))
	}
	if complete {
		values[largestDifference] = figures.Exactly(largest)
	}
	if rows := h.NewestExecution("A30", "far", batch3); rows != nil {
		deviations := figures.Map(rows, func(r datasets.ExecutionTime) float64 { return math.Abs(r.Deviation) })
		values[largestDeviation] = figures.Exactly(slices.Max(deviations))
	}
}
