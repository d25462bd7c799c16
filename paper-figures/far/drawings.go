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

// The paper does not publish the instances behind its drawings. Those here are
// found among the cells that the tables compute: the one that shows best what the
// paper's figure shows.

// figures5and6 finds a batch whose refinement is one move and one whose refinement
// is one swap, each with the largest gain.
func figures5and6(claims *figures.Claims) figures.Artefact {
	searched := []workload{{"MIXEDSCALING", "WIDETIMES"}, {"EXAMPLESCALING", "WIDETIMES"}}
	ns := []int{4, 5, 6, 8, 10}
	const instances = 2000 // of each
	pair := func(w workload, n int) (refined, unrefined run.Series) {
		data := synthetic(w, n, "")
		return batch(data, "far", mig.Sequential), batch(data, "far?refine=false", mig.Sequential)
	}
	return figures.Artefact{
		Name: "figures5-6", Title: "a move and a swap of the refinement, before and after",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range searched {
				for _, n := range ns {
					a, b := pair(w, n)
					out = append(out, figures.Need{Series: a, N: s.Replicates(instances)}, figures.Need{Series: b, N: s.Replicates(instances)})
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			type found struct {
				gain              float64
				refined, original run.Series
				instance          int
			}
			var move, swap *found
			seen := 0
			for _, w := range searched {
				for _, n := range ns {
					a, b := pair(w, n)
					gains, err := ratios(d, b, makespan, a, makespan)
					if err != nil {
						return nil, err
					}
					moves, err := d.Values(a, "moves")
					if err != nil {
						return nil, err
					}
					swaps, err := d.Values(a, "swaps")
					if err != nil {
						return nil, err
					}
					seen += len(gains)
					for i, g := range gains {
						f := &found{(g - 1) * 100, a, b, i}
						if moves[i] == 1 && swaps[i] == 0 && (move == nil || f.gain > move.gain) {
							move = f
						}
						if moves[i] == 0 && swaps[i] == 1 && (swap == nil || f.gain > swap.gain) {
							swap = f
						}
					}
				}
			}
			out := &figures.Output{}
			for _, f := range []struct {
				*found
				number int
				claim  string
			}{{move, 5, "gain from moving a task"}, {swap, 6, "gain from swapping tasks"}} {
				name := fmt.Sprintf("figure%d", f.number)
				claim := claims.Get(name, f.claim)
				if f.found == nil {
					out.Findings = append(out.Findings, figures.Missing(claim, fmt.Sprintf("no such batch among %d", seen)))
					continue
				}
				out.Findings = append(out.Findings, figures.Judge(claim, figures.Exactly(f.gain), "",
					fmt.Sprintf("the paper's instance is not published; this is the largest gain of a single such operation among %d batches of 4 to 10 tasks", seen)))
				gantt, err := beforeAndAfter(d, f.original, f.refined, f.instance)
				if err != nil {
					return nil, err
				}
				gantt.Title = fmt.Sprintf("Fig. %d. Phase 2, and after one %s: a gain of %.1f %%", f.number, []string{"move", "swap"}[f.number-5], f.gain)
				out.Figures = append(out.Figures, figures.Figure{File: name, Title: gantt.Title, Figure: gantt})
			}
			out.Tables = []figures.Table{{File: "figures5-6", Table: figures.ComparisonTable("Figures 5 and 6", out.Findings)}}
			return out, nil
		},
	}
}

// beforeAndAfter draws two schedules of the same instance and outlines the tasks
// that changed their instance.
func beforeAndAfter(d *figures.Data, before, after run.Series, instance int) (reports.Gantt, error) {
	p, a, err := d.Schedule(before, instance)
	if err != nil {
		return reports.Gantt{}, err
	}
	_, b, err := d.Schedule(after, instance)
	if err != nil {
		return reports.Gantt{}, err
	}
	changed := changedTasks(a, b, p)
	left, right := reports.NewGanttPanel("before", p, a), reports.NewGanttPanel("after", p, b)
	left.Highlight, right.Highlight = changed, changed
	return reports.Gantt{Panels: []reports.GanttPanel{left, right}}, nil
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
				out = append(out, figures.Need{Series: series(m), N: s.Replicates((batches - 1) / 2)})
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			spans := map[string][]float64{}
			for _, m := range modes {
				v, err := d.Values(series(m), makespan)
				if err != nil {
					return nil, err
				}
				spans[m] = v
			}
			// Every step is to be visible: the pair whose smallest gain is largest.
			best, least := 0, math.Inf(-1)
			for i := range spans["trivial"] {
				smallest := math.Inf(1)
				for k := range modes[1:] {
					smallest = min(smallest, spans[modes[k]][i]/spans[modes[k+1]][i]-1)
				}
				if smallest > least {
					best, least = i, smallest
				}
			}
			out := &figures.Output{}
			t := reports.Table{
				Title:   fmt.Sprintf("Two batches of 10 tasks, %s, pair %d", w, best),
				Columns: []reports.Column{{Name: "concatenation"}, {Name: "makespan [s]", Right: true}, {Name: "gain over trivial [%]", Right: true}},
			}
			panels := map[string]reports.GanttPanel{}
			plans := map[string]schedule.Schedule{}
			var p schedule.Problem
			for _, m := range modes {
				var s schedule.Schedule
				var err error
				if p, s, err = d.Schedule(series(m), best); err != nil {
					return nil, err
				}
				plans[m] = s
				panels[m] = reports.NewGanttPanel(map[string]string{
					"trivial": "trivial", "reverse": "second batch reversed", "move": "and tasks moved", "moveswap": "and tasks swapped",
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
					"Moving tasks of the reversed batch", "Swapping tasks of the reversed batch",
				}[k])
				out.Figures = append(out.Figures, figures.Figure{File: name, Title: title, Figure: reports.Gantt{
					Title: title, Panels: []reports.GanttPanel{left, right}, Height: 480,
				}})
			}
			out.Tables = []figures.Table{{File: "figures7-9", Table: t}}
			return out, nil
		},
	}
}

