package reports

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync"

	_ "miglab/algorithms"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// rodinia are the kernels that the FAR paper measured on A100.
var rodinia = sync.OnceValue(func() task.Batch {
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("rodinia"), mig.MustLookup("A100"), 0)
	if err != nil {
		panic(err)
	}
	return in.Tasks
})

// rodiniaPanel shows how an algorithm schedules the kernels.
func rodiniaPanel(title string, gpus int, algorithm string) GanttPanel {
	a, err := algo.Parse(algorithm)
	if err != nil {
		panic(err)
	}
	scheduler, err := algo.Make[algo.Batch](a)
	if err != nil {
		panic(err)
	}
	p := schedule.Problem{GPU: mig.MustLookup("A100"), Count: gpus, Tasks: rodinia()}
	s, err := scheduler.Schedule(context.Background(), p)
	if err != nil {
		panic(err)
	}
	return NewGanttPanel(title, p, s)
}

// speedups returns a series a kernel: t(1)/t(s).
func speedups() []Series {
	kernels := rodinia()
	return Speedups("", mig.MustLookup("A100"), kernels, len(kernels), true).Charts[0].(Lines).Series[:len(kernels)]
}

var sliceAxis = Axis{Label: "Instance size [slices]", Ticks: []float64{1, 2, 3, 4, 7}}

func wave(r *rand.Rand, name string, level float64, published bool) Series {
	s := Series{Name: name, Published: published, Markers: !published}
	for n := 10; n <= 100; n += 10 {
		y := level + 0.6/math.Sqrt(float64(n)) + 0.02*r.NormFloat64()
		s.X, s.Y = append(s.X, float64(n)), append(s.Y, y)
		if !published {
			s.Low, s.High = append(s.Low, y-0.05), append(s.High, y+0.05)
		}
	}
	return s
}

