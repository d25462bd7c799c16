package deadline

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// Steps per second of the report's environments, and what it prints about them.
const (
	// pandas is the notebook's environment and numpy the report's, as measured on the
	// released code.
	pandas, numpy = 29, 2500
	// training is 200k steps in about an hour, the agent's updates included (2.5.2).
	training = 200_000. / 3600
)

// table3 compares the speed of this simulator with the report's. Speeds are not claims,
// because wall times differ from run to run.
func table3() figures.Artefact {
	return figures.Artefact{
		Name: "table3", Title: "speed of environments", Timed: true,
		Needs: func(s figures.Scale) []figures.Need {
			return need(s, relaxed, many, append([]scheduler{agent}, schedulers...)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			t := reports.Table{
				Title:   "Table 3. Steps a second; a step is the dispatch of a job",
				Columns: reports.Left("environment").Right("steps/s", "over pandas").Left("source"),
				Rows: [][]string{
					{"original, pandas", "", "1", "Table 3"},
					{"improved, NumPy", "", "10-50", "Table 3"},
					{"training the original", fmt.Sprintf("%.0f", training), "", "2.5.2: about 1 hour for 200k steps"},
					speedRow("original, pandas", pandas, "measured on the released code"),
					speedRow("improved, NumPy", numpy, "measured on the released code"),
				},
				Notes: []string{
					"this simulator: one core, while as many cells ran at once as there are workers; generating the jobs is not included",
					"the environments of the report also build an agent's observations, which a heuristic does without; RL-PPO builds them, and evaluates its network",
				},
			}
			for _, s := range append([]scheduler{agent}, schedulers...) {
				series := s.on(relaxed)
				us := d.Micros(series)
				if len(us) == 0 {
					// Timings are not results: a power cut may have lost them.
					t.Rows = append(t.Rows, []string{"this simulator, " + s.title, "", "", "not timed"})
					continue
				}
				mean := func(v []float64) float64 { return d.Summarize(v).Mean }
				perSecond := mean(jobs.of(d, series)) / mean(us) * 1e6
				t.Rows = append(t.Rows, speedRow("this simulator, "+s.title, perSecond, fmt.Sprintf("%d episodes", len(us))))
			}
			return figures.Found().Table("timing-deadline", t), nil
		},
	}
}

// speedRow writes a speed and by how much it exceeds that of the pandas environment.
func speedRow(name string, perSecond float64, source string) []string {
	return []string{name, fmt.Sprintf("%.3g", perSecond), fmt.Sprintf("%.3g", perSecond/pandas), source}
}
