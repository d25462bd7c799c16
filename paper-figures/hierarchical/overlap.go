package hierarchical

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// An overlapGroup is a measured group of several jobs and what the model needs to predict it.
type overlapGroup struct {
	layout   corun.Layout
	programs [corun.MaxSlots]*task.Program
	// measured is each job's time beside the others over its time alone on the whole GPU;
	// intensity is the share of the time in which it ran, from 0 to 1.
	measured, intensity []float64
	// kind is what the group is, for the table: on partitions, beside bursts, or shared.
	kind    string
	heldOut bool
}

// The kinds of groups.
const (
	onPartitions = "multiprocessors of their own"
	besideBursts = "beside a kernel that runs in bursts"
	unlimited    = "without limits"
)

// overlapGroups returns the groups of several jobs for which there are programs and times
// alone on the whole GPU. left counts the other groups.
func overlapGroups(rows []datasets.OverlapRate, programs map[string]*task.Program) (out []overlapGroup, left int) {
	rows = datasets.Overlaps(rows)
	alone := map[string]float64{}
	for _, r := range rows {
		if r.Group == datasets.OverlapJob(r.Kernel, 100, r.Of) {
			alone[r.Kernel] = float64(r.Iteration)
		}
	}
	for len(rows) > 0 {
		jobs := rows[:len(strings.Fields(rows[0].Group))]
		rows = rows[len(jobs):]
		if len(jobs) == 1 {
			continue
		}
		g, ok := overlapOf(jobs, programs, alone)
		if !ok {
			left++
			continue
		}
		out = append(out, g)
	}
	return out, left
}

func overlapOf(jobs []datasets.OverlapRate, programs map[string]*task.Program, alone map[string]float64) (overlapGroup, bool) {
	g := overlapGroup{kind: onPartitions, heldOut: datasets.HeldOut(jobs[0].Group)}
	var shares []float64
	sms := 0
	for i, j := range jobs {
		p := programs[j.Kernel]
		if p == nil || alone[j.Kernel] == 0 || i == corun.MaxSlots {
			return g, false
		}
		g.programs[i] = p
		g.measured = append(g.measured, float64(j.Iteration)/alone[j.Kernel])
		g.intensity = append(g.intensity, float64(j.Intensity)/100)
		if j.Intensity < 100 {
			g.kind = besideBursts
		}
		shares = append(shares, float64(j.SMs)/float64(j.Of))
		sms += j.SMs
	}
	ci := corun.CI{Compute: 1, Shares: shares}
	if strings.HasSuffix(jobs[0].Group, ":"+datasets.All) {
		ci, g.kind = corun.CI{Compute: 1, Default: len(jobs)}, unlimited
	} else if sms > jobs[0].Of {
		return g, false
	}
	g.layout = corun.Setup{GIs: []corun.GI{{Memory: 1, CIs: []corun.CI{ci}}}}.Layout()
	return g, true
}

// errors returns the relative errors of the model for the jobs that always run. Beside a job
// that runs in bursts, a job has the pace that it has beside it for that share of the time,
// and the pace that it has alone for the rest.
func (g *overlapGroup) errors(m corun.Model) (out []float64) {
	beside := m.Slowdowns(&g.layout, &g.programs)
	for i := range g.measured {
		if g.intensity[i] < 1 {
			continue
		}
		predicted := beside[i]
		if g.kind == besideBursts {
			d := slices.Min(g.intensity)
			predicted = 1 / (d/beside[i] + (1-d)/g.withoutOthers(i))
		}
		out = append(out, predicted/g.measured[i]-1)
	}
	return out
}

// withoutOthers is the slowdown of a job with its share if nothing else runs.
func (g *overlapGroup) withoutOthers(i int) float64 {
	return g.programs[i].Relative(g.layout.Share(i), 1)
}

// meanError is the mean absolute error over the jobs of groups; NaN without any.
func meanError(groups []overlapGroup, m corun.Model, use func(*overlapGroup) bool) (mean float64, jobs int) {
	sum := 0.0
	for i := range groups {
		if !use(&groups[i]) {
			continue
		}
		for _, e := range groups[i].errors(m) {
			sum += math.Abs(e)
			jobs++
		}
	}
	return sum / float64(jobs), jobs
}

// fitModel chooses kappa on the groups with limits and then delta on those without, among the
// hundredths from 0 to 2, so that the mean absolute error on the groups that are not held out
// is smallest. A constant for which there are no groups stays as it is.
func fitModel(groups []overlapGroup) corun.Model {
	best := shippedModel()
	for _, c := range []struct {
		set func(*corun.Model, float64)
		use func(*overlapGroup) bool
	}{
		{func(m *corun.Model, x float64) { m.Kappa = x }, func(g *overlapGroup) bool { return !g.heldOut && g.kind != unlimited }},
		{func(m *corun.Model, x float64) { m.Delta = x }, func(g *overlapGroup) bool { return !g.heldOut && g.kind == unlimited }},
	} {
		least := math.Inf(1)
		from := best
		for hundredths := range 201 {
			m := from
			c.set(&m, float64(hundredths)/100)
			if e, jobs := meanError(groups, m, c.use); jobs > 0 && e < least {
				best, least = m, e
			}
		}
	}
	return best
}

