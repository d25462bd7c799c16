package deadline

import (
	"fmt"

	figures "miglab/paper-figures"
	"miglab/reports"
)

// leftOpen is why an agent that follows the report's text may differ from the report's.
const leftOpen = "the report prints neither bins and scales of the observation, nor what completions of jobs pay, nor the discount, and evaluates one training on ten days that are not ours"

// Readings of numbers about the agent. The first two are trainings that charge for energy.
// The released code does that; the report does not mention it.
const (
	withReleased = "energy as released in the reward"
	withEnergy   = "energy charged rightly in the reward"
	over1000     = "1000 episodes"
	over100      = "100 episodes"
)

// onRelaxed are the trainings that may be the report's best agent.
var onRelaxed = []struct {
	reading string
	scheduler
	episodes int
}{
	{"", agent, evaluation},
	{over1000, agent, many},
	{withReleased, releasedAgent, evaluation},
	{withEnergy, energyAgent, evaluation},
}

func table8(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table8", Title: "the agent's improvement over heuristics",
		Needs: func(s figures.Scale) []figures.Need {
			return append(need(s, relaxed, many, methods...), need(s, relaxed, many, agent, releasedAgent, energyAgent)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range onRelaxed {
				values := figures.Values{}
				for _, m := range methods {
					for _, q := range []quantity{late, tardiness} {
						values[m.title+" "+q.name+" reduction"] = q.reduction(d, r.scheduler, m, relaxed, r.episodes)
					}
				}
				readings = append(readings, figures.Lookup(r.reading, values))
			}
			fs := d.Compare(claims.Of("table8"), readings, figures.Always(leftOpen))
			t := figures.ComparisonTable("Table 8. The agent's improvement over heuristics", fs)
			t.Notes = append(t.Notes, "a reduction is that of the mean over episodes; its interval is paired: agent and heuristic serve the same episodes",
				"one training; the spread between trainings is not in the intervals")
			return figures.Found(fs...).Table("table8", t).Table("table8-paired", pairedTable(d, claims)), nil
		},
	}
}

// reduction compares a scheduler with another, see [reduction].
func (q quantity) reduction(d *figures.Data, s, base scheduler, dataset string, n int) figures.Measurement {
	own, theirs := q.pair(d, s, base, dataset, n)
	return d.Measured(reduction(own, theirs))
}

// difference is the mean of a scheduler less that of another, paired by episode.
func (q quantity) difference(d *figures.Data, s, base scheduler, dataset string, n int) figures.Measurement {
	own, theirs := q.pair(d, s, base, dataset, n)
	return d.Measured(difference(own, theirs))
}

// pair returns the quantity of two schedulers over the first n episodes, or as many as
// both have.
func (q quantity) pair(d *figures.Data, a, b scheduler, dataset string, n int) (of, and []float64) {
	of, and = q.first(d, a.on(dataset), n), q.first(d, b.on(dataset), n)
	n = min(len(of), len(and))
	return of[:n], and[:n]
}

// pairedTable lists the differences behind Table 8 and their intervals.
func pairedTable(d *figures.Data, claims *figures.Claims) reports.Table {
	t := reports.Table{
		Title: "The agent less each heuristic, paired by episode",
		Columns: reports.Left("baseline", "quantity").
			Right("episodes", agent.title, "baseline's", "difference", "reduction [%]", "95 % interval", "published"),
		Notes: []string{"± is half the 95 % interval of the paired difference; late in points, tardiness in minutes"},
	}
	for _, m := range methods {
		for _, q := range []struct {
			quantity
			unit     string
			decimals int
		}{{late, "%", 2}, {tardiness, "min", 3}} {
			for _, n := range []int{evaluation, d.Scale.Replicates(many)} {
				own, theirs := q.pair(d, agent, m, relaxed, n)
				less := d.Measured(difference(own, theirs))
				gain := d.Measured(reduction(own, theirs))
				c := claims.Get("table8", m.title+" "+q.name+" reduction")
				t.Rows = append(t.Rows, []string{
					m.title, fmt.Sprintf("%s [%s]", q.name, q.unit), fmt.Sprint(len(own)),
					fmt.Sprintf("%.*f", q.decimals, d.Summarize(own).Mean), fmt.Sprintf("%.*f", q.decimals, d.Summarize(theirs).Mean),
					less.PlusMinus(q.decimals),
					fmt.Sprintf("%.2f", gain.Value), fmt.Sprintf("%.2f to %.2f", gain.Low, gain.High), fmt.Sprintf("%.1f", c.Published),
				})
			}
		}
	}
	return t
}

