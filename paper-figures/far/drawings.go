package far

import (
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// The paper does not publish the instances behind its drawings. Figures 5 and 6 use datasets
// of ours, found by local search. The others use those cells of the tables that show best
// what the paper shows.

// figures5and6 draws a batch on which one move, and one on which one swap, of the
// refinement gains much.
func figures5and6() figures.Artefact {
	return figures.Artefact{
		Name: "figures5-6", Title: "a move and a swap of the refinement, before and after",
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{Missing: map[string]string{}}
			values := figures.Values{}
			for i, x := range []struct{ claim, data, gpu, operation string }{
				{"gain from moving a task", "far-move", "A100", "moves"},
				{"gain from swapping tasks", "far-swap", "A30", "swaps"},
			} {
				data := figures.Dataset(x.data)
				refined := on(x.gpu, 1, batch(data, "far", mig.Sequential))
				unrefined := on(x.gpu, 1, batch(data, "far?refine=false", mig.Sequential))
				gain := d.Above(unrefined, refined, 1)[0]
				values[x.claim] = figures.Exactly(gain)
				out.Missing[x.claim] = "The paper's tasks are not published. The measured gain is that of our example, the largest that a local search found."
				p, a := d.Schedule(unrefined, 0)
				_, b := d.Schedule(refined, 0)
				left, right := reports.NewGanttPanel("before", p, a), reports.NewGanttPanel("after", p, b)
				left.Highlight = changedTasks(a, b, p)
				right.Highlight = left.Highlight
				title := fmt.Sprintf("Fig. %d. Phase 2, and after the refinement (%s: %g): a gain of %.1f %%", i+5, x.operation, d.First(refined, x.operation), gain)
				out.Figure(fmt.Sprintf("figure%d", i+5), title, reports.Gantt{Title: title, Panels: []reports.GanttPanel{left, right}})
			}
			out.Readings = []figures.Reading{{Basis: "an example of ours, found by local search", Values: values}}
			return out, nil
		},
	}
}

// changedTasks lists the tasks that two schedules run on different instances.
func changedTasks(a, b schedule.Schedule, p schedule.Problem) []string {
	was := map[int]mig.Instance{}
	for _, pl := range a.Placements {
		was[pl.Task] = pl.Instance
	}
	var changed []string
	for _, pl := range b.Placements {
		if was[pl.Task] != pl.Instance {
			changed = append(changed, p.Tasks[pl.Task].Name)
		}
	}
	slices.Sort(changed)
	return changed
}

// concatenations are the steps of Figs. 7 to 9.
var concatenations = []struct{ mode, panel, title string }{
	{"trivial", "trivial", ""},
	{"reverse", "second batch reversed", "Trivial concatenation, and with the second batch reversed"},
	{"move", "and a task moved", "Moving a task of the reversed batch"},
	{"moveswap", "and tasks moved and swapped", "Moving and swapping tasks of the reversed batch"},
}

// figures7to9 concatenates the same two batches trivially, with the second one reversed, with
// tasks moved as well, and with tasks swapped as well.
func figures7to9() figures.Artefact {
	const pairs = 500
	w := workload{"MIXEDSCALING", "WIDETIMES"}
	data := synthetic(w, 10, "batches=2")
	series := func(mode string) run.Series { return stream(data, "far-concat?mode="+mode) }
	return figures.Artefact{
		Name: "figures7-9", Title: "concatenations of the same two batches",
		Build: func(d *figures.Data) (*figures.Output, error) {
			var spans [][]float64
			for _, c := range concatenations {
				spans = append(spans, d.Values(series(c.mode), pairs, makespan))
			}
			best := mostVisible(spans, d.Values(series("move"), pairs, "moves"), d.Values(series("moveswap"), pairs, "swaps"))
			out := &figures.Output{}
			t := reports.Table{
				Title:   fmt.Sprintf("Two batches of 10 tasks, %s, pair %d", w, best),
				Columns: reports.Left("concatenation").Right("makespan [s]", "gain over trivial [%]"),
			}
			var left reports.GanttPanel
			var before schedule.Schedule
			for k, c := range concatenations {
				t.Rows = append(t.Rows, []string{c.mode, fmt.Sprintf("%.2f", spans[k][best]), fmt.Sprintf("%.2f", (spans[0][best]/spans[k][best]-1)*100)})
				p, s := d.Schedule(series(c.mode), best)
				right := reports.NewGanttPanel(c.panel, p, s)
				if k > 0 {
					shown := []reports.GanttPanel{left, right}
					if k > 1 {
						changed := changedTasks(before, s, p)
						shown[0].Highlight, shown[1].Highlight = changed, changed
					}
					title := fmt.Sprintf("Fig. %d. %s", k+6, c.title)
					out.Figure(fmt.Sprintf("figure%d", k+6), title, reports.Gantt{Title: title, Panels: shown, Height: 480})
				}
				left, before = right, s
			}
			return out.Table("figures7-9", t), nil
		},
	}
}

