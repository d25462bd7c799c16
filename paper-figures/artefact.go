package figures

import (
	"miglab/datasets"
	"miglab/harness/run"
	"miglab/reports"
)

// A Paper is a publication and the parts of it that are reproduced.
type Paper struct {
	// Name is the paper's name in claims and on the command line, for example far.
	Name string
	// Title and Cite identify the publication.
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
	// Needs lists the cells whose results Build reads. If it lists a series several
	// times, the largest number of instances counts.
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

// A Scale says how many of the paper's replicates a run computes.
type Scale struct {
	// Quick computes a few replicates and gives no verdicts.
	Quick bool
}

// quickReplicates is enough to check that everything works.
const quickReplicates = 20

// Replicates returns how many replicates to compute where the paper has the given number.
func (s Scale) Replicates(paper int) int {
	if s.Quick {
		return min(paper, quickReplicates)
	}
	return paper
}

// NeedFirst lists the first n instances of each series.
func NeedFirst(n int, series ...run.Series) []Need {
	out := make([]Need, len(series))
	for i, s := range series {
		out[i] = Need{Series: s, N: n}
	}
	return out
}

// Dataset returns the canonical form of a dataset that is fixed in the program.
func Dataset(spec string) string { return datasets.MustParse(spec).ID() }

// Drawing is an artefact that consists of one figure and needs no results.
func Drawing(name, title, caption string, f reports.Figure) Artefact {
	return Artefact{
		Name: name, Title: title,
		Build: func(*Data) (*Output, error) { return Found().Figure(name, caption, f), nil },
	}
}

// Output is the result of an artefact.
type Output struct {
	Findings []Finding
	Tables   []Table
	Figures  []Figure
}

// Found returns an output with findings; tables and figures are added to it.
func Found(findings ...Finding) *Output { return &Output{Findings: findings} }

// Table adds a table, and returns the output.
func (o *Output) Table(file string, t reports.Table) *Output {
	o.Tables = append(o.Tables, Table{file, t})
	return o
}

// Figure adds a figure, and returns the output.
func (o *Output) Figure(file, title string, f reports.Figure) *Output {
	o.Figures = append(o.Figures, Figure{file, title, f})
	return o
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
