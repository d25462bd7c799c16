package corun

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/task"
)

// MaxConcurrency is the largest size of a group for which [Setups] has setups.
const MaxConcurrency = 4

// Violations lists the rules that a window or a plan breaks, as one text each.
type Violations []string

func (v *Violations) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// InvalidError says that a plan was not measured because it breaks rules.
type InvalidError struct {
	Violations Violations // all violations; it is not empty
}

// shown is the largest number of violations in an error's text.
const shown = 5

func (e *InvalidError) Error() string {
	text := e.Violations
	if len(text) > shown {
		text = append(slices.Clone(text[:shown]), fmt.Sprintf("and %d more", len(text)-shown))
	}
	return "invalid co-run plan: " + strings.Join(text, "; ")
}

// Check returns the violations of a window: no jobs, or an invalid job, limit or model.
func (w *Window) Check() (out Violations) {
	if len(w.Jobs) == 0 {
		out.add("the window has no jobs; it needs at least 1")
	}
	for i := range w.Jobs {
		if err := w.Jobs[i].Validate(); err != nil {
			out.add("job %d, %v", i, err)
		}
	}
	if w.Concurrency < 1 || w.Concurrency > MaxSlots {
		out.add("groups of up to %d jobs; give a number from 1 to %d", w.Concurrency, MaxSlots)
	}
	for _, c := range []struct {
		name  string
		value float64
	}{{"kappa", w.Model.Kappa}, {"delta", w.Model.Delta}} {
		if !(c.value >= 0) || math.IsInf(c.value, 1) {
			out.add("%s is %v; give a number from 0", c.name, c.value)
		}
	}
	return out
}

// Check returns all violations of a plan for a window, or of the window itself.
//
// A group that takes longer than its jobs one after the other is allowed, although the paper's first constraint
// (IV-A) forbids it: only running the group shows it, and a scheduler that predicts may be wrong. [Result.Slower]
// counts such groups. The best plan has no such group, because every job may run alone.
func Check(w Window, p Plan) Violations {
	if out := w.Check(); out != nil {
		return out
	}
	var out Violations
	in := make([]int, len(w.Jobs)) // the number of the group that has the job, from 1; 0 for none
	for g := range p {
		group := &p[g]
		for _, j := range group.Jobs {
			switch {
			case j < 0 || j >= len(w.Jobs):
				out.add("group %d: there is no job %d; the window has %d, counted from 0", g+1, j, len(w.Jobs))
			case in[j] != 0:
				out.add("group %d: job %d (%s) is in group %d already", g+1, j, w.Jobs[j].Name, in[j])
			default:
				in[j] = g + 1
			}
		}
		if len(group.Jobs) > w.Concurrency {
			out.add("group %d: %d jobs; at most %d may run at the same time", g+1, len(group.Jobs), w.Concurrency)
		}
		if err := group.Setup.Validate(); err != nil {
			out.add("group %d: %v", g+1, err)
		} else if n := group.Setup.Slots(); n != len(group.Jobs) {
			out.add("group %d: %d jobs on %s, which is for %d", g+1, len(group.Jobs), group.Setup, n)
		}
	}
	for j, g := range in {
		if g == 0 {
			out.add("job %d (%s) is in no group", j, w.Jobs[j].Name)
		}
	}
	return out
}

// Measure is the referee: it checks a plan, runs its groups one after the other and measures them. It shares no formula
// with [Model.Ends], which schedulers use. The time to set up a partition is not counted, as in the paper. Measure
// returns an [*InvalidError] for a plan that breaks a rule.
func Measure(w Window, p Plan) (Result, error) {
	v := Check(w, p)
	if v != nil {
		return Result{}, &InvalidError{v}
	}
	r := Result{Slowdowns: make([]float64, len(w.Jobs))}
	for _, g := range p {
		var alone, last mig.Seconds
		for i, end := range replay(w, g) {
			job := &w.Jobs[g.Jobs[i]]
			r.Slowdowns[g.Jobs[i]] = float64(end / job.Solo)
			alone += job.Solo
			last = max(last, end)
		}
		r.Groups = append(r.Groups, last)
		r.Makespan += last
		r.TimeSharing += alone
		// A job alone on the whole GPU takes its solo time, except for rounding.
		if last > alone*(1+slack) {
			r.Slower++
		}
	}
	return r, nil
}

