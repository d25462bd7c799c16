package reports

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// kernel is a row of the measured Rodinia times on A100 (FAR 6.4.1), in seconds on
// 1, 2, 3, 4 and 7 slices.
type kernel struct {
	name    string
	seconds [5]float64
}

var sizes = [5]mig.Slices{1, 2, 3, 4, 7}

var rodinia = []kernel{
	{"Backprop", [5]float64{0.43844, 0.60726, 0.60983, 0.60882, 0.60865}},
	{"BFS", [5]float64{0.29404, 0.20166, 0.07209, 0.099204, 0.051071}},
	{"CFD", [5]float64{7.1197, 2.4335, 2.0712, 1.1896, 1.2382}},
	{"Gaussian", [5]float64{20.663, 14.398, 6.9275, 8.848, 8.5974}},
	{"HeartWall", [5]float64{0.88823, 1.0466, 1.0464, 1.0515, 1.0439}},
	{"HotSpot", [5]float64{0.067016, 0.055245, 0.034083, 0.025696, 0.021055}},
	{"LavaMD", [5]float64{15.298, 9.9485, 6.5104, 3.4551, 3.5072}},
	{"LU", [5]float64{0.15098, 0.10953, 0.07523, 0.06347, 0.04491}},
	{"Myocyte", [5]float64{0.4457, 0.50615, 0.36102, 0.33095, 0.33137}},
	{"NN", [5]float64{0.0042327, 0.005535, 0.0058328, 0.0056729, 0.0057315}},
	{"NW", [5]float64{0.28518, 0.22091, 0.1531, 0.13262, 0.091291}},
	{"SRAD_v1", [5]float64{4.6672, 3.4588, 1.5116, 1.299, 1.373}},
	{"SRAD_v2", [5]float64{0.49253, 0.70441, 0.23699, 0.20433, 0.10788}},
	{"StreamCluster", [5]float64{4.3093, 3.1241, 1.1075, 1.1118, 0.78415}},
	{"ParticleFilter", [5]float64{26.656, 16.892, 10.722, 5.7255, 3.2087}},
	{"PathFinder", [5]float64{0.0040695, 0.0037863, 0.0057932, 0.00584, 0.006029}},
}

// rodiniaBatch returns the kernels, longest first.
func rodiniaBatch() task.Batch {
	var b task.Batch
	for _, k := range rodinia {
		t := task.New(k.name, nil)
		for i, s := range sizes {
			t.Set(s, mig.Seconds(k.seconds[i]))
		}
		b = append(b, t)
	}
	slices.SortStableFunc(b, func(x, y task.Task) int { return -cmp.Compare(x.On(1), y.On(1)) })
	return b
}

// listSchedule runs each task where it ends first, on partitions that follow each
// other: tasks[i] are run on parts[i], whose instances are created one after the
// other when those before are destroyed.
func listSchedule(p schedule.Problem, parts []mig.Partition, tasks [][]int) schedule.Schedule {
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "list", Model: mig.Sequential}
	now := make([]mig.Seconds, p.GPUs())
	for i, part := range parts {
		type slot struct {
			gpu  int
			in   mig.Instance
			free mig.Seconds
		}
		var slots []slot
		for gpu := range now {
			for _, in := range part {
				end := now[gpu] + in.Profile.Create
				s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Create, GPU: gpu, Instance: in, Start: now[gpu], End: end})
				now[gpu] = end
				slots = append(slots, slot{gpu, in, end})
			}
		}
		for _, k := range tasks[i] {
			end := func(x slot) mig.Seconds { return x.free + p.Tasks[k].On(x.in.Size()) }
			j := 0
			for m := range slots {
				if end(slots[m]) < end(slots[j]) {
					j = m
				}
			}
			s.Placements = append(s.Placements, schedule.Placement{
				Task: k, GPU: slots[j].gpu, Instance: slots[j].in, Start: slots[j].free, End: end(slots[j]),
			})
			slots[j].free = end(slots[j])
			now[slots[j].gpu] = max(now[slots[j].gpu], slots[j].free)
		}
		if i == len(parts)-1 {
			break
		}
		slices.SortStableFunc(slots, func(a, b slot) int { return cmp.Compare(a.free, b.free) })
		next := make([]mig.Seconds, len(now))
		for _, x := range slots {
			start := max(next[x.gpu], x.free)
			next[x.gpu] = start + x.in.Profile.Destroy
			s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Destroy, GPU: x.gpu, Instance: x.in, Start: start, End: next[x.gpu]})
		}
		now = next
	}
	return s
}

func partition(g *mig.GPU, s string) mig.Partition {
	p, err := g.ParsePartition(s)
	if err != nil {
		panic(err)
	}
	return p
}

