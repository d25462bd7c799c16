package far

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/run"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// publishedTime is a row of timings.csv: what the paper says an algorithm took.
type publishedTime struct {
	Algorithm string `csv:"algorithm"`
	// N is a number of tasks, "rodinia", or "10-35" for the batches of Table 4.
	N         string `csv:"n"`
	Published string `csv:"published_ms"`
	Source    string `csv:"source"`
}

// timedSeries returns what is timed for a row: 1000 executions with MIXEDSCALING
// (6.4.2); for the concatenation, pairs of batches of n tasks.
func timedSeries(t publishedTime) []run.Series {
	mixed := workload{"MIXEDSCALING", "WIDETIMES"}
	model := mig.Free
	if t.Algorithm == "far" {
		model = mig.Sequential
	}
	switch t.N {
	case "rodinia":
		return []run.Series{batch(rodiniaData, t.Algorithm, model)}
	case "10-35":
		var out []run.Series
		for w, n := range figures.Each(wide, allSizes) {
			out = append(out, batch(synthetic(w, n, ""), t.Algorithm, model))
		}
		return out
	}
	var n int
	if _, err := fmt.Sscan(t.N, &n); err != nil {
		panic(err)
	}
	if t.Algorithm == "far-concat" {
		return []run.Series{stream(synthetic(mixed, n, "batches=2"), "far-concat")}
	}
	return []run.Series{batch(synthetic(mixed, n, ""), t.Algorithm, model)}
}

// timing compares the paper's scheduling times with those of this machine. They are not
// claims, because wall times differ from run to run.
func timing(rows []publishedTime) figures.Artefact {
	return figures.Artefact{
		Name: "timing", Title: "scheduling times (6.4.2, 6.5.2, 6.7.1)", Timed: true,
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title: "Scheduling times, one core",
				Columns: reports.Left("algorithm").
					Right("n", "published_ms", "measured_ms", "ci_low_ms", "ci_high_ms", "executions").
					Left("source"),
				Notes: []string{
					"published: AMD Ryzen 5 4600H; measured: this machine, while as many cells ran at once as there are workers",
					"far-concat is two batches of n tasks, the two FAR schedules included; the paper's time is for the concatenation alone",
				},
			}
			for _, row := range rows {
				replicates := executions
				if row.N == "rodinia" {
					replicates = 1
				}
				var all []float64
				for _, s := range timedSeries(row) {
					all = append(all, d.Micros(s, replicates)...)
				}
				floats.Scale(1./1000, all) // milliseconds
				var m figures.Measurement
				if len(all) > 0 { // a power cut may have lost timings, which are not results
					m = d.MeanOf(all, verdict.Executions, 0)
				}
				number := func(v float64) string {
					if math.IsNaN(v) || len(all) == 0 {
						return "" // a single execution has no interval
					}
					return fmt.Sprintf("%.3g", v)
				}
				t.Rows = append(t.Rows, []string{
					row.Algorithm, row.N, row.Published, number(m.Value), number(m.Low), number(m.High), fmt.Sprint(len(all)), row.Source,
				})
			}
			return new(figures.Output).Table("timing", t), nil
		},
	}
}
