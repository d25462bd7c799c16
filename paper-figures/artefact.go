package figures

import (
	"context"

	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/reports"
)

// A Paper is a publication with everything of it that is reproduced.
type Paper struct {
	// Name is the paper's name in claims and on the command line, for example far.
	Name string
	// Title and Cite say which publication it is.
	Title, Cite string
	// Artefacts are in the order of the paper.
	Artefacts []Artefact
}

// An Artefact is a table, a figure or a group of numbers of a paper.
type Artefact struct {
	// Name is the artefact's name in claims and files, for example table4.
	Name string
	// Title is what the paper shows there.
	Title string
	// Needs lists the cells whose results Build reads.
	Needs func(Scale) []Need
	// Build turns results into tables, figures and findings.
	Build func(*Data) (*Output, error)
	// Timed marks an artefact about wall times: its files differ from run to run.
	Timed bool
}

// A Need is instances First to First+N-1 of a series.
type Need struct {
	Series   run.Series
	First, N int
}

// A Scale is how much of the paper's replicates a run takes.
type Scale struct {
	// Quick takes a fraction of the replicates and gives no verdicts.
	Quick bool
}

// quickReplicates is enough to see that everything works.
const quickReplicates = 20

// Replicates returns how many replicates stand for the paper's own number.
func (s Scale) Replicates(paper int) int {
	if s.Quick {
		return min(paper, quickReplicates)
	}
	return paper
}

// Output is what an artefact amounts to.
type Output struct {
	Findings []Finding
	Tables   []Table
	Figures  []Figure
}

// A Table is a table with the name of its files, without extension.
type Table struct {
	File  string
	Table reports.Table
}

// A Figure is a figure with the name of its files, without extension.
type Figure struct {
	File   string
	Title  string
	Figure reports.Figure
}

// Data gives an artefact's Build the results of its cells.
type Data struct {
	Scale   Scale
	ctx     context.Context
	engine  *run.Engine
	results run.Results
	needs   map[run.Series]Need
}

// Judge compares a measured value with a claim, as [Judge] does; a quick run gives
// no verdict.
func (d *Data) Judge(c Claim, m Measurement, reading, reason string) Finding {
	f := Judge(c, m, reading, reason)
	if d.Scale.Quick {
		f.Verdict, f.Reason = Undecided, "quick run"
	}
	return f
}

// Values returns a metric of a series that the artefact needs, by instance.
func (d *Data) Values(s run.Series, metric string) ([]float64, error) {
	n := d.needs[s]
	return d.results.Values(s, n.First, n.N, metric)
}

// Micros returns the wall times of a series in microseconds.
func (d *Data) Micros(s run.Series) ([]float64, error) {
	n := d.needs[s]
	us, err := d.results.Microseconds(s, n.First, n.N)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(us))
	for i := range us {
		out[i] = float64(us[i])
	}
	return out, nil
}

// Schedule returns the schedule of one cell, for drawing.
func (d *Data) Schedule(s run.Series, instance int) (schedule.Problem, schedule.Schedule, error) {
	cells, err := s.Cells(instance + 1)
	if err != nil {
		return schedule.Problem{}, schedule.Schedule{}, err
	}
	return d.engine.Schedule(d.ctx, cells[instance])
}