// rodiniaPanel lays out the kernels on the partitions in turn, dividing the list.
func rodiniaPanel(title string, count int, names ...string) GanttPanel {
	a100 := mig.MustLookup("A100")
	p := schedule.Problem{GPU: a100, Count: count, Tasks: rodiniaBatch()}
	var parts []mig.Partition
	tasks := make([][]int, len(names))
	for i, n := range names {
		parts = append(parts, partition(a100, n))
		for k := i * len(p.Tasks) / len(names); k < (i+1)*len(p.Tasks)/len(names); k++ {
			tasks[i] = append(tasks[i], k)
		}
	}
	s := listSchedule(p, parts, tasks)
	if v := schedule.Check(p, s); len(v) > 0 {
		panic(fmt.Sprint(v))
	}
	return NewGanttPanel(title, p, s)
}

// speedups returns a series a kernel: t(1)/t(s).
func speedups() []Series {
	var out []Series
	for _, k := range rodinia {
		s := Series{Name: k.name, Markers: true}
		for i, t := range k.seconds {
			s.X = append(s.X, float64(sizes[i]))
			s.Y = append(s.Y, k.seconds[0]/t)
		}
		out = append(out, s)
	}
	return out
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
				g.Published = append(g.Published, v+0.1*r.NormFloat64())
			}
			g.Published[1] = math.NaN()
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
	cloud := Scatter{Title: "Published and measured values", X: Axis{Label: "Published"}, Y: Axis{Label: "Measured"}}
	for _, name := range []string{"Table 4", "Table 5", "Table 6"} {
		g := Points{Name: name}
		for range 30 {
			x := 1 + r.Float64()
			g.X, g.Y = append(g.X, x), append(g.Y, x+0.05*r.NormFloat64())
		}
		cloud.Groups = append(cloud.Groups, g)
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
	moved := rodiniaPanel("After", 1, "3-2-1", "2-2-3")
	moved.Highlight = []string{"ParticleFilter"}
	before := rodiniaPanel("Before", 1, "2-2-2-1")
	before.Highlight = []string{"ParticleFilter", "StreamCluster"}
	before.Marks = append(before.Marks, TimeMark{At: before.Marks[0].At * 0.96, Label: "end of B1"})
	fourTasks := rodiniaPanel("FAR", 1, "7", "4-3", "2-2-2-1")
	return map[string]Figure{
		"lines":     rho,
		"lines-log": timing,
		"lines-levels": Lines{
			Title: "Learning", X: Axis{Label: "Steps [million]"}, Y: Axis{Label: "Above the bound [%]", Log: true},
			Series: []Series{{Name: "agent", X: many, Y: falling, Markers: true}},
			Levels: []Level{{"FAR", 12}, {"a fixed partition", 12.1}, {"none", 60}},
		},
		"lines-single":  Lines{X: sliceAxis, Y: Axis{Label: "Speedup"}, Series: speedups()[:7], Title: "Speedup on A100"},
		"lines-split":   Lines{X: sliceAxis, Y: Axis{Label: "Speedup"}, Series: speedups(), Title: "Speedup of the Rodinia kernels on A100"}.Split(4),
		"bars":          grouped(workloads),
		"bars-upright":  grouped([]string{"Backprop", "ParticleFilter", "StreamCluster", "HotSpot", "HeartWall", "PathFinder", "LavaMD", "Myocyte", "Gaussian", "SRAD_v1"}),
		"bars-narrow":   Bars{Title: "Speedup of Gaussian", X: Axis{Label: "Instance size [slices]"}, Y: Axis{Label: "Speedup"}, Categories: []string{"1", "2", "3", "4", "7"}, Groups: []BarGroup{{Name: "20 s on one slice", Values: []float64{1, 1.44, 2.98, 2.34, 2.4}}}},
		"scatter":       cloud,
		"divisions":     sampleDivisions(),
		"panels":        Panels{Title: "Two views", Charts: []Chart{titled(rho, "By number of tasks"), titled(rho, "The same, so that the axes line up")}},
		"panels-mixed":  Panels{Charts: []Chart{titled(rho, "Lines"), grouped(workloads[:3]), cloud}},
		"gantt":         Gantt{Title: "Rodinia on A100", Panels: []GanttPanel{fourTasks}},
		"gantt-four":    Gantt{Title: "The 16 Rodinia kernels on A100", Panels: []GanttPanel{rodiniaPanel("FAR", 1, "4-3", "2-2-2-1"), rodiniaPanel("MISO-OPT", 1, "4-2-1", "3-1-1-1", "7"), rodiniaPanel("FIXPART(1,…,1)", 1, "1-1-1-1-1-1-1"), rodiniaPanel("FIXPART(7)", 1, "7")}},
		"gantt-moved":   Gantt{Title: "A move", Panels: []GanttPanel{before, moved}},
		"gantt-gpus":    Gantt{Title: "Two GPUs", Panels: []GanttPanel{rodiniaPanel("FAR", 2, "4-3", "2-2-2-1"), rodiniaPanel("FIXPART", 2, "4-2-1")}},
		"gantt-crowded": Gantt{Panels: []GanttPanel{crowded()}},
		"partitions":    Partitions{Title: "Partitions of A30 and A100/H100", GPUs: []*mig.GPU{a30, a100}},
		"tree":          Tree{Title: "Repartitioning trees", GPUs: []*mig.GPU{a30, a100}},
	}
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