// overlapTables adds to the artefact what was measured in overlapped windows: the fit of the
// kernels' scaling, and the error of the co-run model with the constants of the program and
// with constants that are fitted on two thirds of the groups. Without such data it adds nothing.
func overlapTables(o *figures.Output, claims *figures.Claims, h datasets.HardwareSet) {
	if len(h.Overlap) == 0 {
		return
	}
	scaling, misses := claims.Head("corun-scaling"), claims.Head("corun-overlap")
	for _, t := range h.Overlap {
		programs := map[string]*task.Program{}
		for _, f := range datasets.FitOverlap(t.Rows) {
			f.Fitted.Name = f.Kernel
			programs[f.Kernel] = &f.Fitted
			scaling.Rows = append(scaling.Rows, []string{
				t.File, f.Kernel, string(f.Fitted.Class), reports.Fixed(f.Fitted.Serial, 3), reports.Fixed(f.Fitted.Parallelism, 3),
				reports.Fixed(f.Gain, 2), reports.Fixed(100*f.RMS, 1),
			})
		}
		groups, left := overlapGroups(t.Rows, programs)
		fitted := fitModel(groups)
		for _, m := range []corun.Model{shippedModel(), fitted} {
			misses.Rows = append(misses.Rows, errorRows(t.File, groups, m)...)
		}
		for _, table := range []*reports.Table{&scaling, &misses} {
			table.Notes = figures.WithOrigin(table.Notes, t.Provenance)
			if t.Stub() {
				table.Notes = append(table.Notes, t.File+": MADE ON A STUB, not on a GPU: these numbers are not measurements")
			}
		}
		if left > 0 {
			misses.Notes = append(misses.Notes, fmt.Sprintf("%s: %d groups are left out, of kernels without rates alone on several numbers of multiprocessors", t.File, left))
		}
	}
	misses.Notes = append(misses.Notes, "the error is of the time of an iteration beside the others over the time alone on the whole GPU; a third of the groups, chosen by a hash of their names, is held out; the constants of the second rows of a file are fitted on the rest")
	o.Table("corun-scaling", scaling).Table("corun-overlap", misses)
}

// errorRows shows the errors of a model by kind of group.
func errorRows(file string, groups []overlapGroup, m corun.Model) (rows [][]string) {
	for _, kind := range []string{onPartitions, besideBursts, unlimited} {
		for i, part := range []string{"fitted on", "held out"} {
			e, jobs := meanError(groups, m, func(g *overlapGroup) bool { return g.kind == kind && g.heldOut == (i == 1) })
			if jobs == 0 {
				continue
			}
			rows = append(rows, []string{file, kind, part, reports.Fixed(m.Kappa, 2), reports.Fixed(m.Delta, 2), fmt.Sprint(jobs), reports.Fixed(100*e, 1)})
		}
	}
	return rows
}

// scalingFigure shows the speed of kernels alone against their multiprocessors.
func scalingFigure(o *figures.Output, h datasets.HardwareSet) {
	for _, t := range h.Overlap {
		panels := figures.Map(datasets.FitOverlap(t.Rows), func(f datasets.KernelFit) reports.Lines { return scalingPanel(&f, t.Rows) })
		if len(panels) > 0 {
			title := fmt.Sprintf("Kernels alone on parts of the multiprocessors, and the fitted model (%s)", t.Name)
			o.Figure("corun-scaling-"+t.File, title, reports.Panels{Title: title, Columns: 4, Charts: aligned(panels, 0)})
		}
	}
}

func scalingPanel(f *datasets.KernelFit, rows []datasets.OverlapRate) reports.Lines {
	var points []speed
	var alone []datasets.OverlapRate
	for _, r := range datasets.Overlaps(rows) {
		if r.Group == datasets.OverlapJob(f.Kernel, 100, r.SMs) {
			alone = append(alone, r)
		}
	}
	slices.SortFunc(alone, func(a, b datasets.OverlapRate) int { return cmp.Compare(a.SMs, b.SMs) })
	for _, r := range alone {
		points = append(points, speed{float64(r.SMs), r.Iteration, f.Fitted.Relative(float64(r.SMs)/float64(r.Of), 1)})
	}
	return speedPanel(f, "measured", reports.Axis{Label: "Multiprocessors"}, points)
}
