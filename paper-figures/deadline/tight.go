package deadline

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
)

// Tables 2 and 6 say of the original notebook that 85-90 % of jobs are late and 4-6
// minutes tardy. That is an agent which pre-empts jobs. What can be measured is what
// schedulers without pre-emption make of the same deadlines: the numbers are
// compared with Largest-First, the best of the report's own (2.5.1), and the others
// are readings.

// standsIn says so in tables.
const standsIn = "the original is an agent that pre-empts jobs; measured are heuristics that do not, under the same deadlines: Largest-First, and as readings the others"

func table2(claims *figures.Claims) figures.Artefact {
	return tightTable(claims, "table2", "what each step of the report changed",
		"Table 2. Late jobs of the approaches tried",
		[]string{
			"about 48 % late comes in print before deadlines are relaxed, although 2.5.1 has 85-90 % late under tight ones even with optimal scheduling",
		})
}

func table6(claims *figures.Claims) figures.Artefact {
	return tightTable(claims, "table6", "the original notebook and the enhanced agent",
		"Table 6. The original notebook against the enhanced agent",
		[]string{
			"from 85 and 90 % down to 37.7 % is 47 and 52 points, or 56 and 58 % of them; the printed 52-58 % mixes the two",
		})
}

// tightTable judges a table's numbers about the original under tight deadlines; the
// others are the agent's.
func tightTable(claims *figures.Claims, name, title, caption string, notes []string) figures.Artefact {
	return figures.Artefact{
		Name: name, Title: title,
		Needs: func(s figures.Scale) []figures.Need { return need(s, tight, many, methods...) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range []struct {
				name string
				scheduler
				episodes int
			}{
				{"", largest, evaluation},
				{"1000 episodes", largest, many},
				{"EFT", eft, evaluation},
				{"Random", random, evaluation},
				{"Smallest-First", smallest, evaluation},
			} {
				values := map[string]figures.Measurement{}
				for _, c := range claims.Of(name) {
					q, ok := ofOriginal(c.Name)
					if !ok {
						continue
					}
					v, err := q.of(d, r.on(tight))
					if err != nil {
						return nil, err
					}
					if values[c.Name], err = figures.MeanOf(v[:min(r.episodes, len(v))], evaluation); err != nil {
						return nil, err
					}
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			var fs []figures.Finding
			for _, c := range claims.Of(name) {
				if _, ok := ofOriginal(c.Name); !ok {
					fs = append(fs, figures.Missing(c, needsAgent))
					continue
				}
				own, err := d.Compare([]figures.Claim{c}, readings, figures.Always(standsIn))
				if err != nil {
					return nil, err
				}
				fs = append(fs, own...)
			}
			// The mean errors of readings mean nothing for the ends of ranges.
			t := figures.ComparisonTable(caption, byDefault(fs))
			others, err := inTight(d)
			if err != nil {
				return nil, err
			}
			t.Notes = slices.Concat(t.Notes, []string{standsIn}, others, notes)
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: name, Table: t}}}, nil
		},
	}
}

// byDefault keeps the findings under the default reading.
func byDefault(fs []figures.Finding) []figures.Finding {
	var out []figures.Finding
	for _, f := range fs {
		if f.Reading == "" {
			out = append(out, f)
		}
	}
	return out
}

// inTight says in words how the heuristics fare under tight deadlines.
func inTight(d *figures.Data) ([]string, error) {
	var out []string
	for _, n := range []int{evaluation, d.Scale.Replicates(many)} {
		var each []string
		for _, m := range methods {
			var means [2]float64
			for i, q := range []quantity{late, tardiness} {
				v, err := q.of(d, m.on(tight))
				if err != nil {
					return nil, err
				}
				s, err := stats.Summarize(v[:n])
				if err != nil {
					return nil, err
				}
				means[i] = s.Mean
			}
			each = append(each, fmt.Sprintf("%s %.1f %% and %.2f min", m.title, means[0], means[1]))
		}
		out = append(out, fmt.Sprintf("late and tardy over %d episodes: %s", n, strings.Join(each, ", ")))
	}
	return out, nil
}

// ofOriginal returns the quantity of a claim about tight deadlines. Table 2's Fast is
// the original in a faster environment.
func ofOriginal(claim string) (quantity, bool) {
	row, rest, _ := strings.Cut(claim, " ")
	if row != "Original" && row != "Fast" {
		return quantity{}, false
	}
	if strings.HasPrefix(rest, tardiness.name) {
		return tardiness, true
	}
	return late, true
}
