package far

import (
	"fmt"
	"slices"

	"miglab/harness/run"
	"miglab/harness/track"
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

// joinings are the procedures of Tables 7 and 8.
func joinings(measure func(joining, *figures.Data, workload, int) []figures.Measurement) []procedure {
	of := func(name, basis string, j joining) procedure {
		return procedure{name, basis, func(d *figures.Data, w workload, n int) []figures.Measurement { return measure(j, d, w, n) }}
	}
	return []procedure{
		of("", "the authors' script concat_test: released generator with p_sup = 0, a batch joined with a copy of itself, at most 20 iterations, none taken back", copies),
		of("text", "6.7.1: the printed generator with p_sup = 0, two successive batches, the second one reversed in one half of the pairs and the first one in the other", successive),
		of("text, p_sup = 50 %", "the same with the p_sup of the script of Table 5", joining{"psup=50", "batches=2&psup=50", "", "far", true}),
	}
}

func table7() figures.Artefact {
	return grid{"table7", "Gain (%) of reversal and of moves and swaps in 1000 concatenations, A100", workloads, threeSizes, []string{"p_rev", "p_move/swap"}}.made(
		joinings(joining.gains)...)
}

func table8() figures.Artefact {
	ps := joinings(joining.operations)
	ps = append(ps, interchanged(ps[0], "of all rows", func(workload) bool { return true }))
	return grid{"table8", "Moves and swaps in 1000 concatenations, A100", workloads, threeSizes, []string{"moves", "swaps"}}.made(ps...)
}

// chainOf is a workload's batches, concatenated: 1001 of them, few in a quick run.
func chainOf(s figures.Scale, w workload, n int) run.Series {
	return stream(chained(s, w, n, ""), "far-concat")
}

// chained are the batches of a chain.
func chained(s figures.Scale, w workload, n int, parameters string) string {
	return synthetic(w, n, fmt.Sprintf("%sbatches=%d", parameters, s.Replicates(executions)+1))
}

// multiBatchTest is the script multi_batch_test. It adds the makespans of all consecutive
// pairs, so that inner batches count twice, and divides by the area bound of the batches, each
// counted once.
func multiBatchTest(d *figures.Data, w workload, n int) []figures.Measurement {
	pairs := d.Values(stream(synthetic(w, n, "gen=released&batches=2"), "far-concat?mode=moveswap"+scripted), executions, makespan)
	all := d.First(bound(chained(d.Scale, w, n, "gen=released&"), "area"), track.MetricBound)
	above := make([]float64, len(pairs))
	for i, m := range pairs {
		above[i] = (m*float64(len(pairs))/all - 1) * 100
	}
	return []figures.Measurement{mean(d, above)}
}

func table9() figures.Artefact {
	return grid{"table9", "p_multi-batch (%) of 1001 batches with WIDETIMES, A100", wide, allSizes, []string{"p_multi-batch"}}.made(
		procedure{
			basis:   "the authors' script multi_batch_test: released generator, the makespans of all consecutive pairs added, so that inner batches count twice, over the area bound of the 1001 batches",
			measure: multiBatchTest,
		},
		procedure{
			name: "text", basis: "6.7.2: the printed generator with p_sup = 0, the makespan of one chain of 1001 batches",
			measure: func(d *figures.Data, w workload, n int) []figures.Measurement {
				return []figures.Measurement{figures.Exactly(figures.Percent(rho(d, chainOf(d.Scale, w, n), 1))[0])}
			},
		},
	)
}
