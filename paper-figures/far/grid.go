package far

import (
	"fmt"
	"strings"

	figures "miglab/paper-figures"
)

// A grid is one of Tables 4 to 9: the same quantities for each workload and number of tasks.
type grid struct {
	artefact, title string
	rows            []workload
	sizes           []int
	quantities      []string
}

// A procedure is one way to make a grid.
type procedure struct {
	// name and basis are those of the reading.
	name, basis string
	// measure returns the quantities of a cell in the order of the grid.
	measure func(d *figures.Data, w workload, n int) []figures.Measurement
}

// claimName joins a workload, a number of tasks and a quantity as published.csv does.
func claimName(w workload, n int, quantity string) string {
	return fmt.Sprintf("%s n=%d %s", w, n, quantity)
}

// under measures a grid under a procedure.
func (g grid) under(d *figures.Data, p procedure) figures.Reading {
	r := figures.Reading{Name: p.name, Basis: p.basis, Values: figures.Values{}}
	for w, n := range figures.Each(g.rows, g.sizes) {
		for i, m := range p.measure(d, w, n) {
			r.Values[claimName(w, n, g.quantities[i])] = m
		}
	}
	return r
}

// made is the artefact of a grid, for example of table4. The first procedure is the default reading.
func (g grid) made(procedures ...procedure) figures.Artefact {
	return figures.Artefact{
		Name: g.artefact, Title: g.title,
		Build: func(d *figures.Data) (*figures.Output, error) {
			var rs []figures.Reading
			for _, p := range procedures {
				rs = append(rs, g.under(d, p))
			}
			var rows, columns []string
			for _, w := range g.rows {
				rows = append(rows, w.String())
			}
			for n, q := range figures.Each(g.sizes, g.quantities) {
				columns = append(columns, fmt.Sprintf("n=%d %s", n, q))
			}
			return figures.Read(rs...).Table(g.artefact, d.Layout(g.artefact, fmt.Sprintf("Table %s. %s", strings.TrimPrefix(g.artefact, "table"), g.title), "workload", rows, columns, rs[0])), nil
		},
	}
}

// interchanged reads the last two columns of print, moves and swaps, as each other in some rows.
func interchanged(p procedure, where string, in func(workload) bool) procedure {
	measure := p.measure
	p.name, p.basis = "print interchanged", "the default reading, with the printed moves and swaps "+where+" taken for one another"
	p.measure = func(d *figures.Data, w workload, n int) []figures.Measurement {
		m := measure(d, w, n)
		if last := len(m) - 1; in(w) {
			m[last-1], m[last] = m[last], m[last-1]
		}
		return m
	}
	return p
}
