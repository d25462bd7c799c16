package site

import (
	"bytes"
	"encoding/json"
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/stats"
	"miglab/reports"
)

// A datasetView is a dataset whose script the page of instances loads when the reader chooses it. A page on disk can
// do this without a server.
type datasetView struct{ Dataset, Script string }

// The contents of the script. Times are in seconds. Texts are shown unchanged.
type (
	dataDataset struct {
		Dataset   string               `json:"dataset"`
		Colours   reports.GanttColours `json:"colours"`
		Instances []dataInstance       `json:"instances"`
	}
	dataInstance struct {
		Number int        `json:"number"`
		GPU    string     `json:"gpu"`
		GPUs   int        `json:"gpus"`
		Slices mig.Slices `json:"slices"`
		Model  string     `json:"model"`
		// Tasks are in the order of their colours.
		Tasks     []string    `json:"tasks"`
		Bound     mig.Seconds `json:"bound"` // 0 for none
		BoundText string      `json:"boundText"`
		Proven    bool        `json:"proven"`
		Plans     []dataPlan  `json:"plans"`
	}
	dataPlan struct {
		Algorithm        string         `json:"algorithm"`
		Makespan         mig.Seconds    `json:"makespan"`
		MakespanText     string         `json:"makespanText"`
		Gap              string         `json:"gap"` // percent above the bound
		Utilisation      string         `json:"utilisation"`
		Reconfigurations int            `json:"reconfigurations"`
		Bars             []schedule.Bar `json:"bars"`
		// Used and Waiting count slices in use and tasks that have not begun over time.
		Used    []schedule.Step `json:"used"`
		Waiting []schedule.Step `json:"waiting"`
	}
)

// viewInstances measures all schedules and writes a script for each dataset.
func viewInstances(instances []Instance) ([]datasetView, []file, error) {
	var views []datasetView
	var files []file
	taken := map[string]bool{}
	for _, name := range distinct(instances, func(in Instance) string { return in.Dataset }) {
		data := dataDataset{Dataset: name, Colours: reports.NewGanttColours()}
		for _, own := range matching(instances, func(in Instance) bool { return in.Dataset == name }) {
			in, err := newDataInstance(&own)
			if err != nil {
				return nil, nil, err
			}
			data.Instances = append(data.Instances, in)
		}
		// Go escapes <, > and &, and the line ends of JavaScript, in JSON strings.
		text, err := json.Marshal(data)
		if err != nil {
			return nil, nil, refuse(name, "%w", err)
		}
		v := datasetView{name, "data/" + slug(name, taken) + ".js"}
		views = append(views, v)
		files = append(files, file{v.Script, bytes.Join([][]byte{[]byte("miglab.loaded("), text, []byte(");\n")}, nil)})
	}
	return views, files, nil
}

func newDataInstance(in *Instance) (dataInstance, error) {
	part := fmt.Sprintf("instance %d of %s", in.Number, in.Dataset)
	if len(in.Plans) == 0 {
		return dataInstance{}, refuse(part, "it has no schedules")
	}
	p := in.Problem
	out := dataInstance{
		Number: in.Number, Tasks: reports.TaskNames(p.Tasks),
		GPU: p.GPU.Name, GPUs: p.GPUs(), Slices: p.GPU.ComputeSlices, Model: p.Model.String(),
		Bound: in.Lower, BoundText: reports.Fixed(float64(in.Lower), decimals), Proven: in.Proven,
	}
	for _, plan := range in.Plans {
		part := part + ", " + plan.Algorithm
		m, err := schedule.Measure(p, plan.Schedule)
		if err != nil {
			return dataInstance{}, refuse(part, "%w", err)
		}
		d := dataPlan{
			Algorithm: plan.Algorithm, Makespan: m.Makespan, MakespanText: reports.Fixed(float64(m.Makespan), decimals),
			Gap: reports.Missing, Utilisation: reports.Fixed(m.Utilisation*100, 1),
			Reconfigurations: m.Reconfigurations, Bars: schedule.Bars(p, plan.Schedule),
		}
		d.Used, d.Waiting, _ = schedule.NewHistory(p, plan.Schedule, nil).Steps()
		if in.Lower > 0 {
			if m.Makespan < in.Lower*(1-stats.RoundingError) {
				return dataInstance{}, refuse(part,
					"the makespan of %v s is below the certified bound of %v s; one of them is wrong",
					m.Makespan, in.Lower)
			}
			d.Gap = reports.Fixed(float64(m.Makespan/in.Lower-1)*100, decimals)
		}
		out.Plans = append(out.Plans, d)
	}
	return out, nil
}

// decimals is the number of decimals of seconds and of gaps in percent.
const decimals = 3
