package reports

import (
	"bytes"
	"encoding/json"
	"io"
)

// JSON writes an array with an object for each row, whose members are the columns in their
// order. In columns of numbers, a cell that is a number is one as it stands there, and a cell
// without a value is null. All other cells are strings. It leaves out the title and the notes.
func (t *Table) JSON(w io.Writer) error {
	if err := t.validate(); err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString("[")
	for i, row := range t.Rows {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n  {")
		for j, cell := range row {
			if j > 0 {
				out.WriteString(", ")
			}
			out.Write(jsonText(t.Columns[j].Name))
			out.WriteString(": ")
			out.Write(t.Columns[j].value(cell))
		}
		out.WriteString("}")
	}
	out.WriteString("\n]\n")
	_, err := out.WriteTo(w)
	return err
}

// value is a cell of the column in JSON.
func (c Column) value(cell string) []byte {
	switch {
	case c.Right && (cell == Missing || cell == ""):
		return []byte("null")
	case c.Right && cell[0] != '"' && cell[0] != '[' && cell[0] != '{' && json.Valid([]byte(cell)):
		return []byte(cell)
	}
	return jsonText(cell)
}

// jsonText is text as a JSON string, with signs such as < as they are.
func jsonText(text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string never fails
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
