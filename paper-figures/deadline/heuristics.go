package deadline

import (
	"fmt"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// heuristics sets all schedulers, and the agent trained for the deadlines, side by side
// over many episodes. The report has
// nothing of the kind, so there are no claims.
func heuristics(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "heuristics", Title: "all schedulers, relaxed and tight deadlines",
		Needs: needAll,
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			for _, data := range tightness {
				t, err := leaderboard(d, data.name, data.dataset, data.agent)
				if err != nil {
					return nil, err
				}
				if data.dataset == relaxed {
					note, err := besideAgent(d, claims)
					if err != nil {
						return nil, err
					}
					t.Notes = append(t.Notes, note)
				}
				out.Tables = append(out.Tables, figures.Table{File: "heuristics-" + data.name, Table: t})
			}
			return out, nil
		},
	}
}

// besideAgent sets the best heuristic beside the agent, by the share of Largest-First's
// late jobs that each avoids.
func besideAgent(d *figures.Data, claims *figures.Claims) (string, error) {
	best, _, err := extreme(d, late, relaxed, schedulers, lowest, many)
	if err != nil {
		return "", err
	}
	heuristic, err := late.reduction(d, best, largest, relaxed, many)
	if err != nil {
		return "", err
	}
	learned, err := late.reduction(d, agent, largest, relaxed, many)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %.1f %% (%.1f to %.1f) fewer late jobs than Largest-First; the agent %.1f %% (%.1f to %.1f), and by Table 8 on the report's own episodes %.1f %%",
		best.title, heuristic.Value, heuristic.Low, heuristic.High, learned.Value, learned.Low, learned.High,
		claims.Get("table8", "Largest-First late reduction").Published), nil
}

// tightness lists the report's two kinds of deadlines, with the agent trained for each.
var tightness = []struct {
	name, slack, dataset string
	agent                scheduler
}{
	{"relaxed", "2 to 4", relaxed, agent}, {"tight", "1 to 1.5", tight, tightAgent},
}

func needAll(s figures.Scale) (out []figures.Need) {
	for _, data := range tightness {
		out = append(out, need(s, data.dataset, many, append([]scheduler{data.agent}, schedulers...)...)...)
	}
	return out
}

func leaderboard(d *figures.Data, name, dataset string, learned scheduler) (reports.Table, error) {
	t := reports.Table{Columns: []reports.Column{{Name: "scheduler"}}}
	quantities := []struct {
		heading string
		quantity
		decimals int
	}{
		{"late [%]", late, 2},
		{"tardiness [min]", tardiness, 3},
		{"energy [MJ]", megajoules, 2},
	}
	for _, q := range quantities {
		t.Columns = append(t.Columns, reports.Column{Name: q.heading, Right: true}, reports.Column{Name: "less " + largest.title, Right: true})
	}
	episodes := map[scheduler]int{}
	for _, s := range append([]scheduler{learned}, schedulers...) {
		row := []string{s.title}
		for _, q := range quantities {
			v, err := q.of(d, s.on(dataset))
			if err != nil {
				return t, err
			}
			episodes[s] = len(v)
			mean, err := stats.Summarize(v)
			if err != nil {
				return t, err
			}
			row = append(row, plusMinus(mean, q.decimals))
			if s == largest {
				row = append(row, "")
				continue
			}
			less, err := q.difference(d, s, largest, dataset, len(v))
			if err != nil {
				return t, err
			}
			row = append(row, half(less, q.decimals))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Title = fmt.Sprintf("All schedulers over %d episodes, %s deadlines", episodes[largest], name)
	t.Notes = []string{
		"± is half the 95 % interval; differences are paired by episode",
		"energy in true megajoules, charged rightly",
		"EFT by true durations is Largest-First, since jobs are faster on larger slices",
	}
	if n := episodes[learned]; n < episodes[largest] {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: %d episodes, also for its differences", learned.title, n))
	}
	return t, nil
}
