package figures

import (
	"slices"
	"testing"

	"miglab/paper-figures/claim"
	"miglab/reports"
)

// TestNumbersAbout: a row is about the claims that its selection has; labels tell rows apart.
func TestNumbersAbout(t *testing.T) {
	table := Table{Table: reports.Table{
		Columns: reports.Left("workload", "batches").Right("n", "gains at most [%]").PlusMinus("mean").Beside("NOMIG", "NOMIG, published"),
	}}
	add := func(row, column, label string, cells ...any) {
		table.RowAbout(About{Selection: claim.Selection{Row: row, Column: column}, Label: label}, slices.Concat([]any{row, label}, cells)...)
	}
	add("WIDE", "n=10", "script", "10", "1.5", "2", "0.1", "3", "4")
	add("WIDE", "n=10", "text", "10", "2.5", "2", "0.1", "3", "4")
	add("WIDE", "n=20", "text", "20", "9.5", "2", "0.1", "3", "4")
	add("NARROW", "", "", "10", "8.5", "2", "0.1", "3", "4")
	for _, c := range []struct {
		cell        claim.Cell
		names, want string
	}{
		{claim.Cell{Row: "WIDE", Column: "n=10", Quantity: "p_rev"}, "gains", "script: gains at most 1.5 %; text: gains at most 2.5 %"},
		{claim.Cell{Row: "NARROW", Column: "n=10", Quantity: "p_rev"}, "mean", "mean 2 ± 0.1"},
		{claim.At("NARROW", "end"), "NOMIG", "NOMIG 3 (published 4)"},
		{claim.Cell{Row: "WIDER", Column: "n=100"}, "gains", ""},
		{claim.Cell{Row: "WIDE n=10"}, "gains", ""},
	} {
		if got := numbersAbout(&table, c.cell, []string{c.names}); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.cell, c.names, got, c.want)
		}
	}
}
