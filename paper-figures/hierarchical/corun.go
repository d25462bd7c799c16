package hierarchical

import (
	"fmt"
	"math"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// needsCorun is why the model's error on co-runs is NOT RUNNABLE.
const needsCorun = "NOT RUNNABLE: needs kernels that share a GPU under MPS: run `miglab profile --mode mps-sm-limit --out DIR` and " +
	"`miglab profile corun --mode mps-sm-limit --out DIR` there, put DIR/kernels.csv and DIR/corun.csv into datasets/hardware as NAME.kernels.csv and NAME.corun.csv and build again"

// A corunCheck compares the model with a measured mix.
type corunCheck struct {
	mix string
	// throughput is relative to running the jobs one after the other. Slowdowns are by job.
	throughput, simulated         float64
	slowdowns, simulatedSlowdowns []float64
}

// corunError measures the error of the model on co-runs that were measured under MPS.
func corunError(h datasets.HardwareSet) (*figures.Output, error) {
	t := reports.Table{
		Title: "Co-runs measured under MPS, and what the model makes of them",
		Columns: reports.Left("file", "mix").
			Right("throughput, measured", "simulated", "error [%]", "slowdowns, measured", "simulated"),
	}
	for _, table := range h.Corun {
		checks, left, err := checkCoruns(table.Rows, programsFor(h, table.Provenance))
		if err != nil {
			return nil, fmt.Errorf("%s.corun.csv: %w", table.File, err)
		}
		t.Notes = figures.WithOrigin(t.Notes, table.Provenance)
		var throughputs, slowdowns []float64
		for _, c := range checks {
			throughputs = append(throughputs, math.Abs(c.simulated/c.throughput-1))
			for i, s := range c.slowdowns {
				slowdowns = append(slowdowns, math.Abs(c.simulatedSlowdowns[i]/s-1))
			}
			t.Rows = append(t.Rows, []string{
				table.File, c.mix, reports.Fixed(c.throughput, 3), reports.Fixed(c.simulated, 3), reports.Fixed(100*(c.simulated/c.throughput-1), 1),
				listed(c.slowdowns), listed(c.simulatedSlowdowns),
			})
		}
		if len(checks) > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: mean absolute error of the throughput %.1f %% over %d mixes, of the slowdown %.1f %% over %d jobs",
				table.File, 100*figures.Mean(throughputs), len(throughputs), 100*figures.Mean(slowdowns), len(slowdowns)))
		}
		if left > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d mixes are left out, of kernels without times by size, or with more than 100 %% together", table.File, left))
		}
	}
	if t.Rows == nil {
		t.Notes = append(t.Notes, needsCorun)
	} else {
		t.Notes = append(t.Notes, fmt.Sprintf("programs are fitted on the kernels' times alone by size, on the same GPU or, where there are none, on the public ones of A100 (fit); kappa = %g", shippedModel().Kappa))
	}
	return new(figures.Output).Table("corun", t), nil
}

func listed(values []float64) string {
	return strings.Join(figures.Map(values, func(v float64) string { return reports.Fixed(v, 2) }), " ")
}

// programsFor returns the programs of kernels by name. They are fitted on the newest times alone
// on the same GPU under MPS, or on the public times if there are none.
func programsFor(h datasets.HardwareSet, on datasets.Provenance) map[string]task.Program {
	out := map[string]task.Program{}
	fits := datasets.KernelFits()
	for _, t := range h.Kernels {
		if p := t.Provenance; p.GPU == on.GPU && p.Name == on.Name && p.Source == on.Source && mig.MustLookup(p.GPU).ComputeSlices == mig.MaxSize {
			fits = append(fits, datasets.FitKernels(t)...)
		}
	}
	for _, f := range fits {
		out[f.Kernel] = f.Fitted
	}
	return out
}

// checkCoruns compares the model with all mixes of several jobs for which it has programs. left
// counts the other mixes.
func checkCoruns(rows []datasets.CorunTime, programs map[string]task.Program) (checks []corunCheck, left int, err error) {
	alone := map[string]mig.Seconds{}
	for _, r := range rows {
		if r.Mix == datasets.CorunJob(r.Kernel, 100) {
			alone[r.Kernel] = r.Seconds
		}
	}
	for len(rows) > 0 {
		jobs := rows[:len(strings.Fields(rows[0].Mix))]
		rows = rows[len(jobs):]
		if len(jobs) == 1 {
			continue
		}
		w, setup, ok := windowOf(jobs, programs, alone)
		if !ok {
			left++
			continue
		}
		g := corun.Group{Setup: setup}
		c := corunCheck{mix: jobs[0].Mix}
		var apart, last mig.Seconds
		for i, j := range jobs {
			g.Jobs = append(g.Jobs, i)
			apart += alone[j.Kernel]
			last = max(last, j.Seconds)
			c.slowdowns = append(c.slowdowns, float64(j.Seconds/alone[j.Kernel]))
		}
		r, err := corun.Measure(w, corun.Plan{g})
		if err != nil {
			return nil, 0, err
		}
		c.throughput, c.simulated, c.simulatedSlowdowns = float64(apart/last), r.Throughput(), r.Slowdowns
		checks = append(checks, c)
	}
	return checks, left, nil
}

// windowOf returns the programs of a mix, with their measured times alone, and its setup. It
// reports false if a kernel has no program or the setup is invalid.
func windowOf(jobs []datasets.CorunTime, programs map[string]task.Program, alone map[string]mig.Seconds) (corun.Window, corun.Setup, bool) {
	w := corun.Window{Concurrency: corun.MaxSlots, Model: shippedModel()}
	var shares []float64
	for _, j := range jobs {
		p, ok := programs[j.Kernel]
		if !ok {
			return w, corun.Setup{}, false
		}
		p.Name, p.Solo = j.Kernel, alone[j.Kernel]
		w.Jobs, shares = append(w.Jobs, p), append(shares, j.Percent/100)
	}
	setup := corun.Setup{GIs: []corun.GI{{Memory: 1, CIs: []corun.CI{{Compute: 1, Shares: shares}}}}}
	return w, setup, setup.Validate() == nil
}

// shippedModel has the constants of all results except those of sensitivity.
func shippedModel() corun.Model {
	in, err := datasets.InstanceOf[corun.Window](datasets.MustParse(queues), mig.MustLookup(gpu), 0)
	if err != nil {
		panic(err) // Table V is part of the program
	}
	return in.Model
}