// figure10 finds, for each case of the proof in section 5, a schedule of phase 2
// without reconfiguration time that falls into it.
func figure10() figures.Artefact {
	const instances = 200 // of each workload and number of tasks
	var all []run.Series
	for _, w := range append([]workload{{"EXAMPLESCALING", "WIDETIMES"}}, workloads...) {
		for _, n := range []int{3, 4, 5, 6, 8, 10} {
			all = append(all, batch(synthetic(w, n, ""), "far?refine=false", mig.Free))
		}
	}
	return figures.Artefact{
		Name: "figure10", Title: "the cases of the proof of the approximation factors",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, gpu := range []string{"A30", "A100"} {
				for _, a := range all {
					out = append(out, figures.Need{Series: on(gpu, 1, a), N: s.Replicates(instances)})
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			cases := []struct {
				gpu   string
				title string
				holds func(idle []float64, start float64) bool
			}{
				{"A30", "(a) A30: all slices busy before l", func(idle []float64, l float64) bool { return l > 0 && slices.Max(idle) == 0 }},
				{"A100", "(b) A100: S4 or S5 idle before l", func(idle []float64, l float64) bool { return l > 0 && max(idle[4], idle[5]) > 0.05*l }},
				{"A100", "(c) A100: S6 idle before l, S4, S5 not", func(idle []float64, l float64) bool {
					return l > 0 && idle[6] > 0.05*l && idle[4] == 0 && idle[5] == 0
				}},
			}
			chart := reports.Gantt{Title: "Fig. 10. A schedule of phase 2 for each case of the proof, reconfiguration free"}
			t := reports.Table{
				Title:   "Figure 10, the schedules shown",
				Columns: []reports.Column{{Name: "case"}, {Name: "dataset"}, {Name: "instance", Right: true}, {Name: "l [s]", Right: true}, {Name: "makespan [s]", Right: true}},
			}
			for _, c := range cases {
				found := false
				for _, a := range all {
					series := on(c.gpu, 1, a)
					for i := 0; i < d.Scale.Replicates(instances) && !found; i++ {
						p, s, err := d.Schedule(series, i)
						if err != nil {
							return nil, err
						}
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
			return &figures.Output{
				Tables:  []figures.Table{{File: "figure10", Table: t}},
				Figures: []figures.Figure{{File: "figure10", Title: chart.Title, Figure: chart}},
			}, nil
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
				out = append(out, figures.Need{Series: s.series, N: 1})
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			chart := reports.Gantt{Title: "Fig. 12. The 16 Rodinia kernels on A100", Height: 560}
			for _, x := range shown {
				p, s, err := d.Schedule(x.series, 0)
				if err != nil {
					return nil, err
				}
				chart.Panels = append(chart.Panels, reports.NewGanttPanel(x.title, p, s))
			}
			return drawn("figure12", chart.Title, chart), nil
		},
	}
}
