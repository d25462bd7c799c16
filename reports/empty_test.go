package reports

import (
	"io"
	"strings"
	"testing"

	"miglab/harness/mig"
)

// A table without rows keeps its columns in every format. A figure of nothing is drawn or refused, without a panic.
func TestEmptyTablesAndFigures(t *testing.T) {
	table := Table{Columns: Left("name").PlusMinus("mean")}
	short := table.WithoutEmpty()
	for _, format := range TableFormats {
		for _, x := range []*Table{&table, short} {
			var b strings.Builder
			if err := x.Encode(&b, format); err != nil || format != "json" && !strings.Contains(b.String(), "mean") {
				t.Errorf("%s: %q, %v", format, b.String(), err)
			}
		}
	}
	if err := table.TextWithin(io.Discard, 10); err != nil {
		t.Error(err)
	}
	for _, f := range []Figure{
		Bars{},
		Bars{Groups: []BarGroup{{}}},
		Curve{},
		Curve{Rows: []CurveRow{{}}},
		Gantt{},
		Gantt{Panels: []GanttPanel{{}}},
		Lines{},
		Lines{Series: []Series{{}}},
		Panels{},
		Partitions{},
		Speedups("", mig.MustLookup("A100"), nil, 4, true),
	} {
		if err := Encode(io.Discard, "svg", f); err != nil && !strings.HasPrefix(err.Error(), "figure") {
			t.Errorf("%T: %v", f, err)
		}
	}
}
