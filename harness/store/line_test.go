package store

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever the parser accepts is JSON with the same meaning, and writing it gives
// a line that is read as the same row.
func FuzzParseRow(f *testing.F) {
	for _, r := range []Record{result(1, 12.5), failure(2, "infeasible", "task \"a\"\n\u2028 é")} {
		f.Add(strings.TrimSuffix(string(appendRow(nil, &r.Row)), "\n"))
	}
	f.Add(`{"cell":{},"metrics":{"a":-0.5e-7}}`)
	f.Add(`{"cell":{"a":"\"}","b":-1E+5},"metrics":{"a":01}}`)
	f.Add(`{"cell":{"a":"b\`)
	f.Add(`{"cell":{"a":"\u0000"},"kind":"","error":"x"}`)
	f.Fuzz(func(t *testing.T, line string) {
		row, err := newRowParser().parse(line)
		if err != nil {
			return
		}
		var generic struct {
			Cell    json.RawMessage
			Metrics map[string]float64
			Kind    string
			Error   string
		}
		if err := json.Unmarshal([]byte(line), &generic); err != nil {
			t.Fatalf("accepted %q, which is no JSON: %v", line, err)
		}
		if string(generic.Cell) != row.Cell || generic.Kind != row.Kind || generic.Error != row.Error || len(generic.Metrics) != len(row.Metrics) {
			t.Fatalf("%q was read as %+v", line, row)
		}
		for _, m := range row.Metrics {
			if generic.Metrics[m.Name] != m.Value {
				t.Fatalf("%q: metric %q was read as %v", line, m.Name, m.Value)
			}
		}
		if err := row.validate(); err != nil {
			t.Fatalf("accepted %q, which cannot be appended: %v", line, err)
		}
		again, err := newRowParser().parse(strings.TrimSuffix(string(appendRow(nil, &row)), "\n"))
		if err != nil || again.Cell != row.Cell || !again.same(&row) {
			t.Fatalf("%+v came back as %+v, %v", row, again, err)
		}
	})
}