// replayed is a job while it runs.
type replayed struct {
	job   *task.Program
	gi    *GI
	ci    *CI
	share float64 // the job's share of the compute instance, from 0 to 1; 0 without MPS percentages
	// left is the remaining share of the job, from 1 to 0, and rate is the share done in a
	// second. By rounding, left may reach 0 before the job is done.
	left, rate float64
	done       bool
	end        mig.Seconds
}

// replay runs a group and returns the ends of its jobs, by slot.
func replay(w Window, g Group) []mig.Seconds {
	var all []*replayed
	for i := range g.Setup.GIs {
		gi := &g.Setup.GIs[i]
		for k := range gi.CIs {
			ci := &gi.CIs[k]
			shares := ci.Shares
			if len(shares) == 0 {
				shares = make([]float64, max(1, ci.Default))
			}
			for _, share := range shares {
				job := &w.Jobs[g.Jobs[len(all)]]
				all = append(all, &replayed{job: job, gi: gi, ci: ci, share: share, left: 1})
			}
		}
	}
	for now := mig.Seconds(0); ; {
		running := slices.DeleteFunc(slices.Clone(all), func(r *replayed) bool { return r.done })
		if len(running) == 0 {
			break
		}
		for _, r := range running {
			r.rate = w.Model.rate(r, running)
		}
		first := slices.MinFunc(running, func(a, b *replayed) int { return cmp.Compare(a.left/a.rate, b.left/b.rate) })
		step := first.left / first.rate
		now += mig.Seconds(step)
		for _, r := range running {
			if r.left/r.rate == step {
				r.done = true
				r.end = now
			} else {
				r.left -= float64(step * r.rate)
			}
		}
	}
	ends := make([]mig.Seconds, len(all))
	for i, r := range all {
		ends[i] = r.end
	}
	return ends
}

// rate returns the share of its work that a job does in a second beside the running jobs.
func (m *Model) rate(r *replayed, running []*replayed) float64 {
	var wants []float64
	for _, o := range running {
		if o.gi == r.gi {
			wants = append(wants, m.alone(o, running).bandwidth)
		}
	}
	alone := m.alone(r, running)
	short := max(1, alone.bandwidth/fair(wants, r.gi.Memory))
	interference := 1 + float64(m.Kappa*float64(len(wants)-1))
	return 1 / (alone.relative * short * interference * float64(r.job.Solo))
}

// demand is the time of a job, in solo times, and the bandwidth that it would use if no other job used the memory.
type demand struct{ relative, bandwidth float64 }

// alone returns the demand of a job on the multiprocessors that it has beside the running jobs.
func (m *Model) alone(r *replayed, running []*replayed) demand {
	var wants []float64 // the parallelism of the running clients of the compute instance
	shares := 0.0       // the sum of their shares
	for _, o := range running {
		if o.ci == r.ci {
			wants = append(wants, o.job.Parallelism)
			shares += o.share
		}
	}
	compute, work := r.ci.Compute, r.job.Compute
	if r.share > 0 {
		compute *= r.share
		if m.Release {
			compute *= sum(r.ci.Shares) / shares
		}
	} else {
		compute = min(r.job.Parallelism, fair(wants, r.ci.Compute))
		work *= 1 + float64(m.Delta*float64(len(wants)-1))
	}
	x := work / min(compute, r.job.Parallelism)
	y := r.job.Memory / r.gi.Memory
	norm := portable.Pow(portable.Pow(x, task.Sharpness)+portable.Pow(y, task.Sharpness), 1./task.Sharpness)
	relative := r.job.Serial + norm
	return demand{relative, r.job.Memory / relative}
}

func sum(shares []float64) (total float64) {
	for _, x := range shares {
		total += x
	}
	return total
}

// fair returns the cap under max-min fairness: smaller wants are met in full, larger ones get the
// same cap. It returns +Inf if have is enough for all.
func fair(wants []float64, have float64) float64 {
	wants = slices.Sorted(slices.Values(wants))
	for i, want := range wants {
		each := have / float64(len(wants)-i)
		if want > each {
			return each
		}
		have -= want
	}
	return math.Inf(1)
}
