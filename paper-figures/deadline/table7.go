package deadline

import (
	"fmt"
	"math"
	"strings"

	figures "miglab/paper-figures"
	"miglab/reports"
)

func table7(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "table7", Title: "late jobs, tardiness and energy of the agent and four heuristics",
		Needs: func(s figures.Scale) []figures.Need {
			return append(need(s, relaxed, many, methods...), need(s, relaxed, many, eftTrue, agent, releasedAgent, energyAgent)...)
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			printed := []quantity{late, tardiness, energy}
			few, lots, rightly := figures.Values{}, figures.Values{}, figures.Values{}
			rows := append([]scheduler{agent}, methods...)
			for _, m := range rows {
				for _, q := range printed {
					meanAndDeviation(d, few, m.title, m, q)
					meansAndDeviations(d, lots, m, q)
				}
				meanAndDeviation(d, rightly, m.title, m, charged)
			}
			readings := []figures.Reading{
				figures.Lookup("", few), figures.Lookup(over1000, lots), figures.Lookup("energy charged rightly", rightly),
			}
			for _, r := range []struct {
				name, row string
				scheduler
			}{
				{"EFT by true durations", eft.title, eftTrue},
				{withReleased, agent.title, releasedAgent},
				{withEnergy, agent.title, energyAgent},
			} {
				values := figures.Values{}
				for _, q := range printed {
					meanAndDeviation(d, values, r.row, r.scheduler, q)
				}
				readings = append(readings, figures.Lookup(r.name, values))
			}
			all := claims.Of("table7")
			fs := d.Compare(all, readings, func(claim string) string {
				if strings.HasPrefix(claim, agent.title+" ") {
					return leftOpen
				}
				return "the report's ten days are not ours, and differ more than three standard errors from them"
			})
			var names, columns []string
			for _, m := range rows {
				names = append(names, m.title)
			}
			for _, q := range printed {
				columns = append(columns, q.name, q.name+" std")
			}
			layout := figures.Layout("Table 7. Late jobs [%], tardiness [min] and energy [MW min] over 10 episodes", "method", names, columns, fs)
			layout.Notes = append(layout.Notes, remarks(few, lots, all, d.Scale.Replicates(many))...)
			out := figures.Found(fs...).Table("table7", layout)
			for _, q := range printed {
				// A table has one unit, because it ends with the mean error over all rows.
				out.Table("table7-"+q.name, figures.ComparisonTable("Table 7, "+q.name+", claim by claim", about(q, fs)))
			}
			return out.Table("table7-joules", joulesTable(d, rows)), nil
		},
	}
}

// about keeps the findings about a quantity and its deviation.
func about(q quantity, fs []figures.Finding) []figures.Finding {
	var out []figures.Finding
	for _, f := range fs {
		if strings.HasSuffix(strings.TrimSuffix(f.Name, " std"), " "+q.name) {
			out = append(out, f)
		}
	}
	return out
}

// meanAndDeviation measures what Table 7 prints of a quantity, under the name of a row.
func meanAndDeviation(d *figures.Data, to figures.Values, row string, s scheduler, q quantity) {
	v := q.first(d, s.on(relaxed), evaluation)
	name := row + " " + q.name
	to[name] = d.MeanOf(v, evaluation)
	to[name+" std"] = d.Measured(deviation(v))
}

// meansAndDeviations measures the same over many evaluations.
func meansAndDeviations(d *figures.Data, to figures.Values, s scheduler, q quantity) {
	v := q.of(d, s.on(relaxed))
	name := s.title + " " + q.name
	to[name] = d.MeanOf(v, evaluation)
	to[name+" std"] = d.Measured(deviations(v))
}

// remarks says how close the means over few and over many episodes are to the print.
func remarks(few, lots figures.Values, claims []figures.Claim, episodes int) []string {
	means, inside := 0, 0
	var offLate, offEnergy float64
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range claims {
		if strings.HasSuffix(c.Name, " std") {
			continue
		}
		means++
		if m := few[c.Name]; m.Low <= c.Published && c.Published <= m.High {
			inside++
		}
		v := lots[c.Name].Value
		switch {
		case strings.HasSuffix(c.Name, late.name):
			offLate = math.Max(offLate, math.Abs(v-c.Published))
		case strings.HasSuffix(c.Name, energy.name):
			offEnergy = math.Max(offEnergy, math.Abs(v/c.Published-1)*100)
		default:
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	return []string{
		"energies are printed with the unit MJ and are watt-minutes over 10^6; 2.48 of them are 149 MJ",
		fmt.Sprintf("%d of %d published means lie within the 95 %% interval of the measured means over 10 episodes", inside, means),
		fmt.Sprintf("over %d episodes late jobs are within %.1f points of print and energies within %.1f %%; the mean tardiness, whose tail is heavy, is %.2f to %.2f min",
			episodes, offLate, offEnergy, least, most),
		fmt.Sprintf("over %d episodes std is the mean over evaluations of 10 each", episodes),
	}
}

// joulesTable gives the energies of Table 7 in their true unit.
func joulesTable(d *figures.Data, rows []scheduler) reports.Table {
	t := reports.Table{
		Title:   "Energy of Table 7 in joules, 10 episodes",
		Columns: reports.Left("method").Right("in the report's unit", "as released [MJ]", "charged rightly [MJ]", "difference [%]"),
		Notes: []string{
			"± is half the 95 % interval",
			"as released: an interval before a completion is charged as if the completing slices had been free; charged rightly: they are busy until then",
		},
	}
	for _, m := range rows {
		released := megajoulesAsReleased.mean(d, m.on(relaxed), evaluation)
		rightly := megajoules.mean(d, m.on(relaxed), evaluation)
		t.Rows = append(t.Rows, []string{
			m.title, fmt.Sprintf("%.2f", released.Value/60), released.PlusMinus(1), rightly.PlusMinus(1), fmt.Sprintf("%.1f", (rightly.Value/released.Value-1)*100),
		})
	}
	return t
}
