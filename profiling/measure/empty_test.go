package measure_test

import (
	"io"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling/execute"
	"miglab/profiling/measure"
)

// Experiments of which no run has succeeded have tables without rows.
func TestTablesOfNoRows(t *testing.T) {
	isolation, overlap := measure.IsolationTable(nil), measure.OverlapTable(nil)
	reconfiguration, profile := measure.ReconfigurationTable(nil, mig.MustLookup("A100")), (&measure.Profile{}).Table()
	for _, table := range []interface{ Text(io.Writer) error }{&isolation, &overlap, &reconfiguration, &profile, execute.Table(nil)} {
		if err := table.Text(io.Discard); err != nil {
			t.Error(err)
		}
	}
}
