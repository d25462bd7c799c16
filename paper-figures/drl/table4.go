package drl

import (
	"cmp"
	"fmt"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// kinds are the kinds of batches that means are over, with their names in readings.
var kinds = []struct {
	name string
	of   func(averages) []float64
}{
	{"", func(a averages) []float64 { return a.all }},
	{"full batches", func(a averages) []float64 { return a.full }},
	{"partial batches", func(a averages) []float64 { return a.partial }},
}

// reading joins the parts of a reading's name.
func reading(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}

// perBatch names the reading of FIXBEST that chooses a partition for each batch.
const perBatch = "a partition for each batch"

// measured is Table 4 under one generator.
type measured struct {
	generator string
	// pOpt and overFAR are by workload and approach.
	pOpt, overFAR map[[2]string]averages
	// perBatch is p_opt by workload of FIXBEST with a partition for each batch.
	perBatch map[string]averages
}

func measure(d *figures.Data, generator string) measured {
	m := measured{generator, map[[2]string]averages{}, map[[2]string]averages{}, map[string]averages{}}
	for _, w := range workloads {
		if w == rodinia && generator != "" {
			continue
		}
		for _, a := range approaches {
			at := [2]string{w.name, a.name}
			p, over := a.pOpt(d, w, generator), a.overFAR(d, w, generator)
			if a.name == fixBest {
				m.perBatch[w.name] = p
				p, over = fixBestPOpt(d, w, generator)
			}
			m.pOpt[at], m.overFAR[at] = p, over
		}
	}
	return m
}

// readings returns p_opt over all batches, full ones and partial ones.
func (m *measured) readings(d *figures.Data) []figures.Reading {
	var out []figures.Reading
	for _, k := range kinds {
		values := figures.Values{}
		for at, a := range m.pOpt {
			values[at[0]+" "+at[1]] = d.MeanOf(k.of(a), replicates)
		}
		out = append(out, figures.Lookup(reading(m.generator, k.name), values))
	}
	values := figures.Values{}
	for w, a := range m.perBatch {
		values[w+" "+fixBest] = d.MeanOf(a.all, replicates)
	}
	return append(out, figures.Lookup(reading(m.generator, perBatch), values))
}

func table4(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table4", Title: "average p_opt of baselines and agents",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, w := range workloads {
				for _, g := range w.generators() {
					for _, a := range approaches {
						out = append(out, a.need(s, w, g)...)
					}
					out = append(out, needFixBest(s, w, g)...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			var tables []measured
			for _, g := range generators {
				m := measure(d, g)
				tables, readings = append(tables, m), append(readings, m.readings(d)...)
			}
			var fs []figures.Finding
			for w, a := range figures.Each(workloads, approaches) {
				c := claims.Get("table4", w.name+" "+a.name)
				fs = append(fs, d.Compare([]figures.Claim{c}, readings, why(w, a))...)
			}
			layout := figures.Layout("Table 4. Average p_opt [%] with N = 14", "workload", rowsOf(workloads), columnsOf(approaches), fs)
			layout.Notes = append(layout.Notes,
				"the mean over the batches of a dataset, then over datasets; a dataset of 100 tasks has 7 batches of 14 and one of 2",
				"RODINIA + ALTIS: subsets of the 16 public Rodinia kernels",
				fmt.Sprintf("FIXBEST: the best of %d partitions for each dataset, over %d datasets", len(partitions()), d.Scale.Replicates(partitioned)))
			return figures.Found(fs...).
				Table("table4", layout).
				Table("table4-claims", figures.ComparisonTable("Table 4, claim by claim", fs)).
				Table("table4-batches", byKind("p_opt [%] over all batches, full ones (14 tasks) and partial ones apart", tables,
					func(m *measured) map[[2]string]averages { return m.pOpt })).
				Table("table4-far", byKind("Makespan above FAR's [%] on the same batches", tables,
					func(m *measured) map[[2]string]averages { return m.overFAR })), nil
		},
	}
}

// why is the reason where a column of Table 4 deviates.
func why(w workload, a approach) func(string) string {
	switch {
	case w == rodinia && a.isAgent():
		return figures.Always("the Altis kernels are not public, so the tasks are not the paper's; " + agentsDiffer)
	case w == rodinia:
		return figures.Always("the Altis kernels are not public, so the tasks are not the paper's")
	case a.isAgent():
		return figures.Always(agentsDiffer)
	}
	return figures.Always("no reading of the generator, of which batches count and of FIXBEST gives the baselines of this table")
}

// byKind lists means by workload, generator and kind of batches, with a column for each
// approach.
func byKind(title string, tables []measured, of func(*measured) map[[2]string]averages) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left("workload", "generator", "batches"), Notes: []string{
		"generator: paper as in the text; released-train as in the code with which the agents were trained",
	}}
	t.Columns = t.Columns.Right(columnsOf(approaches)...)
	for _, w := range workloads {
		for i := range tables {
			if w == rodinia && tables[i].generator != "" {
				continue
			}
			for _, k := range kinds {
				row := []string{w.name, cmp.Or(tables[i].generator, "paper"), cmp.Or(k.name, "all batches")}
				if w == rodinia {
					row[1] = "-"
				}
				for _, a := range approaches {
					row = append(row, fmt.Sprintf("%.2f", figures.Mean(k.of(of(&tables[i])[[2]string{w.name, a.name}]))))
				}
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}
