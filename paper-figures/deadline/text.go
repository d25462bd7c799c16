package deadline

import (
	"fmt"
	"maps"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// text judges what the report says outside Tables 2 to 9.
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
			inGeneral(d, settled, why)
			few, lots := figures.Values{}, figures.Values{}
			inWords(d, lots, why, many)
			inWords(d, few, why, evaluation)
			maps.Copy(few, settled)
			readings := []figures.Reading{figures.Lookup("", few), figures.Lookup(over1000, lots)}
			readings = append(readings, ofAgent(d, few, lots, why)...)
			reason := func(claim string) string { return why[claim] }
			fs := d.CompareOrTake(claims.Of("text"), readings, reason, "parameter of the job generator")
			t := figures.ComparisonTable("Numbers in the text", byDefault(fs))
			t.Notes = append(t.Notes, "a difference of two schedulers is paired: both serve the same episodes")
			return figures.Found(fs...).Table("text", t), nil
		},
	}
}

// setting counts the GPUs and partitions of the datasets.
func setting() (figures.Values, error) {
	g := mig.MustLookup("A100")
	in, err := datasets.InstanceOf[task.Queue](datasets.MustParse(relaxed), g, 0)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, p := range in.Fleet.Partitions {
		total += len(p)
	}
	return figures.Values{
		"GPUs":               figures.Exactly(float64(len(in.Fleet.Partitions))),
		"slices of the GPUs": figures.Exactly(float64(total)),
		"partitions of A100": figures.Exactly(float64(len(g.Partitions()))),
	}, nil
}

// inGeneral measures what the report says about schedulers in general. Such statements are
// not means over its 10 episodes, so we use all of ours and their standard error.
func inGeneral(d *figures.Data, values figures.Values, why map[string]string) {
	best, v := extreme(d, late, tight, schedulers, lowest, many)
	least := d.MeanOf(v, len(v))
	for _, end := range []string{"from", "to"} {
		claim := "late with tight deadlines and optimal scheduling, " + end
		values[claim] = least
		why[claim] = fmt.Sprintf("refuted: %s, which is no optimum, has fewer late jobs", best.title)
	}
	const claim = "tardiness with tight deadlines, Largest-First less the best other scheduler"
	rival, v := lead(d, tardiness, tight, largest, schedulers, lowest, many)
	why[claim] = fmt.Sprintf("refuted: %s is less tardy", rival.title)
	values[claim] = d.MeanOf(v, len(v))
}

// inWords measures, over n episodes, what the report says about its evaluation in words. It
// also sets the reasons for deviations.
func inWords(d *figures.Data, values figures.Values, why map[string]string, n int) {
	const steps = "steps of an episode"
	why[steps] = "a step is the dispatch of a job, and the released arrival rates bring about five times as many jobs a day"
	values[steps] = jobs.mean(d, largest.on(relaxed), n)
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
		rival, v := lead(d, c.quantity, relaxed, c.of, methods, c.end, n)
		why[c.claim] = "the other one is " + rival.title
		values[c.claim] = d.MeanOf(v, evaluation)
	}
}

// ofAgent measures what the report says about agents in words, over the episodes of its
// evaluation and over 1000. It returns the other readings.
func ofAgent(d *figures.Data, few, lots figures.Values, why map[string]string) []figures.Reading {
	const (
		notebook = "late with tight deadlines"
		best     = "late, RL-PPO less the best heuristic"
		ties     = "late with tight deadlines, Largest-First less RL-PPO"
	)
	why[notebook], why[best] = notTheNotebook, leftOpen
	why[ties] = "refuted: an agent has fewer late jobs under tight deadlines, too"
	for _, r := range []struct {
		values figures.Values
		n      int
	}{{few, evaluation}, {lots, many}} {
		rival, _ := extreme(d, late, relaxed, methods, lowest, r.n)
		r.values[best] = late.difference(d, agent, rival, relaxed, r.n)
	}
	few[notebook] = late.mean(d, originalAgent.on(tight), evaluation)
	few[ties] = late.difference(d, largest, tightAgent, tight, evaluation)
	hundred, heuristic, original := figures.Values{}, figures.Values{}, figures.Values{}
	hundred[notebook] = late.mean(d, originalAgent.on(tight), sweep)
	hundred[ties] = late.difference(d, largest, tightAgent, tight, sweep)
	heuristic[notebook] = late.mean(d, largest.on(tight), evaluation)
	original[ties] = late.difference(d, largest, originalAgent, tight, evaluation)
	return []figures.Reading{
		figures.Lookup(over100, hundred), figures.Lookup(largest.title, heuristic), figures.Lookup("original settings", original),
	}
}
