package reports

import (
	"bytes"
	"encoding/json"
	"strings"
)

// json writes an array with an object for each row, whose members are the columns in their
// order. In columns of numbers, a cell that is a number is one as it stands there, and a cell
// without a value is null. All other cells are strings. It leaves out the title and the notes.
func (t *Table) json(p *printer) {
	rows := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		members := make([]string, len(row))
		for j, cell := range row {
			members[j] = jsonText(t.Columns[j].Name) + ": " + t.Columns[j].value(cell)
		}
		rows[i] = "\n  {" + strings.Join(members, ", ") + "}"
	}
	p.line("[" + strings.Join(rows, ",") + "\n]")
}

func (c Column) value(cell string) string {
	switch {
	case c.Right && (cell == Missing || cell == ""):
		return "null"
	case c.Right && !strings.ContainsAny(cell[:1], `"[{`) && json.Valid([]byte(cell)):
		return cell
	}
	return jsonText(cell)
}

func jsonText(text string) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string never fails
	return strings.TrimSuffix(out.String(), "\n")
}
