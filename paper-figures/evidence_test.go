package figures

import (
	"reflect"
	"slices"
	"testing"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/reports"
)

// TestNumbersAbout: a row is about the claims that its selection has; labels tell rows apart.
func TestNumbersAbout(t *testing.T) {
	table := Table{Table: reports.Table{
		Columns: reports.Left("workload", "batches").Right("n", "gains at most [%]").PlusMinus("mean").Beside("NOMIG", "NOMIG, published"),
	}}
	add := func(row, column, label string, cells ...any) {
		table.RowAbout(claim.Selection{Row: row, Column: column}, label, slices.Concat([]any{row, label}, cells)...)
	}
	add("WIDE", "n=10", "script", "10", "1.5", "2", "0.1", "3", "4")
	add("WIDE", "n=10", "text", "10", "2.5", "2", "0.1", "3", "4")
	add("WIDE", "n=20", "text", "20", "9.5", "2", "0.1", "3", "4")
	add("NARROW", "", "", "10", "8.5", "2", "0.1", "3", "4")
	one := func(label string, n manifest.NamedNumber) manifest.Evidence {
		return manifest.Evidence{Label: label, Values: []manifest.NamedNumber{n}}
	}
	for _, c := range []struct {
		cell  claim.Cell
		names string
		want  []manifest.Evidence
	}{
		{claim.Cell{Row: "WIDE", Column: "n=10", Quantity: "p_rev"}, "gains", []manifest.Evidence{
			one("script", manifest.NamedNumber{Name: "gains at most", Value: "1.5", Unit: "%"}),
			one("text", manifest.NamedNumber{Name: "gains at most", Value: "2.5", Unit: "%"}),
		}},
		{claim.Cell{Row: "NARROW", Column: "n=10", Quantity: "p_rev"}, "mean", []manifest.Evidence{
			one("", manifest.NamedNumber{Name: "mean", Value: "2", Half: "0.1"}),
		}},
		{claim.At("NARROW", "end"), "NOMIG", []manifest.Evidence{one("", manifest.NamedNumber{Name: "NOMIG", Value: "3", Published: "4"})}},
		{claim.Cell{Row: "WIDER", Column: "n=100"}, "gains", nil},
		{claim.Cell{Row: "WIDE n=10"}, "gains", nil},
	} {
		if got := numbersAbout(&table, c.cell, []string{c.names}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, %s: %+v, want %+v", c.cell, c.names, got, c.want)
		}
	}
}

// TestJoinedColumnAlone: a joined column whose number is not among the named ones is left out.
func TestJoinedColumnAlone(t *testing.T) {
	columns := reports.Left("workload").Right("gain").Beside("NOMIG", "NOMIG, published")
	got := namedNumbers(columns, []string{"WIDE", "1", "3", "4"}, []string{"NOMIG, p"})
	if got != nil {
		t.Errorf("%+v; want none", got)
	}
	got = namedNumbers(columns, []string{"WIDE", "1", "3", "4"}, []string{"gain", "NOMIG, p"})
	if len(got) != 1 || got[0].Published != "" {
		t.Errorf("%+v; want the gain alone", got)
	}
}
