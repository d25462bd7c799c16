package datasets

import (
	"math"
	"strings"

	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// An OverlapGroup is a measured group of several jobs, with the inputs with which the co-run model predicts it.
type OverlapGroup struct {
	layout   corun.Layout
	programs [corun.MaxSlots]*task.Program
	// measured has the slowdown of each job: its time beside the others over its time alone on the whole GPU.
	measured []float64
	Kind     string // [OnPartitions] or [Unlimited]
	HeldOut  bool   // excludes the group from the fit of constants
}

// The kinds of groups.
const (
	OnPartitions = "multiprocessors of their own"
	Unlimited    = "without limits"
)

// OverlapGroups returns the groups of several jobs that the model can predict: there must be a program and a time alone
// on the whole GPU for each kernel. left counts the other groups.
func OverlapGroups(rows []OverlapRate, programs map[string]*task.Program) (out []OverlapGroup, left int) {
	rows = Overlaps(rows)
	alone := map[string]float64{}
	for _, r := range rows {
		if r.Group == OverlapJob(r.Kernel, r.Of) {
			alone[r.Kernel] = float64(r.Iteration)
		}
	}
	for len(rows) > 0 {
		jobs := rows[:len(strings.Fields(rows[0].Group))]
		rows = rows[len(jobs):]
		if len(jobs) == 1 {
			continue
		}
		g, ok := newGroup(jobs, programs, alone)
		if ok {
			out = append(out, g)
		} else {
			left++
		}
	}
	return out, left
}

// newGroup returns the group of the jobs of a run; false if the model cannot predict it.
func newGroup(jobs []OverlapRate, programs map[string]*task.Program, alone map[string]float64) (OverlapGroup, bool) {
	g := OverlapGroup{Kind: OnPartitions, HeldOut: heldOut(jobs[0].Group)}
	var shares []float64
	sms := 0
	for i, j := range jobs {
		p := programs[j.Kernel]
		if p == nil || alone[j.Kernel] == 0 || i == corun.MaxSlots {
			return g, false
		}
		g.programs[i] = p
		g.measured = append(g.measured, float64(j.Iteration)/alone[j.Kernel])
		shares = append(shares, float64(j.SMs)/float64(j.Of))
		sms += j.SMs
	}
	ci := corun.CI{Compute: 1, Shares: shares}
	if strings.HasSuffix(jobs[0].Group, ":"+All) {
		ci, g.Kind = corun.CI{Compute: 1, Default: len(jobs)}, Unlimited
	} else if sms > jobs[0].Of {
		return g, false
	}
	g.layout = corun.Setup{GIs: []corun.GI{{Memory: 1, CIs: []corun.CI{ci}}}}.Layout()
	return g, true
}

// OverlapError returns the mean absolute relative error of the model over the jobs of the groups that use accepts, and
// the number of these jobs. The mean is NaN without jobs.
func OverlapError(groups []OverlapGroup, m corun.Model, use func(*OverlapGroup) bool) (mean float64, jobs int) {
	sum := 0.0
	for i := range groups {
		if !use(&groups[i]) {
			continue
		}
		g := &groups[i]
		predicted := m.Slowdowns(&g.layout, &g.programs)
		for k, measured := range g.measured {
			sum += math.Abs(predicted[k]/measured - 1)
			jobs++
		}
	}
	return sum / float64(jobs), jobs
}

// FitOverlapModel fits kappa on the groups with limits, and then delta on the groups without limits. Each becomes the
// hundredth from 0 to 2 with the smallest error ([OverlapError]) on the groups that are not held out. A constant
// without groups keeps its value in from.
func FitOverlapModel(groups []OverlapGroup, from corun.Model) corun.Model {
	best := from
	fit := func(constant *float64, use func(*OverlapGroup) bool) {
		least, chosen := math.Inf(1), *constant
		for hundredths := range 201 {
			*constant = float64(hundredths) / 100
			e, jobs := OverlapError(groups, best, use)
			if jobs > 0 && e < least {
				chosen, least = *constant, e
			}
		}
		*constant = chosen
	}
	fit(&best.Kappa, func(g *OverlapGroup) bool { return !g.HeldOut && g.Kind != Unlimited })
	fit(&best.Delta, func(g *OverlapGroup) bool { return !g.HeldOut && g.Kind == Unlimited })
	return best
}