// samples returns a figure of every kind with realistic content.
func samples() map[string]Figure {
	r := rand.New(rand.NewPCG(1, 2))
	a30, a100 := mig.MustLookup("A30"), mig.MustLookup("A100")
	workloads := []string{
		"MIXEDSCALING + WIDETIMES", "GOODSCALING + WIDETIMES", "POORSCALING + WIDETIMES",
		"MIXEDSCALING + NARROWTIMES", "GOODSCALING + NARROWTIMES", "POORSCALING + NARROWTIMES",
	}
	grouped := func(names []string) Bars {
		f := Bars{
			Title: "Makespan relative to FAR by workload", Y: Axis{Label: "Makespan / FAR makespan"}, X: Axis{Label: "Workload"},
			Categories: names,
		}
		for _, name := range []string{"MISO-OPT", "FIXPART(1,…,1)", "FIXPARTBEST", "FIXPART(7)"} {
			g := BarGroup{Name: name}
			for range names {
				v := 1 + r.Float64()
				g.Values = append(g.Values, v)
				g.Low, g.High = append(g.Low, v-0.06), append(g.High, v+0.06)
			}
			f.Groups = append(f.Groups, g)
		}
		return f
	}
	rho := Lines{
		Title: "Ratio of FAR's makespan to the lower bound on A100",
		X:     Axis{Label: "Number of tasks n"}, Y: Axis{Label: "ρ [1]"},
		Series: []Series{
			wave(r, "MIXEDSCALING, WIDETIMES", 1.1, false), wave(r, "MIXEDSCALING, WIDETIMES", 1.12, true),
			wave(r, "GOODSCALING, WIDETIMES", 1.25, false), wave(r, "GOODSCALING, WIDETIMES", 1.2, true),
			wave(r, "POORSCALING, WIDETIMES", 1.4, false),
		},
	}
	cloud := Lines{Dots: true, Title: "Published and measured values", X: Axis{Label: "Published"}, Y: Axis{Label: "Measured"}}
	for _, name := range []string{"Table 4", "Table 5", "Table 6"} {
		g := Series{Name: name}
		for range 30 {
			x := 1 + r.Float64()
			g.X, g.Y = append(g.X, x), append(g.Y, x+0.05*r.NormFloat64())
		}
		cloud.Series = append(cloud.Series, g)
	}
	var many, falling []float64
	for i := range 40 {
		many, falling = append(many, float64(i)/20), append(falling, 10+80/float64(i+1))
	}
	timing := Lines{
		Title: "Time to schedule a batch", X: Axis{Label: "Number of tasks n", Log: true}, Y: Axis{Label: "Time [s]", Log: true},
		Series: []Series{
			{Name: "FAR", X: []float64{10, 100, 1000, 10000}, Y: []float64{2e-5, 1.6e-4, 4.1e-3, 0.17}, Markers: true},
			{Name: "FAR", Published: true, X: []float64{100, 500, 1000}, Y: []float64{0.01232, 0.53221, 1.62082}},
		},
	}
	moved := rodiniaPanel("After", 1, "far")
	moved.Highlight = []string{"ParticleFilter"}
	before := rodiniaPanel("Before", 1, "far?refine=false")
	before.Highlight = []string{"ParticleFilter", "StreamCluster"}
	before.Marks = append(before.Marks, TimeMark{At: before.Marks[0].At * 0.96, Label: "end of B1"})
	fourTasks := rodiniaPanel("FAR", 1, "far")
	return map[string]Figure{
		"lines":     rho,
		"lines-log": timing,
		"lines-levels": Lines{
			Title: "Learning", X: Axis{Label: "Steps [million]"}, Y: Axis{Label: "Above the bound [%]", Log: true},
			Series: []Series{{Name: "agent", X: many, Y: falling, Markers: true}},
			Levels: []Level{{"FAR", 12}, {"a fixed partition", 12.1}, {"none", 60}},
		},
		"lines-single":  Lines{X: sliceAxis, Y: Axis{Label: "Speedup"}, Series: speedups()[:7], Title: "Speedup on A100"},
		"lines-split":   Speedups("Speedup of the Rodinia kernels on A100", a100, rodinia(), 4, false),
		"bars":          grouped(workloads),
		"bars-upright":  grouped([]string{"Backprop", "ParticleFilter", "StreamCluster", "HotSpot", "HeartWall", "PathFinder", "LavaMD", "Myocyte", "Gaussian", "SRAD_v1"}),
		"bars-narrow":   Bars{Title: "Speedup of Gaussian", X: Axis{Label: "Instance size [slices]"}, Y: Axis{Label: "Speedup"}, Categories: []string{"1", "2", "3", "4", "7"}, Groups: []BarGroup{{Name: "20 s on one slice", Values: []float64{1, 1.44, 2.98, 2.34, 2.4}}}},
		"scatter":       cloud,
		"curve":         sampleCurve(),
		"panels":        Panels{Title: "Two views", Charts: []Chart{titled(rho, "By number of tasks"), titled(rho, "The same, so that the axes line up")}},
		"panels-mixed":  Panels{Charts: []Chart{titled(rho, "Lines"), grouped(workloads[:3]), cloud}},
		"gantt":         Gantt{Title: "Rodinia on A100", Panels: []GanttPanel{fourTasks}},
		"gantt-four":    Gantt{Title: "The 16 Rodinia kernels on A100", Panels: []GanttPanel{rodiniaPanel("FAR", 1, "far"), rodiniaPanel("MISO-OPT", 1, "miso"), rodiniaPanel("FIXPART(1,…,1)", 1, "fixpart"), rodiniaPanel("FIXPART(7)", 1, "fixpart?p=7")}},
		"gantt-moved":   Gantt{Title: "A move", Panels: []GanttPanel{before, moved}},
		"gantt-gpus":    Gantt{Title: "Two GPUs", Panels: []GanttPanel{rodiniaPanel("FAR", 2, "far"), rodiniaPanel("FIXPART", 2, "fixpart")}},
		"gantt-crowded": Gantt{Panels: []GanttPanel{crowded()}},
		"partitions":    Partitions{Title: "Partitions of A30 and A100/H100", GPUs: []*mig.GPU{a30, a100}},
		"timeline":      sampleTimeline(),
	}
}

// sampleCurve has dots of every state, more than a line has room for, and a row without dots.
func sampleCurve() Curve {
	f := Curve{Title: "FAR: conclusions by reading", Rows: []CurveRow{
		{Name: "F1", Text: "Rodinia is at most 1.22 times the optimum", Answer: "holds", Dots: []CurveDot{
			{State: DotMet, Default: true}, {State: DotMet}, {State: DotPart}, {State: DotOpen},
		}},
		{Name: "F13", Text: strings.Repeat("a sentence that is long and ", 6) + "ends", Answer: "holds in part"},
		{Name: "M1b", Text: "as in MISO", Answer: "not runnable"},
	}}
	for i := range 40 {
		f.Rows[1].Dots = append(f.Rows[1].Dots, CurveDot{State: dotStates[i%4], Aside: i > 30})
	}
	return f
}

// titled returns the chart with another title.
func titled(f Lines, title string) Lines {
	f.Title = title
	return f
}

// crowded is a panel without room for the labels of its marks.
func crowded() GanttPanel {
	bars := []schedule.Bar{
		{Kind: schedule.RunBar, Width: 4, Start: 0, End: 10, Label: "T1"},
		{Kind: schedule.RunBar, Width: 2, Start: 10, End: 20, Label: "T2"},
		{Kind: schedule.RunBar, Slice: 2, Width: 2, Start: 10, End: 18, Label: "T3"},
	}
	return GanttPanel{
		Title: "A30", GPU: mig.MustLookup("A30"), Bars: bars,
		Marks: []TimeMark{{10, "l = 10 s"}, {9.8, "q = 9.8 s"}, {20, "ω = 20 s"}},
	}
}
