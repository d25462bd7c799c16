package deadline

import (
	"fmt"

	"miglab/harness/stats"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// heuristics sets all schedulers side by side over many episodes. The report has
// nothing of the kind, so there are no claims.
func heuristics(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "heuristics", Title: "all schedulers, relaxed and tight deadlines",
		Needs: needAll,
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			for _, data := range tightness {
				t, err := leaderboard(d, data.name, data.dataset)
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

// besideAgent sets the best of all schedulers beside what is printed of the agent, by
// the share of Largest-First's late jobs that each avoids.
func besideAgent(d *figures.Data, claims *figures.Claims) (string, error) {
	best, v, err := extreme(d, late, relaxed, schedulers, lowest, many)
	if err != nil {
		return "", err
	}
	least, err := stats.Summarize(v)
	if err != nil {
		return "", err
	}
	if v, err = late.of(d, largest.on(relaxed)); err != nil {
		return "", err
	}
	base, err := stats.Summarize(v)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s has %.1f %% fewer late jobs than Largest-First; the agent, by Table 8 and on the report's own episodes, %.1f %% fewer",
		best.title, (1-least.Mean/base.Mean)*100, claims.Get("table8", "Largest-First late reduction").Published), nil
}

// tightness lists the report's two kinds of deadlines.
var tightness = []struct{ name, slack, dataset string }{
	{"relaxed", "2 to 4", relaxed}, {"tight", "1 to 1.5", tight},
}

func needAll(s figures.Scale) (out []figures.Need) {
	for _, data := range tightness {
		out = append(out, need(s, data.dataset, many, schedulers...)...)
	}
	return out
}

func leaderboard(d *figures.Data, name, dataset string) (reports.Table, error) {
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
	episodes := 0
	for _, s := range schedulers {
		row := []string{s.title}
		for _, q := range quantities {
			v, err := q.of(d, s.on(dataset))
			if err != nil {
				return t, err
			}
			episodes = len(v)
			mean, err := stats.Summarize(v)
			if err != nil {
				return t, err
			}
			row = append(row, plusMinus(mean, q.decimals))
			if s == largest {
				row = append(row, "")
				continue
			}
			base, err := q.of(d, largest.on(dataset))
			if err != nil {
				return t, err
			}
			diff, err := stats.Differences(v, base)
			if err != nil {
				return t, err
			}
			difference, err := stats.Summarize(diff)
			if err != nil {
				return t, err
			}
			row = append(row, plusMinus(difference, q.decimals))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Title = fmt.Sprintf("All schedulers over %d episodes, %s deadlines", episodes, name)
	t.Notes = []string{
		"± is half the 95 % interval; differences are paired by episode",
		"energy in true megajoules, charged rightly",
		"EFT by true durations is Largest-First, since jobs are faster on larger slices",
	}
	return t, nil
}
