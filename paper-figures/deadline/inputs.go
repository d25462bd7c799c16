package deadline

import (
	"fmt"
	"strconv"
	"strings"

	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// inputTable lists the inputs of an artefact, those of other tables that it prints again
// included.
func inputTable(claims *figures.Claims, artefact, title string, notes ...string) reports.Table {
	t := reports.Table{Title: title, Columns: reports.Left("parameter").Right("published").Left("unit", "source"), Notes: notes}
	for _, c := range claims.Of(artefact) {
		if c.Basis == figures.Input {
			t.Rows = append(t.Rows, []string{c.Name, strconv.FormatFloat(c.Published, 'f', c.Decimals, 64), c.Unit, c.Source})
		}
	}
	return t
}

func table1(d *figures.Data) (*figures.Output, error) {
	out := &figures.Output{Taken: "A setting of the agents with original settings, or of the tight deadlines."}
	return out.Table("table1", inputTable(d.Claims, "table1", "Table 1. Configuration of the original notebook",
		"its agent, trained and evaluated here: table5")), nil
}

func table4(d *figures.Data) (*figures.Output, error) {
	out := &figures.Output{Taken: "A part of what our agents see."}
	return out.Table("table4", inputTable(d.Claims, "table4", "Table 4. Observation by agent",
		"original: 4 features of the job, 40 bins and the state of 20 slices, 64 numbers",
		"enhanced: 5 features, 40 bins, state and size of 20 slices, and 3 of queue, free slices and largest free size (appendix C), 88 numbers",
		"the report prints neither the bins nor the scales")), nil
}

// Steps per second of the report's environments, measured once on the released code: the
// notebook's environment and the report's.
const pandas, numpy = 29, 2500

// table3 compares the speed of this simulator with the report's. The speed-up of the report's
// environment is a claim; speeds of this simulator are none, because wall times differ from run
// to run.
func table3(d *figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title:   "Table 3. Steps a second; a step is the dispatch of a job",
		Columns: reports.Left("environment").Right("steps/s", "over Pandas").Left("source"),
		Rows: [][]string{
			speedRow("original, Pandas", pandas, "measured on the released code"),
			speedRow("improved, NumPy", numpy, "measured on the released code"),
		},
		Notes: []string{
			"this simulator: one core, while as many cells ran at once as there are workers; generating the jobs is not included",
			"the environments of the report also build an agent's observations, which a heuristic does without; RL-PPO builds them, and evaluates its network",
		},
	}
	for _, s := range append([]*scheduler{agent}, schedulers...) {
		name := "this simulator, " + s.title
		us := d.Micros(s.on(relaxed, 0), many)
		steps := figures.Mean(jobs.of(d, s, relaxed, many))
		if len(us) == 0 {
			// Timings are not results: a power cut may have lost them.
			t.Rows = append(t.Rows, []string{name, "", "", "not timed"})
			continue
		}
		t.Rows = append(t.Rows, speedRow(name, steps/figures.Mean(us)*1e6, fmt.Sprintf("%d days", len(us))))
	}
	speedup := d.MeanOf([]float64{float64(numpy) / pandas}, verdict.Measurements, 0)
	speedup.Detail = "The two environments were timed once, on another machine than the report's; this suite runs no Python."
	out := figures.Read(figures.Reading{Basis: "the released code, on a machine of ours", Values: figures.Values{"NumPy over Pandas": speedup}})
	out.Missing = map[string]string{"training of 200,000 steps with Pandas": "The report does not name its machine, and this suite runs no Python."}
	return out.Table("timing-deadline", t), nil
}

// speedRow writes a speed and by how much it exceeds that of the Pandas environment.
func speedRow(name string, perSecond float64, source string) []string {
	return []string{name, fmt.Sprintf("%.3g", perSecond), fmt.Sprintf("%.3g", perSecond/pandas), source}
}

// Tables 2 and 6 say that in the original notebook 85-90 % of jobs are late, by 4-6 minutes.
// The notebook's agent pre-empts jobs, sees sizes of slices and is paid during the day. The
// report describes an agent that does none of this; that one is trained here.
const notTheNotebook = "the notebook's agent may pre-empt jobs and sees sizes of slices; measured is the one that the report describes, which does neither, after 200,000 steps as Table 5 has it"

