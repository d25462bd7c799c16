package reports

import (
	"encoding/csv"
	"io"
)

// CSV writes the headings and the rows as RFC 4180 says. It leaves out the title and the
// notes.
func (t *Table) CSV(w io.Writer) error {
	if err := t.validate(); err != nil {
		return err
	}
	c := csv.NewWriter(w)
	if err := c.Write(t.names()); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}
