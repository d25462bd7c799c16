package far

import (
	"fmt"
	"strings"

	figures "miglab/paper-figures"
)

// A grid is one of Tables 4 to 9: the same quantities for each workload and number of tasks.
type grid struct {
	name, title string
	rows        []workload
	sizes       []int
	quantities  []string
	// procedures are the ways to make it. The first one is the default reading.
	procedures []procedure
}

// A measure returns the quantities of a cell in the order of the grid.
type measure func(d *figures.Data, w workload, n int) []figures.Measurement

// A procedure is one way to make a grid.
type procedure struct {
	// name and basis are those of the reading.
	name, basis string
	measure     measure
}

// claimName joins a workload, a number of tasks and a quantity as published.csv does.
func claimName(w workload, n int, quantity string) string {
	return fmt.Sprintf("%s n=%d %s", w, n, quantity)
}

// printed returns a number of the paper's table.
func (g grid) printed(claims *figures.Claims, w workload, n int, quantity string) float64 {
	return claims.Published(g.name, claimName(w, n, quantity))
}

func (g grid) artefact() figures.Artefact {
	return figures.Artefact{Name: g.name, Title: g.title, Build: g.build}
}

func (g grid) build(d *figures.Data) (*figures.Output, error) {
	rs := figures.Map(g.procedures, func(p procedure) figures.Reading {
		r := figures.Reading{Name: p.name, Basis: p.basis, Values: figures.Values{}}
		for w, n := range figures.Each(g.rows, g.sizes) {
			for i, m := range p.measure(d, w, n) {
				r.Values[claimName(w, n, g.quantities[i])] = m
			}
		}
		return r
	})
	var columns []string
	for n, q := range figures.Each(g.sizes, g.quantities) {
		columns = append(columns, fmt.Sprintf("n=%d %s", n, q))
	}
	title := fmt.Sprintf("Table %s. %s", strings.TrimPrefix(g.name, "table"), g.title)
	return figures.Read(rs...).Table(g.name, d.Layout(g.name, title, "workload", figures.Map(g.rows, workload.String), columns, rs[0])), nil
}

// interchanged reads the last two columns of print, moves and swaps, as each other in some rows.
func (p procedure) interchanged(where string, in func(workload) bool) procedure {
	return procedure{
		"print interchanged", "the default reading, with the printed moves and swaps " + where + " taken for one another",
		func(d *figures.Data, w workload, n int) []figures.Measurement {
			m := p.measure(d, w, n)
			if last := len(m) - 1; in(w) {
				m[last-1], m[last] = m[last], m[last-1]
			}
			return m
		},
	}
}
