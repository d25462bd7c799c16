package deadline

import (
	"slices"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
)

// text judges what the report says outside its tables.
func text() figures.Artefact {
	return figures.Artefact{
		Name: "text", Title: "numbers and statements in the text",
		Build: func(d *figures.Data) (*figures.Output, error) {
			rs := readings(d, func(w *days, to figures.Values) { w.statements(d, to) })
			fleet := day(theirs.relaxed).Fleet.Partitions
			total := 0
			for _, p := range fleet {
				total += len(p)
			}
			rs[0].Values["slices of the GPUs"] = figures.Exactly(float64(total))
			rs[0].Values["partitions of A100"] = figures.Exactly(float64(len(mig.MustLookup("A100").Partitions())))
			least, largest := slackOf(relaxed)
			return figures.Read(rs...).Take("A parameter of the job generator or the fleet.", map[string]float64{
				"GPUs": float64(len(fleet)), "least relaxed slack": least, "largest relaxed slack": largest,
				"share of inference jobs": 100 * datasets.InferenceShare, "share of training jobs": 100 * (1 - datasets.InferenceShare),
			}), nil
		},
	}
}

// statements measures what the report says about its evaluation in words.
func (w *days) statements(d *figures.Data, to figures.Values) {
	to["steps of an episode"] = w.level(d, largest, jobs, w.relaxed)
	to["late, Largest-First less the best other heuristic"] = w.lead(d, late, w.relaxed, largest, methods, lowest)
	to["heuristics that have more late jobs than RL-PPO"] = w.training(d, agent, evaluation, func(i int) []float64 {
		own := figures.Mean(late.run(d, agent, i, w.relaxed, w.n))
		more := slices.DeleteFunc(slices.Clone(methods), func(s *scheduler) bool { return figures.Mean(late.of(d, s, w.relaxed, w.n)) <= own })
		return []float64{float64(len(more))}
	})
}

// tightDeadlines tests what 2.5.1 says about tight deadlines in general. That is no result of an
// evaluation, so that the default is a large sample of days, and print has no sampling error.
func tightDeadlines() figures.Artefact {
	return figures.Artefact{
		Name: "tight", Title: "what holds under tight deadlines in general (2.5.1)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			ours := days{"", "1000 of our days, because 2.5.1 speaks of no particular days", relaxed, tight, many, true}
			var rs []figures.Reading
			for _, w := range []days{ours, as("the report's days", "the ten days of the report's evaluation, which 2.5.1 does not speak of")} {
				rs = append(rs, w.reading(func(w *days, to figures.Values) {
					best, v := late.extreme(d, w.tight, w.n, schedulers, lowest)
					fewest := w.mean(d, v)
					fewest.Detail = "The scheduler with the fewest is " + best.title + "."
					tardy := w.lead(d, tardiness, w.tight, largest, schedulers, lowest)
					fewest.PrintSE, tardy.PrintSE = 0, 0
					to["late with optimal scheduling"], to["tardiness, Largest-First less the best other scheduler"] = fewest, tardy
				}))
			}
			return figures.Read(rs...), nil
		},
	}
}
