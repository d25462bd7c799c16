package deadline

import (
	"fmt"
	"strconv"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// slacks are times from arrival to deadline, in durations of the job on a whole GPU. At 1
// there is no time to spare.
var slacks = []float64{1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6}

// slackData is the dataset in which every job has the same slack.
func slackData(factor float64) string {
	f := strconv.FormatFloat(factor, 'f', -1, 64)
	return figures.Dataset("deadline/slack?low=" + f + "&high=" + f)
}

// byLateness are the schedulers with different late jobs. EFT with true durations equals
// Largest-First, and energy-aware takes slices of the same sizes as least slack.
var byLateness = []scheduler{largest, eft, random, smallest, leastSlack, lookAhead}

// slack draws lateness against the slack of deadlines.
func slack() figures.Artefact {
	return figures.Artefact{
		Name: "slack", Title: "late jobs and tardiness against the slack of deadlines",
		Needs: func(s figures.Scale) (out []figures.Need) {
			for _, f := range slacks {
				out = append(out, need(s, slackData(f), sweep, byLateness...)...)
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			const xLabel = "Deadline slack [durations on the whole GPU]"
			panels := []struct {
				quantity
				lines reports.Lines
			}{
				{late, reports.Lines{X: reports.Axis{Label: xLabel, Ticks: []float64{1, 2, 3, 4, 5, 6}}, Y: reports.Axis{Label: "Late jobs [%]", From: 0, To: 100}}},
				{tardiness, reports.Lines{X: reports.Axis{Label: xLabel, Ticks: []float64{1, 2, 3, 4, 5, 6}}, Y: reports.Axis{Label: "Mean tardiness [min]"}}},
			}
			t := reports.Table{
				Title:   "Late jobs and tardiness against the slack of deadlines",
				Columns: reports.Right("slack").Left("scheduler").Right("late [%]", "tardiness [min]"),
			}
			for _, s := range byLateness {
				rows := make([][]string, len(slacks))
				for p := range panels {
					line := reports.Series{Name: s.title, X: slacks, Markers: true}
					for i, f := range slacks {
						m := panels[p].mean(d, s.on(slackData(f)), sweep)
						line.Y, line.Low, line.High = append(line.Y, m.Value), append(line.Low, m.Low), append(line.High, m.High)
						if rows[i] == nil {
							rows[i] = []string{fmt.Sprintf("%.1f", f), s.title}
						}
						rows[i] = append(rows[i], m.PlusMinus(2))
					}
					panels[p].lines.Series = append(panels[p].lines.Series, line)
				}
				t.Rows = append(t.Rows, rows...)
			}
			t.Notes = []string{
				fmt.Sprintf("every job of an episode has the same slack; %d episodes a point, the same jobs at each; ± is half the 95 %% interval", d.Scale.Replicates(sweep)),
				"EFT by true durations is Largest-First; energy-aware has as many late jobs as least slack",
			}
			chart := reports.Panels{Title: t.Title, Columns: 2}
			for _, p := range panels {
				chart.Charts = append(chart.Charts, p.lines)
			}
			return figures.Found().Table("slack", t).Figure("slack", chart.Title, chart), nil
		},
	}
}