// Table 9's rows differ in deadlines, observation, reward and PPO's settings at once:
// its first is called original. By default only the deadlines differ here.
func table9(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table9", Title: "the agent against the best heuristic, by tightness of deadlines",
		Needs: func(s figures.Scale) []figures.Need {
			return append(append(need(s, relaxed, many, methods...), need(s, tight, many, methods...)...),
				append(need(s, relaxed, many, agent), need(s, tight, many, tightAgent, originalAgent, agent)...)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			var readings []figures.Reading
			for _, r := range []struct {
				reading   string
				tight     *scheduler
				onRelaxed bool
				episodes  int
			}{
				{"", &tightAgent, true, evaluation},
				{over100, &tightAgent, false, sweep},
				{over1000, nil, true, many},
				{"original settings", &originalAgent, false, evaluation},
				{"trained on relaxed deadlines", &agent, false, evaluation},
			} {
				values := figures.Values{}
				if r.tight != nil {
					againstBest(d, values, *r.tight, tight, r.episodes)
				}
				if r.onRelaxed {
					againstBest(d, values, agent, relaxed, r.episodes)
				}
				readings = append(readings, figures.Lookup(r.reading, values))
			}
			why := leftOpen + "; by default only the deadlines differ between the two rows"
			fs := d.Compare(claims.Of("table9"), readings, figures.Always(why))
			t := figures.ComparisonTable("Table 9. The agent against the best heuristic", byDefault(fs))
			for _, r := range []struct {
				data, dataset string
				scheduler
				n int
			}{{"tight", tight, tightAgent, sweep}, {"tight", tight, originalAgent, sweep}, {"tight", tight, agent, sweep}, {"relaxed", relaxed, agent, many}} {
				t.Notes = append(t.Notes, besideBest(d, r.scheduler, r.data, r.dataset, d.Scale.Replicates(r.n)))
			}
			t.Notes = append(t.Notes,
				"by how much it loses or wins is in percent of the best heuristic's late jobs, as the 11.7 % of Table 8 are",
				"if the agent is 85-90 % late under tight deadlines and loses by 5 points, print has its best heuristic at 80-85 %")
			return figures.Found(fs...).Table("table9", t), nil
		},
	}
}

// againstBest measures a row of Table 9.
func againstBest(d *figures.Data, values figures.Values, s scheduler, dataset string, n int) {
	own := late.first(d, s.on(dataset), n)
	_, best := extreme(d, late, dataset, methods, lowest, len(own))
	mean := d.MeanOf(own, evaluation)
	gain := d.Measured(reduction(own, best))
	if dataset == relaxed {
		values["relaxed RL late"], values["relaxed RL wins over the best heuristic by"] = mean, gain
		return
	}
	values["tight RL late, from"], values["tight RL late, to"] = mean, mean
	values["tight RL loses to the best heuristic by"] = negative(gain)
}

// besideBest compares a scheduler with the best heuristic of Table 7, in words.
func besideBest(d *figures.Data, s scheduler, deadlines, dataset string, n int) string {
	best, theirs := extreme(d, late, dataset, methods, lowest, n)
	own := late.mean(d, s.on(dataset), n)
	base := d.MeanOf(theirs, evaluation)
	less := late.difference(d, s, best, dataset, n)
	return fmt.Sprintf("%s deadlines, %d episodes: %s is %.1f %% late, the best heuristic of Table 7, %s, %.1f %%; the difference is %.1f points (%.1f to %.1f)",
		deadlines, n, s.title, own.Value, best.title, base.Value, less.Value, less.Low, less.High)
}
