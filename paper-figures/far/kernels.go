package far

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The measured Rodinia kernels in the order of their table, with HotSpot at the end, and in seeded random orders.
var (
	rodiniaData     = figures.Dataset("rodinia")
	rodiniaHotSpot  = figures.Dataset("rodinia?last=HotSpot")
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
	omega, area := d.First(refined, makespan), d.First(area(refined), track.MetricBound)
	certified := d.First(bound(rodiniaData, "certified", mig.Sequential), track.MetricBound)
	span := func(data, algorithm string) float64 { return d.First(batch(data, algorithm, mig.Free), makespan) }
	over := func(values figures.Values, far float64) {
		values[claim.Of("rho FAR")] = figures.Exactly(far / area)
		values[claim.Of("over the certified bound")] = figures.Exactly(far / certified)
		for _, a := range approaches {
			values[claim.Of("sigma "+a.name)] = figures.Exactly(span(rodiniaData, a.algorithm) / far)
		}
	}
	over(d.Under(""), omega)
	over(d.Under("FAR unrefined"), d.First(batch(rodiniaData, "far?refine=false", mig.Sequential), makespan))
	sigma := claim.Of("sigma MISO-OPT")
	d.Under("MISO-OPT tries all orders")[sigma] = figures.Exactly(span(rodiniaData, march.miso) / omega)
	d.Under("HotSpot last")[sigma] = figures.Exactly(span(rodiniaHotSpot, "miso") / omega)
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
