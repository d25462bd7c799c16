package deadline

import (
	"fmt"
	"maps"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// text judges what the report says outside of Tables 2 to 9.
func text(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "text", Title: "numbers in the text",
		Needs: func(s figures.Scale) []figures.Need {
			return append(append(need(s, relaxed, many, methods...), need(s, tight, many, schedulers...)...),
				append(need(s, relaxed, many, agent), need(s, tight, many, tightAgent, originalAgent)...)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			settled, err := setting()
			if err != nil {
				return nil, err
			}
			why := map[string]string{
				"slices of the GPUs": "the configurations 1, 1, 2, 2, 3, 3, 12, 12 have 1, 1, 2, 2, 3, 3, 4 and 4 slices",
			}
			if err := inGeneral(d, settled, why); err != nil {
				return nil, err
			}
			few, lots := map[string]figures.Measurement{}, map[string]figures.Measurement{}
			if err := inWords(d, lots, why, many); err != nil {
				return nil, err
			}
			if err := inWords(d, few, why, evaluation); err != nil {
				return nil, err
			}
			maps.Copy(few, settled)
			readings := []figures.Reading{figures.Lookup("", few), figures.Lookup(over1000, lots)}
			others, err := ofAgent(d, few, lots, why)
			if err != nil {
				return nil, err
			}
			readings = append(readings, others...)
			var fs []figures.Finding
			for _, c := range claims.Of("text") {
				if c.Relation == figures.Input {
					fs = append(fs, figures.Taken(c, "parameter of the job generator"))
					continue
				}
				own, err := d.Compare([]figures.Claim{c}, readings, func(claim string) string { return why[claim] })
				if err != nil {
					return nil, err
				}
				fs = append(fs, own...)
			}
			t := figures.ComparisonTable("Numbers in the text", byDefault(fs))
			t.Notes = append(t.Notes, "a difference of two schedulers is paired: both serve the same episodes")
			return &figures.Output{Findings: fs, Tables: []figures.Table{{File: "text", Table: t}}}, nil
		},
	}
}

// setting counts what the datasets are made of.
func setting() (map[string]figures.Measurement, error) {
	g := mig.MustLookup("A100")
	in, err := datasets.InstanceOf[task.Queue](datasets.MustParse(relaxed), g, 0)
	if err != nil {
		return nil, err
	}
	slices := 0
	for _, p := range in.Fleet.Partitions {
		slices += len(p)
	}
	return map[string]figures.Measurement{
		"GPUs":               figures.Exactly(float64(len(in.Fleet.Partitions))),
		"slices of the GPUs": figures.Exactly(float64(slices)),
		"partitions of A100": figures.Exactly(float64(len(g.Partitions()))),
	}, nil
}

// inGeneral measures what the report says of schedulers in general. That is no mean of
// its 10 episodes, so we take all of ours and their standard error.
func inGeneral(d *figures.Data, values map[string]figures.Measurement, why map[string]string) error {
	best, v, err := extreme(d, late, tight, schedulers, lowest, many)
	if err != nil {
		return err
	}
	least, err := figures.MeanOf(v, len(v))
	if err != nil {
		return err
	}
	for _, end := range []string{"from", "to"} {
		claim := "late with tight deadlines and optimal scheduling, " + end
		values[claim] = least
		why[claim] = fmt.Sprintf("refuted: %s, which is no optimum, has fewer late jobs", best.title)
	}
	const claim = "tardiness with tight deadlines, Largest-First less the best other scheduler"
	rival, v, err := lead(d, tardiness, tight, largest, schedulers, lowest, many)
	if err != nil {
		return err
	}
	why[claim] = fmt.Sprintf("refuted: %s is less tardy", rival.title)
	values[claim], err = figures.MeanOf(v, len(v))
	return err
}

// inWords measures over n episodes what the report says of its evaluation in words,
// and gives the reasons where that may deviate.
func inWords(d *figures.Data, values map[string]figures.Measurement, why map[string]string, n int) error {
	const steps = "steps of an episode"
	why[steps] = "a step is the dispatch of a job, and the released arrival rates bring about five times as many jobs a day"
	var err error
	if values[steps], err = jobs.mean(d, largest.on(relaxed), n); err != nil {
		return err
	}
	for _, c := range []struct {
		claim    string
		quantity quantity
		of       scheduler
		end      end
	}{
		{"late, Largest-First less the best other heuristic", late, largest, lowest},
		{"late, Smallest-First less the worst other heuristic", late, smallest, highest},
		{"energy, Smallest-First less the best other heuristic", energy, smallest, lowest},
	} {
		rival, v, err := lead(d, c.quantity, relaxed, c.of, methods, c.end, n)
		if err != nil {
			return err
		}
		why[c.claim] = "the other one is " + rival.title
		if values[c.claim], err = figures.MeanOf(v, evaluation); err != nil {
			return err
		}
	}
	return nil
}

// ofAgent measures what the report says of agents in words, over the episodes of its
// evaluation and over 1000, and returns the other readings.
func ofAgent(d *figures.Data, few, lots map[string]figures.Measurement, why map[string]string) ([]figures.Reading, error) {
	const (
		notebook = "late with tight deadlines"
		best     = "late, RL-PPO less the best heuristic"
		ties     = "late with tight deadlines, Largest-First less RL-PPO"
	)
	why[notebook], why[best] = notTheNotebook, leftOpen
	why[ties] = "refuted: an agent has fewer late jobs under tight deadlines, too"
	var err error
	for _, r := range []struct {
		values map[string]figures.Measurement
		n      int
	}{{few, evaluation}, {lots, many}} {
		rival, _, err := extreme(d, late, relaxed, methods, lowest, r.n)
		if err != nil {
			return nil, err
		}
		if r.values[best], err = late.difference(d, agent, rival, relaxed, r.n); err != nil {
			return nil, err
		}
	}
	if few[notebook], err = late.mean(d, originalAgent.on(tight), evaluation); err != nil {
		return nil, err
	}
	if few[ties], err = late.difference(d, largest, tightAgent, tight, evaluation); err != nil {
		return nil, err
	}
	hundred, heuristic, original := map[string]figures.Measurement{}, map[string]figures.Measurement{}, map[string]figures.Measurement{}
	if hundred[notebook], err = late.mean(d, originalAgent.on(tight), sweep); err != nil {
		return nil, err
	}
	if hundred[ties], err = late.difference(d, largest, tightAgent, tight, sweep); err != nil {
		return nil, err
	}
	if heuristic[notebook], err = late.mean(d, largest.on(tight), evaluation); err != nil {
		return nil, err
	}
	if original[ties], err = late.difference(d, largest, originalAgent, tight, evaluation); err != nil {
		return nil, err
	}
	return []figures.Reading{
		figures.Lookup(over100, hundred), figures.Lookup(largest.title, heuristic), figures.Lookup("original settings", original),
	}, nil
}