// mostVisible returns, of the pairs with one move and then a swap, the one whose smallest gain
// from one step to the next is largest. spans are the makespans by step and pair.
func mostVisible(spans [][]float64, moved, swapped []float64) int {
	best, most := 0, math.Inf(-1)
	for i := range moved {
		if moved[i] != 1 || swapped[i] == 0 {
			continue
		}
		smallest := math.Inf(1)
		for k := range spans[1:] {
			smallest = min(smallest, spans[k][i]/spans[k+1][i]-1)
		}
		if smallest > most {
			best, most = i, smallest
		}
	}
	return best
}

// A proofCase is a case of the proof in section 5, by how long each slice is idle before the
// critical task starts.
type proofCase struct {
	gpu, title string
	holds      func(idle []float64, start float64) bool
}

// proofCases are the cases of Fig. 10. A slice that is idle for less than a twentieth of the
// time is hard to see.
var proofCases = []proofCase{
	{"A30", "(a) A30: all slices busy before l", func(idle []float64, l float64) bool { return l > 0 && slices.Max(idle) == 0 }},
	{"A100", "(b) A100: S4 or S5 idle before l", func(idle []float64, l float64) bool { return l > 0 && max(idle[4], idle[5]) > 0.05*l }},
	{"A100", "(c) A100: S6 idle before l, S4, S5 not", func(idle []float64, l float64) bool {
		return l > 0 && idle[6] > 0.05*l && idle[4] == 0 && idle[5] == 0
	}},
}

// figure10 finds, for each case of the proof in section 5, a schedule of phase 2 without
// reconfiguration time that falls into it.
func figure10() figures.Artefact {
	const instances = 20
	data := synthetic(workload{"GOODSCALING", "WIDETIMES"}, 4, "")
	return figures.Artefact{
		Name: "figure10", Title: "the cases of the proof of the approximation factors",
		Build: func(d *figures.Data) (*figures.Output, error) {
			chart := reports.Gantt{Title: "Fig. 10. A schedule of phase 2 for each case of the proof, reconfiguration free"}
			t := reports.Table{
				Title:   "Figure 10, the schedules shown, dataset " + data,
				Columns: reports.Left("case").Right("instance", "l [s]", "makespan [s]"),
			}
			for _, c := range proofCases {
				series := on(c.gpu, 1, batch(data, "far?refine=false", mig.Free))
				for i := range instances {
					p, s := d.Schedule(series, i)
					critical, idle := idleBeforeCritical(p, s)
					if d.Planning() || !c.holds(idle, float64(critical.Start)) {
						continue
					}
					panel := reports.NewGanttPanel(c.title, p, s)
					panel.Marks = append(panel.Marks, reports.TimeMark{At: critical.Start, Label: fmt.Sprintf("l = %.1f s", critical.Start)})
					panel.Highlight = []string{p.Tasks[critical.Task].Name}
					chart.Panels = append(chart.Panels, panel)
					t.Rows = append(t.Rows, []string{c.title, fmt.Sprint(i), fmt.Sprintf("%.2f", critical.Start), fmt.Sprintf("%.2f", s.Makespan())})
					break
				}
			}
			return new(figures.Output).Table("figure10", t).Figure("figure10", chart.Title, chart), nil
		},
	}
}

// idleBeforeCritical returns the task that reaches the makespan, the longest of
// several, and for how many seconds each slice is idle before it starts.
func idleBeforeCritical(p schedule.Problem, s schedule.Schedule) (schedule.Placement, []float64) {
	var critical schedule.Placement
	for _, pl := range s.Placements {
		if pl.End > critical.End || pl.End == critical.End && pl.Start < critical.Start {
			critical = pl
		}
	}
	idle := make([]float64, p.GPU.ComputeSlices)
	for i := range idle {
		idle[i] = float64(critical.Start)
	}
	for _, pl := range s.Placements {
		for c := range pl.Instance.Size() {
			idle[pl.Instance.Start+c] -= float64(min(pl.End, critical.Start) - min(pl.Start, critical.Start))
		}
	}
	for i := range idle {
		if idle[i] < 1e-9*float64(critical.Start) {
			idle[i] = 0 // differences of sums round
		}
	}
	return critical, idle
}

func figure12() figures.Artefact {
	return figures.Artefact{
		Name: "figure12", Title: "the Rodinia kernels on A100 under different approaches",
		Build: func(d *figures.Data) (*figures.Output, error) {
			chart := reports.Gantt{Title: "Fig. 12. The 16 Rodinia kernels on A100", Height: 560}
			add := func(title string, series run.Series) {
				p, s := d.Schedule(series, 0)
				chart.Panels = append(chart.Panels, reports.NewGanttPanel(title, p, s))
			}
			add("FAR", batch(rodiniaData, "far", mig.Sequential))
			for _, a := range approaches {
				add(a.name, batch(rodiniaData, a.algorithm, mig.Free))
			}
			return new(figures.Output).Figure("figure12", chart.Title, chart), nil
		},
	}
}