func table2(d *figures.Data) (*figures.Output, error) {
	out := figures.Read(readings(func(w *days, to figures.Values) {
		original := w.level(d, originalAgent, late, w.tight)
		to["Original late"], to["Fast late"], to["Enhanced late"] = original, original, w.level(d, agent, late, w.relaxed)
		if w.name == theirs.name {
			// Stand-ins: agents with all enhanced settings, and with none.
			to["Improved late"] = w.level(d, tightAgent, late, w.tight)
			to["Relaxed late"] = w.level(d, originalRelaxed, late, w.relaxed)
		}
	})...)
	out.Missing = map[string]string{
		"Improved late": "No agent here is trained as in the notebook of this version, between the settings of Table 5; shown is one with all enhanced settings under tight deadlines. " +
			"The number contradicts 2.5.1, by which 85-90 % of the jobs are late under these deadlines even with optimal scheduling.",
		"Relaxed late": "No agent here is trained as in the notebook of this version, between the settings of Table 5; shown is one with the original settings under relaxed deadlines.",
	}
	return out.Table("table2-steps", effectTable(d)), nil
}

// effectTable separates what Table 2 changes at once: deadlines and settings.
func effectTable(d *figures.Data) reports.Table {
	return reports.Table{
		Title:   "Late jobs by settings and deadlines, the report's ten days",
		Columns: reports.Left("settings", "trained on").Right("late under tight deadlines [%]", "late under relaxed deadlines [%]"),
		Notes:   []string{"one training run each; " + notTheNotebook},
		Rows: figures.Map(settings, func(x setting) []string {
			of := func(dataset string) string {
				return reports.Fixed(theirs.level(d, x.scheduler, late, dataset).Value, 2)
			}
			return []string{x.settings, x.trainedOn, of(theirs.tight), of(theirs.relaxed)}
		}),
	}
}

func table6(d *figures.Data) (*figures.Output, error) {
	out := figures.Read(readings(func(w *days, to figures.Values) {
		for _, q := range []quantity{late, tardiness} {
			to["Original "+q.name], to["Enhanced "+q.name] = w.level(d, originalAgent, q, w.tight), w.level(d, agent, q, w.relaxed)
			base := q.of(d, originalAgent, w.tight, w.n)
			to[q.name+" improvement"] = w.reduction(d, agent, q, w.relaxed, base)
		}
	})...)
	out.Taken = "The heuristics that the report compares with."
	t := arithmetic(d.Claims)
	of := func(q quantity) float64 {
		return reduction(q.of(d, largest, theirs.relaxed, evaluation), q.of(d, originalAgent, theirs.tight, evaluation))
	}
	t.Notes = append(t.Notes, fmt.Sprintf("Largest-First under relaxed deadlines has %.1f %% fewer late jobs and %.1f %% less tardiness than the original agent under tight ones: most of the improvement is that of the deadlines",
		of(late), of(tardiness)))
	return out.Table("table6", t), nil
}

// arithmetic derives the improvements of Table 6 from its other numbers.
func arithmetic(claims *figures.Claims) reports.Table {
	t := reports.Table{
		Title:   "The arithmetic of Table 6, from the printed numbers alone",
		Columns: reports.Left("quantity", "end of the range").Right("original", "enhanced", "less", "less [%]"),
		Notes: []string{
			"an improvement is that of the enhanced agent under relaxed deadlines over the original one under tight ones: of the same jobs, but not of the same problem",
			"of late jobs the table prints 52-58 %: 52 is the largest difference in points, and 58 the largest in percent", notTheNotebook,
		},
	}
	for _, c := range claims.Of("table6") {
		q, ok := strings.CutPrefix(c.Name, "Original ")
		if !ok {
			continue
		}
		enhanced := claims.Published("table7", "RL-PPO "+q)
		for i, original := range []float64{c.Published, c.To} {
			t.Rows = append(t.Rows, []string{
				q + " [" + c.Unit + "]", []string{"lower", "upper"}[i], reports.Fixed(original, c.Decimals), reports.Fixed(enhanced, 2),
				reports.Fixed(original-enhanced, 2), reports.Fixed(100*(1-enhanced/original), 1),
			})
		}
	}
	return t
}
