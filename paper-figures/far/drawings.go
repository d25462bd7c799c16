package far

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The paper does not publish the instances behind its drawings. Figures 5 and 6 use datasets of ours, found by
// local search. The others use the cells of the tables that show best what the paper shows.

// figure4 lists what each instance of the repartitioning trees is split into.
func figure4(d *figures.Data) {
	t := d.Table("figure4", "Fig. 4. Repartitioning trees of A30 and of A100/H100",
		reports.Left("GPU", "size@first slice", "is split into"),
		"3@0 takes the memory of slice 3 as well, so 2@2 comes after it")
	for _, g := range partitioned {
		nodes := g.Tree()
		for _, n := range nodes {
			if len(n.Children) > 0 {
				parts := figures.Map(n.Children, func(i int) string { return nodes[i].String() })
				t.Row(g.Name, n.Instance, strings.Join(parts, ", "))
			}
		}
	}
}

// figures5and6 draws a batch on which one move, and one on which one swap, of the refinement gains much.
func figures5and6(d *figures.Data) {
	values := d.Under("")
	for i, x := range []struct{ claim, data, gpu, operation string }{
		{"gain from moving a task", "far-move", "A100", "moves"},
		{"gain from swapping tasks", "far-swap", "A30", "swaps"},
	} {
		of := func(algorithm string) store.Series {
			return seriesOn(x.gpu, 1, batch(figures.Dataset(x.data), algorithm, mig.Sequential))
		}
		refined, unrefined := of("far"), of("far?refine=false")
		gain := d.Above(unrefined, refined, 1)[0]
		values[claim.Of(x.claim)] = figures.Exactly(gain)
		p, a := d.Schedule(unrefined, 0)
		_, b := d.Schedule(refined, 0)
		title := fmt.Sprintf("Fig. %d. Phase 2, and after the refinement (%s: %g): a gain of %.1f %%", i+5, x.operation,
			d.First(refined, x.operation), gain)
		d.Figure(fmt.Sprintf("figure%d", i+5), title, reports.Gantt{
			Title: title, Outline: moved, Panels: beforeAndAfter(reports.NewGanttPanel("before", p, a),
				reports.NewGanttPanel("after", p, b), changedTasks(a, b, p)),
		})
	}
}

const moved = "on another instance"

// beforeAndAfter highlights the same tasks in two panels.
func beforeAndAfter(before, after reports.GanttPanel, changed []string) []reports.GanttPanel {
	before.Highlight, after.Highlight = changed, changed
	return []reports.GanttPanel{before, after}
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
	return changed
}

// figures7to9 concatenates two batches trivially, with the second reversed, with tasks moved, and with tasks swapped.
func figures7to9(d *figures.Data) {
	const pairs = 500
	mixed := workload{"MIXEDSCALING", "WIDETIMES"}
	data := synthetic(mixed, 10, "batches=2")
	of := func(mode string) store.Series { return stream(data, "far-concat?mode="+mode) }
	steps := []struct{ mode, panel, title string }{
		{"trivial", "trivial", ""},
		{"reverse", "second batch reversed", "Trivial concatenation, and with the second batch reversed"},
		{"move", "and a task moved", "Moving a task of the reversed batch"},
		{"moveswap", "and tasks moved and swapped", "Moving and swapping tasks of the reversed batch"},
	}
	var spans [][]float64
	for _, c := range steps {
		spans = append(spans, d.Values(of(c.mode), pairs, makespan))
	}
	best := mostVisible(spans, d.Values(of("move"), pairs, "moves"), d.Values(of("moveswap"), pairs, "swaps"))
	t := d.Table("figures7-9", "",
		reports.Left("concatenation").Right("makespan [s]", "gain over trivial [%]"))
	t.Title = fmt.Sprintf("Two batches of 10 tasks, %s, pair %d", mixed, best)
	var left reports.GanttPanel
	var before schedule.Schedule
	for k, c := range steps {
		t.Row(c.mode, reports.Cells(2, spans[k][best], (spans[0][best]/spans[k][best]-1)*100))
		p, s := d.Schedule(of(c.mode), best)
		p.Tasks = reports.ShortNames(p.Tasks, 10)
		right := reports.NewGanttPanel(c.panel, p, s)
		if k > 0 {
			title := fmt.Sprintf("Fig. %d. %s (batches a and b)", k+6, c.title)
			panels := []reports.GanttPanel{left, right}
			chart := reports.Gantt{Title: title, Tasks: reports.TaskNames(p.Tasks), Panels: panels, Height: 480}
			if k > 1 { // reversing changes every task
				chart.Outline, chart.Panels = moved, beforeAndAfter(left, right, changedTasks(before, s, p))
			}
			d.Figure(fmt.Sprintf("figure%d", k+6), title, chart)
		}
		left, before = right, s
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

// proofCases are the cases of the proof in section 5, by how long each slice is idle before the
// critical task starts. A slice that is idle for less than a twentieth of the time is hard to see.
var proofCases = []struct {
	gpu, title string
	holds      func(idle []float64, start float64) bool
}{
	{"A30", "(a) A30: all slices busy before l", func(idle []float64, _ float64) bool { return slices.Max(idle) == 0 }},
	{"A100", "(b) A100: S4 or S5 idle before l", func(idle []float64, l float64) bool {
		return max(idle[4], idle[5]) > 0.05*l
	}},
	{"A100", "(c) A100: S6 idle before l, S4, S5 not", func(idle []float64, l float64) bool {
		return idle[6] > 0.05*l && idle[4] == 0 && idle[5] == 0
	}},
}

// figure10 finds a schedule of phase 2, without reconfiguration time, for each case of the proof in section 5.
func figure10(d *figures.Data) {
	const instances = 20
	data := synthetic(workload{"GOODSCALING", "WIDETIMES"}, 4, "")
	chart := reports.Gantt{
		Title:   "Fig. 10. Phase 2 in each case of the proof, reconfiguration free",
		Outline: "critical task, which begins at l",
	}
	t := d.Table("figure10", "Figure 10, the schedules shown, dataset",
		reports.Left("case").Right("instance", "l [s]", "makespan [s]"))
	t.Title += " " + data
	for _, c := range proofCases {
		for i := range instances {
			p, s := d.Schedule(seriesOn(c.gpu, 1, batch(data, "far?refine=false", mig.Free)), i)
			critical, idle := idleBeforeCritical(p, s)
			start := float64(critical.Start)
			if d.Planning() || start == 0 || !c.holds(idle, start) {
				continue
			}
			panel := reports.NewGanttPanel(c.title, p, s)
			panel.Marks = append(panel.Marks,
				reports.TimeMark{At: critical.Start, Label: fmt.Sprintf("l = %.1f s", start)})
			panel.Highlight = []string{p.Tasks[critical.Task].Name}
			chart.Panels = append(chart.Panels, panel)
			t.Row(c.title, i, reports.Cells(2, start, float64(s.Makespan())))
			break
		}
	}
	d.Figure("figure10", chart.Title, chart)
}

// idleBeforeCritical returns the (longest) task that reaches the makespan, and each slice's idle seconds before it.
func idleBeforeCritical(p schedule.Problem, s schedule.Schedule) (critical schedule.Placement, idle []float64) {
	for _, pl := range s.Placements {
		if pl.End > critical.End || pl.End == critical.End && pl.Start < critical.Start {
			critical = pl
		}
	}
	idle = slices.Repeat([]float64{float64(critical.Start)}, int(p.GPU.ComputeSlices))
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
