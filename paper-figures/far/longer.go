package far

import (
	"cmp"
	"slices"
	"strings"

	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// A longerRun is a line of executions.csv: a cell of Table 6, or of Tables 7 and 8, which have the same pairs. All
// readings with this generator, by the script or not, measure it on ten times the executions or pairs of print.
type longerRun struct {
	Tables    string `csv:"tables"`
	Scaling   string `csv:"scaling"`
	Times     string `csv:"times"`
	N         int    `csv:"n"`
	Generator string `csv:"generator"`
	Script    bool   `csv:"script"`
}

var longerRuns = strictcsv.Embedded[longerRun](files, "executions.csv", "generator")

// executions returns ten times the executions of print for a line of executions.csv, and else the given number.
func (l longerRun) executions(otherwise int) int {
	if slices.Contains(longerRuns, l) {
		return 10 * executions
	}
	return otherwise
}

// longer shows the cells of Tables 6 to 8 that readings measure on ten times the executions of print.
func longer(d *figures.Data) {
	t := d.Table("executions", "Cells of Tables 6 to 8 on 10,000 executions or pairs",
		reports.Left("table", "workload").Right("n").Left("quantity", "reading").Right("published").
			PlusMinus("measured").Left("against print"),
		"±: half of the 95 % interval of the difference from a printed mean of 1000 other executions or pairs, so "+
			"that it has print's own sampling error",
		"with an operation: the mean of the executions or pairs with a move or swap alone")
	show := func(g grid, reading string, w workload, n int, of measure) {
		for i, m := range of(d, w, n) {
			c := d.Claims.Find(claim.Key{Artefact: g.name, Cell: cell(w, n, g.quantities[i])})
			j := verdict.Judge(c.Claim, m)
			t.Row(g.name, w, n, c.Quantity, cmp.Or(strings.TrimPrefix(reading, ", "), figures.DefaultReading),
				reports.Fixed(c.Published, 2), reports.Cells(3, m.Value, (j.High-j.Low)/2), j.Verdict)
		}
	}
	for _, l := range longerRuns {
		w, n := workload{l.Scaling, l.Times}, l.N
		for _, v := range refiners {
			if v.way.run(w, n) == l {
				show(table6, v.name, w, n, v.way.means)
				show(table6, v.name+withOperation, w, n, v.way.operatedGain)
			}
		}
		for _, v := range joinings {
			if v.way.run(w, n) == l {
				show(table7, v.name, w, n, v.way.gains)
				show(table7, v.name+withOperation, w, n, v.way.operatedGains)
				show(table8, v.name, w, n, v.way.operations)
			}
		}
	}
}
