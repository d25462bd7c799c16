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
func figures5and6(claims *figures.Claims) figures.Artefact {
	shown := []struct {
		file, claim, data, gpu, operation string
	}{
		{"figure5", "gain from moving a task", "far-move", "A100", "moves"},
		{"figure6", "gain from swapping tasks", "far-swap", "A30", "swaps"},
	}
	pair := func(data, gpu string) (refined, unrefined run.Series) {
		return on(gpu, 1, batch(figures.Dataset(data), "far", mig.Sequential)), on(gpu, 1, batch(figures.Dataset(data), "far?refine=false", mig.Sequential))
	}
	return figures.Artefact{
		Name: "figures5-6", Title: "a move and a swap of the refinement, before and after",
		Needs: func(figures.Scale) (out []figures.Need) {
			for _, x := range shown {
				refined, unrefined := pair(x.data, x.gpu)
				out = append(out, figures.NeedFirst(1, refined, unrefined)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			for i, x := range shown {
				refined, unrefined := pair(x.data, x.gpu)
				n, gain := d.First(refined, x.operation), d.Above(unrefined, refined)[0]
				out.Findings = append(out.Findings, d.Judge(claims.Get(x.file, x.claim), figures.Exactly(gain), "",
					"the paper's instance is not published, and a local search found no larger gain"))
				gantt := beforeAndAfter(d, unrefined, refined)
				gantt.Title = fmt.Sprintf("Fig. %d. Phase 2, and after the refinement (%s: %g): a gain of %.1f %%", i+5, x.operation, n, gain)
				out.Figure(x.file, gantt.Title, gantt)
			}
			return out.Table("figures5-6", figures.ComparisonTable("Figures 5 and 6", out.Findings)), nil
		},
	}
}

// beforeAndAfter draws two schedules of the same instance and outlines the tasks
// that changed their instance.
func beforeAndAfter(d *figures.Data, before, after run.Series) reports.Gantt {
	p, a := d.Schedule(before, 0)
	_, b := d.Schedule(after, 0)
	changed := changedTasks(a, b, p)
	left, right := reports.NewGanttPanel("before", p, a), reports.NewGanttPanel("after", p, b)
	left.Highlight, right.Highlight = changed, changed
	return reports.Gantt{Panels: []reports.GanttPanel{left, right}}
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

// figures7to9 concatenates the same two batches trivially, with the second one
// reversed, with tasks moved as well, and with tasks swapped as well.
func figures7to9() figures.Artefact {
	w := workload{"MIXEDSCALING", "WIDETIMES"}
	data := synthetic(w, 10, "batches=2")
	series := func(mode string) run.Series { return stream(data, "far-concat?mode="+mode) }
	modes := []string{"trivial", "reverse", "move", "moveswap"}
	return figures.Artefact{
		Name: "figures7-9", Title: "concatenations of the same two batches",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, m := range modes {
				out = append(out, figures.NeedFirst(s.Replicates((batches-1)/2), series(m))...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			spans := map[string][]float64{}
			for _, m := range modes {
				spans[m] = d.Values(series(m), makespan)
			}
			moved := d.Values(series("move"), "moves")
			swapped := d.Values(series("moveswap"), "swaps")
			// Every step is to be visible: of the pairs with one move, and then a swap,
			// the one whose smallest gain is largest.
			best, most := 0, math.Inf(-1)
			for i := range spans["trivial"] {
				if moved[i] != 1 || swapped[i] == 0 {
					continue
				}
				smallest := math.Inf(1)
				for k := range modes[1:] {
					smallest = min(smallest, spans[modes[k]][i]/spans[modes[k+1]][i]-1)
				}
				if smallest > most {
					best, most = i, smallest
				}
			}
			out := &figures.Output{}
			t := reports.Table{
				Title:   fmt.Sprintf("Two batches of 10 tasks, %s, pair %d", w, best),
				Columns: reports.Left("concatenation").Right("makespan [s]", "gain over trivial [%]"),
			}
			panels := map[string]reports.GanttPanel{}
			plans := map[string]schedule.Schedule{}
			var p schedule.Problem
			for _, m := range modes {
				var s schedule.Schedule
				p, s = d.Schedule(series(m), best)
				plans[m] = s
				panels[m] = reports.NewGanttPanel(map[string]string{
					"trivial": "trivial", "reverse": "second batch reversed", "move": "and a task moved", "moveswap": "and tasks moved and swapped",
				}[m], p, s)
				t.Rows = append(t.Rows, []string{m, fmt.Sprintf("%.2f", spans[m][best]), fmt.Sprintf("%.2f", (spans["trivial"][best]/spans[m][best]-1)*100)})
			}
			for k, number := range []int{7, 8, 9} {
				left, right := panels[modes[k]], panels[modes[k+1]]
				if number > 7 {
					changed := changedTasks(plans[modes[k]], plans[modes[k+1]], p)
					left.Highlight, right.Highlight = changed, changed
				}
				name := fmt.Sprintf("figure%d", number)
				title := fmt.Sprintf("Fig. %d. %s", number, []string{
					"Trivial concatenation, and with the second batch reversed",
					"Moving a task of the reversed batch", "Moving and swapping tasks of the reversed batch",
				}[k])
				out.Figure(name, title, reports.Gantt{
					Title: title, Panels: []reports.GanttPanel{left, right}, Height: 480,
				})
			}
			return out.Table("figures7-9", t), nil
		},
	}
}

// figure10 finds, for each case of the proof in section 5, a schedule of phase 2
// without reconfiguration time that falls into it.
func figure10() figures.Artefact {
	const instances = 200 // of each workload and number of tasks
	var all []run.Series
	for w, n := range figures.Each(append([]workload{{"EXAMPLESCALING", "WIDETIMES"}}, workloads...), []int{3, 4, 5, 6, 8, 10}) {
		all = append(all, batch(synthetic(w, n, ""), "far?refine=false", mig.Free))
	}
	return figures.Artefact{
		Name: "figure10", Title: "the cases of the proof of the approximation factors",
		Build: func(d *figures.Data) (*figures.Output, error) {
			// A slice that is idle for less than a twentieth of the time is hard to see.
			const visible = 0.05
			cases := []struct {
				gpu   string
				title string
				holds func(idle []float64, start float64) bool
			}{
				{"A30", "(a) A30: all slices busy before l", func(idle []float64, l float64) bool { return l > 0 && slices.Max(idle) == 0 }},
				{"A100", "(b) A100: S4 or S5 idle before l", func(idle []float64, l float64) bool { return l > 0 && max(idle[4], idle[5]) > visible*l }},
				{"A100", "(c) A100: S6 idle before l, S4, S5 not", func(idle []float64, l float64) bool {
					return l > 0 && idle[6] > visible*l && idle[4] == 0 && idle[5] == 0
				}},
			}
			chart := reports.Gantt{Title: "Fig. 10. A schedule of phase 2 for each case of the proof, reconfiguration free"}
			t := reports.Table{
				Title:   "Figure 10, the schedules shown",
				Columns: reports.Left("case", "dataset").Right("instance", "l [s]", "makespan [s]"),
			}
			for _, c := range cases {
				found := false
				for _, a := range all {
					series := on(c.gpu, 1, a)
					for i := 0; i < d.Scale.Replicates(instances) && !found; i++ {
						p, s := d.Schedule(series, i)
						critical, idle := idleBeforeCritical(p, s)
						if !c.holds(idle, float64(critical.Start)) {
							continue
						}
						found = true
						panel := reports.NewGanttPanel(c.title, p, s)
						panel.Marks = append(panel.Marks, reports.TimeMark{At: critical.Start, Label: fmt.Sprintf("l = %.1f s", critical.Start)})
						panel.Highlight = []string{p.Tasks[critical.Task].Name}
						chart.Panels = append(chart.Panels, panel)
						t.Rows = append(t.Rows, []string{
							c.title, series.Dataset, fmt.Sprint(i),
							fmt.Sprintf("%.2f", critical.Start), fmt.Sprintf("%.2f", s.Makespan()),
						})
					}
				}
				if !found {
					t.Rows = append(t.Rows, []string{c.title, "none found", "", "", ""})
				}
			}
			return figures.Found().Table("figure10", t).Figure("figure10", chart.Title, chart), nil
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
	shown := []struct {
		title  string
		series run.Series
	}{
		{"FAR", batch(rodiniaData, "far", mig.Sequential)},
		{"MISO-OPT", batch(rodiniaData, "miso", mig.Free)},
		{"FIXPART(1,...,1)", batch(rodiniaData, "fixpart", mig.Free)},
		{"FIXPART(7)", batch(rodiniaData, "fixpart?p=7", mig.Free)},
		{"FIXPARTBEST", batch(rodiniaData, "fixpartbest", mig.Free)},
	}
	return figures.Artefact{
		Name: "figure12", Title: "the Rodinia kernels on A100 under different approaches",
		Needs: func(figures.Scale) (out []figures.Need) {
			for _, s := range shown {
				out = append(out, figures.NeedFirst(1, s.series)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			chart := reports.Gantt{Title: "Fig. 12. The 16 Rodinia kernels on A100", Height: 560}
			for _, x := range shown {
				p, s := d.Schedule(x.series, 0)
				chart.Panels = append(chart.Panels, reports.NewGanttPanel(x.title, p, s))
			}
			return figures.Found().Figure("figure12", chart.Title, chart), nil
		},
	}
}
