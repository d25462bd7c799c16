package far

import (
	"slices"

	"miglab/harness/run"
	figures "miglab/paper-figures"
)

// scripted are the parameters with which far-concat does what concat_test and
// multi_batch_test do.
const scripted = "&iterations=20&keep=last&margin=timed"

// A joining is a way to join two batches 1000 times.
type joining struct {
	// batch are the parameters of the generator for a batch, pair those for two, and concat
	// further ones of the algorithm.
	batch, pair, concat string
	// own is the algorithm that schedules a batch by itself.
	own string
	// halves reverses the first batch in one half of the pairs, and not always the second.
	halves bool
}

var (
	// copies is the script concat_test. Its pairs are a batch and its copy.
	copies = joining{"gen=released", "gen=released&repeat=2", scripted, "far?keep=last", false}
	// successive is the text of 6.7.1. Its pairs are two successive batches.
	successive = joining{"", "batches=2", "", "far", true}
)

// values returns a metric by pair.
func (j joining) values(d *figures.Data, w workload, n int, mode, metric string) []float64 {
	series := func(first string) run.Series {
		return stream(synthetic(w, n, j.pair), "far-concat?mode="+mode+"&first="+first+j.concat)
	}
	if mode == "trivial" || !j.halves { // trivial concatenation reverses no batch
		return d.Values(series("forward"), executions, metric)
	}
	all := d.Scale.Replicates(executions)
	return slices.Concat(d.Span(series("forward"), 0, all/2, metric), d.Span(series("reversed"), all/2, all-all/2, metric))
}

// gain returns, by pair, the improvement over trivial concatenation in percent.
func (j joining) gain(d *figures.Data, w workload, n int, mode string) []float64 {
	return figures.Percent(figures.Ratios(j.values(d, w, n, "trivial", makespan), j.values(d, w, n, mode, makespan)))
}

// gains measures the quantities of Table 7.
func (j joining) gains(d *figures.Data, w workload, n int) []figures.Measurement {
	return []figures.Measurement{mean(d, j.gain(d, w, n, "reverse")), mean(d, j.gain(d, w, n, "moveswap"))}
}

// operations measures the quantities of Table 8.
func (j joining) operations(d *figures.Data, w workload, n int) []figures.Measurement {
	return []figures.Measurement{mean(d, j.values(d, w, n, "moveswap", "moves")), mean(d, j.values(d, w, n, "moveswap", "swaps"))}
}
