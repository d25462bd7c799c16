package deadline

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// heuristics compares all schedulers, and the agent trained for the deadlines, over many
// episodes. The report has no such comparison, so there are no claims.
func heuristics(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "heuristics", Title: "all schedulers, relaxed and tight deadlines",
		Needs: needAll,
		Build: func(d *figures.Data) (*figures.Output, error) {
			out := &figures.Output{}
			for _, data := range tightness {
				t := leaderboard(d, data.name, data.dataset, data.agent)
				if data.dataset == relaxed {
					t.Notes = append(t.Notes, besideAgent(d, claims))
				}
				out.Table("heuristics-"+data.name, t)
			}
			return out, nil
		},
	}
}

// besideAgent compares the best heuristic with the agent, by the share of Largest-First's
// late jobs that each avoids.
func besideAgent(d *figures.Data, claims *figures.Claims) string {
	best, _ := extreme(d, late, relaxed, schedulers, lowest, many)
	heuristic := late.reduction(d, best, largest, relaxed, many)
	learned := late.reduction(d, agent, largest, relaxed, many)
	return fmt.Sprintf("%s has %.1f %% (%.1f to %.1f) fewer late jobs than Largest-First; the agent %.1f %% (%.1f to %.1f), and by Table 8 on the report's own episodes %.1f %%",
		best.title, heuristic.Value, heuristic.Low, heuristic.High, learned.Value, learned.Low, learned.High,
		claims.Get("table8", "Largest-First late reduction").Published)
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

func leaderboard(d *figures.Data, name, dataset string, learned scheduler) reports.Table {
	columns := []column{{"late [%]", late, 2}, {"tardiness [min]", tardiness, 3}, {"energy [MJ]", megajoules, 2}}
	t := reports.Table{Columns: append(reports.Left("scheduler"), comparisonColumns(columns, largest)...)}
	episodes := map[scheduler]int{}
	for _, s := range append([]scheduler{learned}, schedulers...) {
		episodes[s] = len(late.of(d, s.on(dataset)))
		t.Rows = append(t.Rows, append([]string{s.title}, comparison(d, columns, s, largest, dataset, many)...))
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
	return t
}
