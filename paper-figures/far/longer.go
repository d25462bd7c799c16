package far

import (
	"slices"
	"strings"

	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// tenfold is ten times the executions of print.
const tenfold = 10 * executions

// A longerRun is a line of executions.csv: a cell of Tables 6 to 8 that more executions than print has measure again,
// with the generator's parameters. Its modes are script, and operation for the executions with a move or swap alone.
type longerRun struct {
	Table     string `csv:"table"`
	Scaling   string `csv:"scaling"`
	Times     string `csv:"times"`
	N         int    `csv:"n"`
	Generator string `csv:"generator"`
	Mode      string `csv:"mode"`
}

var longerRuns = strictcsv.Embedded[longerRun](files, "executions.csv", "mode")

// measure returns the table's quantities.
func (l *longerRun) measure(d *figures.Data, g grid) []figures.Measurement {
	script, operation := strings.Contains(l.Mode, "script"), strings.Contains(l.Mode, "operation")
	r, j := refinerOf(l.Generator, script), joining{l.Generator, script, tenfold}
	m := map[string]measure{"table6": r.means(tenfold), "table7": j.gains, "table8": j.operations}[g.name]
	if operation {
		m = map[string]measure{"table6": r.operatedGain(tenfold), "table7": j.operatedGains}[g.name]
	}
	return m(d, workload{l.Scaling, l.Times}, l.N)
}

// longer shows cells of Tables 6 to 8 on ten times the executions of print.
func longer(d *figures.Data) {
	t := d.Table("executions", "Cells of Tables 6 to 8 on 10,000 executions or pairs",
		reports.Left("table", "workload").Right("n").Left("quantity", "generator", "mode").Right("published").
			PlusMinus("measured").Left("against print"),
		"±: half of the 95 % interval of the difference from a printed mean of 1000 other executions or pairs, so "+
			"that it has print's own sampling error",
		"generator: of the text with p_sup (psup) in percent, or of the script (gen=released)",
		"mode: script makes the batches of the script; operation leaves out the executions or pairs without a move or "+
			"swap")
	grids := []grid{table6, table7, table8}
	for _, l := range longerRuns {
		g := grids[slices.IndexFunc(grids, func(g grid) bool { return g.name == l.Table })]
		w := workload{l.Scaling, l.Times}
		for i, m := range l.measure(d, g) {
			c := d.Claims.Find(claim.Key{Artefact: g.name, Cell: cell(w, l.N, g.quantities[i])})
			j := verdict.Judge(c.Claim, m)
			t.Row(g.name, w, l.N, c.Quantity, l.Generator, l.Mode, reports.Fixed(c.Published, 2),
				reports.Cells(3, m.Value, (j.High-j.Low)/2), j.Verdict)
		}
	}
}
