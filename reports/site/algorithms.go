package site

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/reports"
)

type algorithmsView struct {
	Tracks     []string
	Algorithms []algorithmView
}

type algorithmView struct {
	algo.Spec
	Page    string
	Results []resultView
	// Gantt is the file of an example schedule and Shown what it shows; empty for none.
	Gantt, Shown string
	// Beside is the address of the example on the page of instances.
	Beside string
}

// A resultView is a row of a leaderboard that has an algorithm in it.
type resultView struct {
	rowView
	Where string
	// Of is how many algorithms the board of the dataset has.
	Of int
}

// viewAlgorithms collects what the boards say of each algorithm, and draws an example schedule.
func viewAlgorithms(
	all []algo.Spec, boards []boardView, instances []Instance, pages map[string]string,
) (algorithmsView, []file, error) {
	v := algorithmsView{Tracks: distinct(all, func(a algo.Spec) string { return a.Track })}
	var files []file
	for _, a := range all {
		out := algorithmView{Spec: a, Page: pages[a.Name]}
		for _, b := range boards {
			for _, r := range b.Rows {
				if r.Page == out.Page && b.Track == a.Track {
					n := len(matching(b.Rows, func(o rowView) bool { return o.Dataset == r.Dataset }))
					out.Results = append(out.Results, resultView{r, b.Where, n})
				}
			}
		}
		drawing, err := out.draw(instances)
		if err != nil {
			return v, nil, err
		}
		files = append(files, drawing...)
		v.Algorithms = append(v.Algorithms, out)
	}
	return v, files, nil
}

func (v *algorithmView) draw(instances []Instance) ([]file, error) {
	for i := range instances {
		in := &instances[i]
		j := slices.IndexFunc(in.Plans, func(p Plan) bool {
			return algorithmName(p.Algorithm) == v.Name
		})
		if j < 0 || v.Track != "batch" {
			continue
		}
		p := in.Plans[j]
		v.Shown = fmt.Sprintf("%s on %s, instance %d", p.Algorithm, in.Dataset, in.Number)
		v.Gantt = "figures/" + strings.TrimSuffix(v.Page, ".html") + ".svg"
		v.Beside = fmt.Sprintf("instances.html#dataset=%s&instance=%d&b=%s", in.Dataset, in.Number, p.Algorithm)
		var b bytes.Buffer
		panel := reports.NewGanttPanel(v.Shown, in.Problem, p.Schedule)
		err := reports.Encode(&b, "svg", reports.Gantt{
			Tasks: reports.TaskNames(in.Problem.Tasks), Panels: []reports.GanttPanel{panel},
		})
		return []file{{v.Gantt, b.Bytes()}}, err
	}
	return nil, nil
}
