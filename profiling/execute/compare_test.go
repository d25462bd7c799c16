package execute_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
	"miglab/harness/schedule"
	"miglab/profiling/execute"
	"miglab/reports"
)

// shifted is twoByTwo as it could happen.
func shifted(t *testing.T) (p schedule.Problem, planned, real schedule.Schedule) {
	t.Helper()
	p, planned = twoByTwo(t)
	real = planned
	real.Placements = slices.Clone(planned.Placements)
	slices.Reverse(real.Placements)
	for i := range real.Placements {
		real.Placements[i].End *= 1.02
	}
	real.Placements[3].End = 10 // a
	return p, planned, real
}

var fake = datasets.Provenance{GPU: "A100", Name: "NVIDIA A100 (fake)", Driver: "0.0 (fake)", Source: "mig", Date: "2026-11-21"}

func TestCompare(t *testing.T) {
	p, planned, real := shifted(t)
	rows := execute.Compare(fake, p, planned, real)
	var order []string
	for _, r := range rows {
		order = append(order, r.Task)
		if r.Provenance != fake || r.Algorithm != "by hand" {
			t.Errorf("the row of %s is of %v, %q", r.Task, r.Provenance, r.Algorithm)
		}
	}
	if got := strings.Join(order, " "); got != "b a c d" {
		t.Fatalf("rows %q, want them by simulated end", got)
	}
	b := rows[0]
	if b.Device != 0 || b.Size != 3 || b.Slice != 4 || b.SimulatedStart != 0.40 || b.SimulatedEnd != 4.40 || b.RealStart != 0.40 ||
		b.RealEnd != 4.40*1.02 || reports.Fixed(b.Deviation, 6) != "1.960784" {
		t.Errorf("the row of b is %+v", b)
	}
	if d := reports.Fixed(rows[1].Deviation, 3); d != "-2.000" {
		t.Errorf("a ends %s %% late, want -2.000", d)
	}
}

func TestCompareLeavesOutWhatDidNotEnd(t *testing.T) {
	p, planned, real := shifted(t)
	real.Placements = real.Placements[2:]
	if rows := execute.Compare(fake, p, planned, real); len(rows) != 2 || rows[0].Task != "b" || rows[1].Task != "a" {
		t.Errorf("rows %+v", rows)
	}
}

func TestTable(t *testing.T) {
	p, planned, real := shifted(t)
	late := real
	late.Placements = slices.Clone(real.Placements)
	late.Placements[1].End = 19 // c
	for _, c := range []struct {
		name string
		real schedule.Schedule
		want string
	}{
		{"as planned", real, `
Simulated and real end of 4 tasks, by hand; NVIDIA A100 (fake), source: mig

Task  Simulated end (s)  Real end (s)  Deviation (%)
----  -----------------  ------------  -------------
b                  4.40          4.49           1.96
a                 10.20         10.00          -2.00
c                 15.65         15.96           1.96
d *               18.08         18.44           1.96

Makespan: 18.08 s simulated, 18.44 s real (1.96 %).
* ends last.
`},
		{"another task ends last", late, `
Simulated and real end of 4 tasks, by hand; NVIDIA A100 (fake), source: mig

Task  Simulated end (s)  Real end (s)  Deviation (%)
----  -----------------  ------------  -------------
b                  4.40          4.49           1.96
a                 10.20         10.00          -2.00
c **              15.65         19.00          17.63
d *               18.08         18.44           1.96

Makespan: 18.08 s simulated, 19.00 s real (4.84 %).
* ends last as simulated, ** for real.
`},
	} {
		var b bytes.Buffer
		table := execute.Table(execute.Compare(fake, p, planned, c.real))
		if err := table.Text(&b); err != nil {
			t.Fatal(err)
		}
		if got := "\n" + b.String(); got != c.want {
			t.Errorf("%s:%s\nwant%s", c.name, got, c.want)
		}
	}
}

// What was executed, all of it or a part, is a table of [datasets.ReadHardware], whoever made the schedule.
func TestExecutionCanBeKept(t *testing.T) {
	p, planned, real := shifted(t)
	part := real
	part.Placements = real.Placements[2:]
	nobody := planned
	nobody.Algorithm = " "
	for name, rows := range map[string][]datasets.ExecutionTime{
		"all": execute.Compare(fake, p, planned, real), "part": execute.Compare(fake, p, planned, part), "unnamed": execute.Compare(fake, p, nobody, real),
	} {
		var w bytes.Buffer
		if err := datasets.WriteHardware(&w, rows); err != nil {
			t.Fatal(err)
		}
		h, err := datasets.ReadHardware(fstest.MapFS{"mine.execution.csv": {Data: w.Bytes()}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := h.Execution[0].Rows; !slices.Equal(got, rows) {
			t.Errorf("%s: %#v became %#v", name, rows, got)
		}
	}
}

func TestChart(t *testing.T) {
	p, planned, real := shifted(t)
	chart := execute.Chart(fake, p, planned, real)
	if want := "by hand; NVIDIA A100 (fake), source: mig"; chart.Title != want {
		t.Errorf("title %q, want %q", chart.Title, want)
	}
	if len(chart.Panels) != 2 || len(chart.Panels[0].Bars) != 11 || len(chart.Panels[1].Bars) != 11 {
		t.Fatalf("%d panels, want 2 with 11 bars each", len(chart.Panels))
	}
	if chart.Panels[0].Marks[0].At != planned.Makespan() || chart.Panels[1].Marks[0].At != real.Makespan() {
		t.Errorf("marks %v and %v, want the makespans", chart.Panels[0].Marks, chart.Panels[1].Marks)
	}
	for _, format := range reports.FigureFormats {
		var b bytes.Buffer
		if err := reports.Encode(&b, format, chart); err != nil || b.Len() == 0 {
			t.Errorf("%s: %d bytes, error %v", format, b.Len(), err)
		}
	}
}
