package far

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// pairs are the concatenations of two successive batches of a workload (6.7.1). Pair i has
// batches i and i+1 of 1001. In half of the pairs the second batch is reversed, in the
// others the first.
type pairs struct {
	data string
	n    int // pairs
}

func newPairs(s figures.Scale, w workload, n int, parameters string) pairs {
	p := "batches=2"
	if parameters != "" {
		p += "&" + parameters
	}
	return pairs{synthetic(w, n, p), s.Replicates(batches - 1)}
}

// series returns the concatenations in a mode, the first batch forward or reversed.
func (p pairs) series(mode, first string) run.Series {
	return stream(p.data, "far-concat?mode="+mode+"&first="+first)
}

// half is the number of pairs whose second batch is the reversed one.
func (p pairs) half() int { return p.n / 2 }

// needs lists the concatenations in the given modes.
func (p pairs) needs(modes ...string) (out []figures.Need) {
	for _, m := range modes {
		if m == "trivial" {
			out = append(out, figures.NeedFirst(p.n, p.series(m, "forward"))...)
			continue
		}
		out = append(out,
			figures.Need{Series: p.series(m, "forward"), N: p.half()},
			figures.Need{Series: p.series(m, "reversed"), First: p.half(), N: p.n - p.half()})
	}
	return out
}

// values returns a metric by pair.
func (p pairs) values(d *figures.Data, mode, metric string) []float64 {
	out := d.Values(p.series(mode, "forward"), metric)
	if mode == "trivial" {
		return out
	}
	return slices.Concat(out, d.Values(p.series(mode, "reversed"), metric))
}

// gain returns, by pair, the improvement over trivial concatenation in percent.
func (p pairs) gain(d *figures.Data, mode string) []float64 {
	return figures.Percent(figures.Ratios(p.values(d, "trivial", makespan), p.values(d, mode, makespan)))
}

var concatReadings = []struct{ name, parameters string }{
	{"", ""},
	{"p_sup = 50 %", "psup=50"},
}

// A concatQuantity is a column of Table 7 or 8: the gain of a mode, or one of its metrics.
type concatQuantity struct{ name, mode, metric string }

// of returns the quantity by pair.
func (q concatQuantity) of(p pairs, d *figures.Data) []float64 {
	if q.metric == "" {
		return p.gain(d, q.mode)
	}
	return p.values(d, q.mode, q.metric)
}

// table7and8 is the artefact for Table 7, the gains of the concatenation, or for
// Table 8, its moves and swaps. They read the same cells.
func table7and8(claims *figures.Claims, number int) figures.Artefact {
	ns := []int{10, 20, 30}
	name := fmt.Sprintf("table%d", number)
	quantities := []concatQuantity{{"p_rev", "reverse", ""}, {"p_move/swap", "moveswap", ""}}
	title := "Gain (%) of reversal and of moves and swaps in 1000 concatenations, A100"
	reason := func(claim string) string {
		if strings.HasSuffix(claim, "p_rev") {
			return "the paper shifts each batch as a whole, and does not say with which p_sup its batches were made"
		}
		return "the paper leaves open when the moves and swaps between batches end, how their margin is reckoned, and with which p_sup its batches were made"
	}
	if number == 8 {
		quantities = []concatQuantity{{"moves", "moveswap", "moves"}, {"swaps", "moveswap", "swaps"}}
		title = "Moves and swaps in 1000 concatenations, A100"
	}
	return figures.Artefact{
		Name: name, Title: title,
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, r := range concatReadings {
				for w, n := range figures.Each(workloads, ns) {
					out = append(out, newPairs(s, w, n, r.parameters).needs("trivial", "reverse", "moveswap")...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			second, first := figures.Values{}, figures.Values{}
			for _, r := range concatReadings {
				values := figures.Values{}
				for w, n := range figures.Each(workloads, ns) {
					p := newPairs(d.Scale, w, n, r.parameters)
					for _, q := range quantities {
						v := q.of(p, d)
						claim := claimName(w, n, q.name)
						values[claim] = d.MeanOf(v, batches-1)
						if r.name == "" {
							second[claim] = d.MeanOf(v[:p.half()], (batches-1)/2)
							first[claim] = d.MeanOf(v[p.half():], (batches-1)/2)
						}
					}
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			// The paper says that the halves hardly differ.
			readings = append(readings,
				figures.Lookup("the half with the second batch reversed", second),
				figures.Lookup("the half with the first batch reversed", first))
			var names []string
			for _, q := range quantities {
				names = append(names, q.name)
			}
			return compared(d, claims, name, fmt.Sprintf("Table %d. %s", number, title), reason, workloads, columns(ns, names...), readings), nil
		},
	}
}

// chainOf is a workload's batches, concatenated: 1001 of them, few in a quick run.
func chainOf(s figures.Scale, w workload, n int) run.Series {
	return stream(synthetic(w, n, fmt.Sprintf("batches=%d", s.Replicates(batches-1)+1)), "far-concat")
}

var table9Sizes = []int{10, 15, 20, 25, 30, 35}

func table9(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table9", Title: "p_multi-batch with WIDETIMES and 1001 batches on A100",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for w, n := range figures.Each(wide, table9Sizes) {
				out = append(out, needRho(chainOf(s, w, n), 1)...)
				out = append(out, newPairs(s, w, n, "").needs("moveswap")...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			once, twice := figures.Values{}, figures.Values{}
			for w, n := range figures.Each(wide, table9Sizes) {
				c := chainOf(d.Scale, w, n)
				name := claimName(w, n, "p_multi-batch")
				once[name] = figures.Exactly(figures.Percent(rho(d, c))[0])
				var sum float64
				for _, m := range newPairs(d.Scale, w, n, "").values(d, "moveswap", makespan) {
					sum += m
				}
				twice[name] = figures.Exactly((sum/d.First(area(c), track.MetricBound) - 1) * 100)
			}
			return compared(d, claims, "table9", "Table 9. p_multi-batch (%), 1001 batches, A100",
				figures.Always("the released script counts inner batches twice in the makespan and once in the baseline; print lies between that and counting once"),
				wide, columns(table9Sizes, "p_multi-batch"), []figures.Reading{
					figures.Lookup("", once),
					figures.Lookup("as released: the makespans of all consecutive pairs added, so that inner batches count twice", twice),
				}), nil
		},
	}
}
