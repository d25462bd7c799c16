package drl

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	figures "miglab/paper-figures"
	"miglab/reports"
)

func figure1(d *figures.Data) (*figures.Output, error) {
	gpus := []*mig.GPU{mig.MustLookup("A30"), mig.MustLookup("A100")}
	t := d.Claims.Head("figure1")
	for _, g := range gpus {
		number := map[string]string{}
		for i, p := range g.Partitions() {
			number[p.String()] = fmt.Sprint(i + 1)
		}
		for _, class := range g.Classes() {
			row := []string{g.Name, class[0].String(), number[class[0].String()], "", ""}
			for _, p := range class[1:] {
				row[3], row[4] = p.String(), number[p.String()]
			}
			t.Rows = append(t.Rows, row)
		}
	}
	chart := reports.Partitions{Title: "Fig. 1. Partitions of A30 and of A100, H100 and later models", GPUs: gpus}
	return new(figures.Output).Table("figure1", t).Figure("figure1", chart.Title, chart), nil
}

// queue is the example of Fig. 3: a batch of at most 4 tasks over time.
type queue struct {
	refilled       bool
	batch, pending []string
}

const exampleBatch = 4

// step lets a task arrive or executes one, and moves pending tasks to the batch: offline once it
// is empty, online at once.
func (q *queue) step(verb, task string) {
	switch verb {
	case "arrive":
		q.pending = append(q.pending, task)
	case "execute":
		q.batch = slices.DeleteFunc(q.batch, func(have string) bool { return have == task })
	}
	if !q.refilled && len(q.batch) > 0 {
		return
	}
	room := min(exampleBatch-len(q.batch), len(q.pending))
	q.batch, q.pending = append(q.batch, q.pending[:room]...), q.pending[room:]
}

func figure3(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("figure3")
	bars := reports.Bars{
		Title: "Fig. 3. Tasks that the scheduler can choose from",
		X:     reports.Axis{Label: "Event"}, Y: reports.Axis{Label: "Tasks in the batch", From: 0, To: exampleBatch + 1},
		Groups: []reports.BarGroup{{Name: "offline"}, {Name: "online"}},
	}
	both := []*queue{{}, {refilled: true}}
	for _, q := range both {
		q.pending = []string{"T1", "T2", "T3", "T4", "T5", "T6"}
	}
	for _, event := range []string{"start", "execute T2", "arrive T7", "execute T1", "arrive T8", "execute T4", "execute T3", "execute T5"} {
		verb, task, _ := strings.Cut(event, " ")
		row := []string{event}
		for i, q := range both {
			q.step(verb, task)
			row = append(row, strings.Join(q.batch, " "), strings.Join(q.pending, " "))
			bars.Groups[i].Values = append(bars.Groups[i].Values, float64(len(q.batch)))
		}
		t.Rows, bars.Categories = append(t.Rows, row), append(bars.Categories, event)
	}
	return new(figures.Output).Table("figure3", t).Figure("figure3", bars.Title, bars), nil
}

// figure5 shows a GPU's state and the same state as the scheduler sees it: three
// instances are busy for a while, and a new task is put on the fourth.
func figure5(d *figures.Data) (*figures.Output, error) {
	g := mig.MustLookup("A100")
	actual := partitionOf("1-1-2-3")
	canonical, sigma, ok := g.Canonical(actual)
	if !ok {
		return nil, fmt.Errorf("%v has no canonical form", actual)
	}
	names := []string{"T1", "T2", "new", "T3"}
	remaining := []mig.Seconds{3, 5, 6, 2}
	left := reports.GanttPanel{Title: "GPU: " + actual.String(), GPU: g, Highlight: []string{"new"}}
	right := reports.GanttPanel{Title: "scheduler: " + canonical.String(), GPU: g, Highlight: []string{"new"}}
	for i, in := range actual {
		bar := schedule.Bar{Slice: in.Start, Width: in.Size(), End: remaining[i], Label: names[i]}
		left.Bars = append(left.Bars, bar)
		// The first slice of the scheduler that represents one of the instance.
		bar.Slice = mig.Slices(slices.IndexFunc(sigma, func(s int) bool { return mig.Slices(s) >= in.Start && mig.Slices(s) < in.Start+in.Size() }))
		right.Bars = append(right.Bars, bar)
	}
	t := d.Claims.Head("figure5")
	for i, s := range sigma {
		t.Rows = append(t.Rows, []string{fmt.Sprint("S", i), fmt.Sprint("S", s)})
	}
	chart := reports.Gantt{
		Title: "Fig. 5. Time until each slice is free, on the GPU and as the scheduler sees it", Height: 260,
		Panels: []reports.GanttPanel{left, right},
	}
	return new(figures.Output).Table("figure5", t).Figure("figure5", chart.Title, chart), nil
}

// speedups draws t(1)/t(s) over s in small multiples.
func speedups(heading, dataset string, perPanel int) reports.Panels {
	g := mig.MustLookup("A100")
	lines := reports.Lines{Title: heading, X: reports.Axis{Label: "Instance size [slices]"}, Y: reports.Axis{Label: "Speedup"}}
	lines.X.Ticks = figures.Map(g.Sizes(), func(s mig.Slices) float64 { return float64(s) })
	for _, t := range instanceOf(dataset, g.Name, 0) {
		lines.Series = append(lines.Series, reports.Series{
			Name: t.Name, Markers: true, X: lines.X.Ticks,
			Y: figures.Map(g.Sizes(), func(s mig.Slices) float64 { return float64(t.On(1) / t.On(s)) }),
		})
	}
	return lines.Split(perPanel)
}

func figure7() figures.Artefact {
	const heading = "Fig. 7. Speedup of the 16 public Rodinia kernels on A100"
	return figures.Drawing("figure7", "speedups of the public kernels on A100", heading, speedups(heading, "rodinia", 4))
}

func figure8() figures.Artefact {
	const heading = "Fig. 8. Speedup of 10 synthetic tasks, p = (10, 10, 20, 30, 30) %, p_sup = 50 %"
	return figures.Drawing("figure8", "synthetic speedups for n = 10 tasks on A100", heading, speedups(heading, "far/EXAMPLESCALING+WIDETIMES", 5))
}
