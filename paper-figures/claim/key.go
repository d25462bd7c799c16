// Package claim holds what papers claim: numbers and sentences, each at its coordinates, and the files that list them.
// It compares coordinates and never their text, and it does not render.
package claim

import (
	"slices"
	"strings"
)

// A Cell is the place of a number within an artefact: the row and the column of a table, and the quantity if a
// place has several. A number of the text has a quantity alone.
type Cell struct {
	Row      string `csv:"row" json:"row,omitempty"`
	Column   string `csv:"column" json:"column,omitempty"`
	Quantity string `csv:"quantity" json:"quantity,omitempty"`
}

// Of returns the cell of a number that has neither row nor column.
func Of(quantity string) Cell { return Cell{Quantity: quantity} }

// At returns the cell of a quantity in a row of a table that has one number for each quantity.
func At(row, quantity string) Cell { return Cell{Row: row, Quantity: quantity} }

// String joins the coordinates for people. Two cells are the same if they are equal, not if their texts are.
func (c Cell) String() string {
	parts := slices.DeleteFunc([]string{c.Row, c.Column, c.Quantity}, func(s string) bool { return s == "" })
	return strings.Join(parts, " ")
}

// Compare orders cells by their texts, and then by their coordinates.
func (c Cell) Compare(o Cell) int {
	return slices.Compare([]string{c.String(), c.Row, c.Column}, []string{o.String(), o.Row, o.Column})
}

// A Key is the place of a claim in a paper.
type Key struct {
	Artefact string `csv:"artefact"` // the table, figure or group of numbers, such as table4
	Cell
}

// A Selection is a set of cells. An empty field selects all, and a field may list several values, separated by
// semicolons.
type Selection struct {
	Row      string `csv:"row" json:"row,omitempty"`
	Column   string `csv:"column" json:"column,omitempty"`
	Quantity string `csv:"quantity" json:"quantity,omitempty"`
}

// Has reports whether a cell is in the selection.
func (s Selection) Has(c Cell) bool {
	return lists(s.Row, c.Row) && lists(s.Column, c.Column) && lists(s.Quantity, c.Quantity)
}

func lists(field, value string) bool {
	return field == "" || field == value || slices.Contains(strings.Split(field, ";"), value)
}

// String describes the selection for people.
func (s Selection) String() string { return Cell(s).String() }
