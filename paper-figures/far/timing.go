package far

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
)

// publishedTime is a row of timings.csv: what the paper says an algorithm took.
type publishedTime struct {
	Algorithm string `csv:"algorithm"`
	// N is the number of tasks, as shown.
	N string `csv:"n"`
	// Scalings and Sizes are those of the timed batches; both are empty for the Rodinia kernels.
	Scalings  string `csv:"scalings"`
	Sizes     string `csv:"sizes"`
	Published string `csv:"published_ms"`
	Source    string `csv:"source"`
}

// micros returns the times of 1000 executions of each workload (6.4.2); of the concatenation,
// those of pairs of batches. The approaches other than FAR have no reconfiguration time.
func (t *publishedTime) micros(d *figures.Data) (out []float64) {
	model := mig.Free
	if t.Algorithm == "far" {
		model = mig.Sequential
	}
	if t.Scalings == "" {
		return d.Micros(batch(rodiniaData, t.Algorithm, model), 1)
	}
	for scaling, n := range figures.Each(strings.Fields(t.Scalings), strings.Fields(t.Sizes)) {
		data := "far/" + scaling + "+WIDETIMES?n=" + n
		timed := batch(figures.Dataset(data), t.Algorithm, model)
		if t.Algorithm == "far-concat" {
			timed = stream(figures.Dataset(data+"&batches=2"), t.Algorithm)
		}
		out = append(out, d.Micros(timed, executions)...)
	}
	return out
}

// timing compares scheduling times with the paper's. Wall times differ from run to run and are no claims.
func timing(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("timing")
	var hundreds []float64
	for _, row := range strictcsv.Embedded[publishedTime](files, "timings.csv", "scalings", "sizes") {
		all := row.micros(d)
		floats.Scale(1./1000, all) // milliseconds
		m := figures.Exactly(math.NaN())
		if len(all) > 0 { // a power cut may have lost timings, which are not results
			m = d.MeanOf(all, verdict.Executions, 0)
		}
		if row.Algorithm == "far" && (row.N == "100" || row.N == "500") && len(all) > 0 {
			hundreds = append(hundreds, m.Value)
		}
		cells := make([]string, 3) // a single execution has no interval
		for i, v := range []float64{m.Value, m.Low, m.High} {
			if !math.IsNaN(v) {
				cells[i] = fmt.Sprintf("%.3g", v)
			}
		}
		t.Row(row.Algorithm, row.N, row.Published, cells, len(all), row.Source)
	}
	r := figures.Reading{Values: figures.Values{}}
	if d.Planning() || len(hundreds) > 0 {
		reconfiguration := slices.Min(figures.Map(a100.Profiles, func(p *mig.Profile) float64 {
			return float64(p.Create+p.Destroy) * 1000
		}))
		below := figures.Count(hundreds, func(ms float64) bool { return ms < reconfiguration })
		share := 100 * below / max(1, len(hundreds))
		r.Values[claim.Of("sizes that take less than a reconfiguration, percent")] = figures.Exactly(share)
	}
	return figures.Read(r).Table(t), nil
}
