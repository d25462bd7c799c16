package deadline

import (
	"fmt"
	"slices"
	"strconv"

	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// inputTable lists the inputs of an artefact, those of other tables that it prints again
// included.
func inputTable(d *figures.Data, artefact, head string) reports.Table {
	t := d.Claims.Head(head)
	for _, c := range d.Claims.Of(artefact) {
		if c.Basis == figures.Input {
			t.Rows = append(t.Rows, []string{c.Name, strconv.FormatFloat(c.Published, 'f', c.Decimals, 64), c.Unit, c.Source})
		}
	}
	return t
}

// printed are the inputs that an artefact prints. This package must not import the agents, so that a
// test of the training compares these numbers with the settings that it uses.
func printed(d *figures.Data, artefact string) map[string]float64 {
	inputs := map[string]float64{}
	for _, c := range d.Claims.Of(artefact) {
		if c.Basis == figures.Input {
			inputs[c.Name] = c.Published
		}
	}
	return inputs
}

func table1(d *figures.Data) (*figures.Output, error) {
	inputs := printed(d, "table1")
	inputs["Original least slack"], inputs["Original largest slack"] = tight.slack()
	out := new(figures.Output).Take("A setting of the agents with original settings, or of the tight deadlines.", inputs)
	return out.Table("table1", inputTable(d, "table1", "table1")), nil
}

func table4(d *figures.Data) (*figures.Output, error) {
	out := new(figures.Output).Take("A part of what our agents see.", printed(d, "table4"))
	return out.Table("table4", inputTable(d, "table4", "table4")), nil
}

// day returns the first day of a sample.
func (x sample) day() task.Queue { return figures.Instance[task.Queue](x.dataset, gpu, 0) }

// slack returns the least and the largest slack of a day's jobs, in durations on the whole GPU.
func (x sample) slack() (least, largest float64) {
	all := figures.Map(x.day().Jobs, func(j task.Job) float64 { return float64((j.Deadline - j.Arrival) / j.On(7)) })
	return slices.Min(all), slices.Max(all)
}

// Steps per second of the report's environments, measured once on the released code: the
// notebook's environment and the report's.
const pandas, numpy = 29.0, 2500.0

// table3 compares the speed of this simulator with the report's. The speed-up of the report's
// environment is a claim; speeds of this simulator are none, because wall times differ from run
// to run.
func table3(d *figures.Data) (*figures.Output, error) {
	t := d.Claims.Head("timing-deadline")
	add := func(name string, perSecond float64, source string) {
		t.Rows = append(t.Rows, []string{name, fmt.Sprintf("%.3g", perSecond), fmt.Sprintf("%.3g", perSecond/pandas), source})
	}
	add("original, Pandas", pandas, "measured on the released code")
	add("improved, NumPy", numpy, "measured on the released code")
	for _, s := range with(agent, schedulers) {
		name := "this simulator, " + s.title
		us := d.Micros(s.on(relaxed.dataset, 0), many)
		steps := figures.Mean(jobs.of(d, s, relaxed))
		if len(us) == 0 {
			// Timings are not results: a power cut may have lost them.
			t.Rows = append(t.Rows, []string{name, "", "", "not timed"})
			continue
		}
		add(name, steps/figures.Mean(us)*1e6, fmt.Sprintf("%d days", len(us)))
	}
	speedup := d.MeanOf([]float64{numpy / pandas}, verdict.Measurements, 0)
	speedup.Detail = "The two environments were timed once, on another machine than the report's; this suite runs no Python."
	out := figures.Read(figures.Reading{Values: figures.Values{"NumPy over Pandas": speedup}})
	return out.Table("timing-deadline", t), nil
}
