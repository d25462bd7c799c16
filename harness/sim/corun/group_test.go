package corun

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// drawProgram draws any program that takes its solo time on the whole GPU.
func drawProgram(t *rapid.T, label string) *task.Program {
	p := &task.Program{
		Name: label, Class: task.MemoryIntensive,
		Solo:        mig.Seconds(rapid.Float64Range(0.01, 100).Draw(t, label+" solo")),
		Serial:      rapid.Float64Range(0, 1).Draw(t, label+" serial"),
		Compute:     rapid.Float64Range(0.001, 1).Draw(t, label+" compute"),
		Memory:      rapid.Float64Range(0, 1).Draw(t, label+" memory"),
		Parallelism: rapid.Float64Range(0.01, 1).Draw(t, label+" parallelism"),
	}
	whole := p.Relative(1, 1)
	p.Serial /= whole
	p.Compute /= whole
	p.Memory /= whole
	return p
}

// some draws a setup of any family, jobs for it and a model.
func some(t *rapid.T) (s Setup, jobs [MaxSlots]*task.Program, m Model) {
	family := rapid.SampledFrom(Families()).Draw(t, "family")
	n := 2
	if family != MIGShared && family != MIGPrivate {
		n = rapid.IntRange(2, MaxConcurrency).Draw(t, "jobs")
	}
	s = rapid.SampledFrom(Setups(family, n)).Draw(t, "setup")
	for i := range n {
		jobs[i] = drawProgram(t, fmt.Sprint("job ", i))
	}
	m.Kappa = rapid.Float64Range(0, 1).Draw(t, "kappa")
	m.Delta = rapid.Float64Range(0, 1).Draw(t, "delta")
	m.Release = rapid.Bool().Draw(t, "release")
	return s, jobs, m
}

func (m *Model) ends(s Setup, jobs *[MaxSlots]*task.Program) (ends [MaxSlots]float64, last float64) {
	l := s.Layout()
	last = m.Ends(&l, jobs, &ends)
	return ends, last
}

// alone returns how long a job takes alone in a setup for one.
func alone(setup string, p *task.Program) float64 {
	m := Model{Kappa: 0.25, Delta: 0.3}
	_, last := m.ends(MustParse(setup), &[MaxSlots]*task.Program{p})
	return last
}

// A job that is held back by memory takes longer beside another one even if they do not
// disturb each other otherwise; private memory isolates.
func TestMemoryBoundJobsSlowEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := func(label string) *task.Program {
			p := drawProgram(t, label)
			rest := 1 - rapid.Float64Range(0, 0.3).Draw(t, label+" serial part")
			p.Solo = mig.Seconds(rapid.Float64Range(10, 20).Draw(t, label+" seconds")) // about as long
			p.Serial, p.Compute, p.Parallelism = 1-rest, 0.1*rest, 1
			p.Memory = rest * math.Pow(1-math.Pow(0.1, task.Sharpness), 1./task.Sharpness)
			return p
		}
		jobs := [MaxSlots]*task.Program{bound("a"), bound("b")}
		m := Model{}
		shared, _ := m.ends(MustParse("[{0.375}+{0.5},1m]"), &jobs)
		for i, setup := range []string{"[{0.375},1m]", "[{0.5},1m]"} {
			if by := alone(setup, jobs[i]); !(shared[i] > 1.05*by) {
				t.Fatalf("job %d takes %v s beside the other, %v alone", i, shared[i], by)
			}
		}
		m.Kappa = 1
		private, _ := m.ends(MustParse("[{0.375},0.5m]+[{0.5},0.5m]"), &jobs)
		for i, setup := range []string{"[{0.375},0.5m]", "[{0.5},0.5m]"} {
			if by := alone(setup, jobs[i]); private[i] != by {
				t.Fatalf("job %d takes %v s in private memory beside the other, %v alone", i, private[i], by)
			}
		}
	})
}

// TestBandwidthIsConserved looks at the jobs of a memory domain at an instant.
func TestBandwidthIsConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, jobs, m := some(t)
		l := s.Layout()
		first := 0
		for d := range l.domains {
			var active []runner
			for i := first; i < l.end[d]; i++ {
				if rapid.Bool().Draw(t, fmt.Sprintf("job %d is active", i)) {
					active = append(active, runner{slot: i, left: 1})
				}
			}
			first = l.end[d]
			m.demand(&l, active, l.memory[d], &jobs)
			m.paces(active, l.memory[d])
			moved, compute := 0.0, 0.0
			for _, r := range active {
				// In pace seconds the job moves what takes the whole bandwidth w_m of its solo time.
				moved += jobs[r.slot].Memory * float64(jobs[r.slot].Solo) / r.pace
				compute += jobs[r.slot].Compute * float64(jobs[r.slot].Solo) / r.pace
			}
			if moved > l.memory[d]*(1+1e-9) {
				t.Fatalf("%v of the bandwidth is used; the domain has %v", moved, l.memory[d])
			}
			all := 0.0
			for i := range s.GIs[d].CIs {
				all += s.GIs[d].CIs[i].Compute
			}
			if compute > all*(1+1e-9) {
				t.Fatalf("%v of the multiprocessors are used; the domain has %v", compute, all)
			}
		}
	})
}

// A job's demand is the same before the simulation as within it, to the last bit.
func TestEndsOfKnownDemands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, jobs, m := some(t)
		l := s.Layout()
		if !m.Fixed(&l) {
			t.Skip("demands change")
		}
		want, wantLast := m.ends(s, &jobs)
		var demands [MaxSlots]Demand
		slot := 0
		for _, gi := range s.GIs {
			for _, ci := range gi.CIs {
				shares := ci.Shares
				if len(shares) == 0 {
					shares = []float64{1}
				}
				for _, share := range shares {
					demands[slot] = DemandOf(jobs[slot], ci.Compute*share, gi.Memory)
					slot++
				}
			}
		}
		var ends [MaxSlots]float64
		if last := m.EndsOf(&l, &demands, &ends); last != wantLast || ends != want {
			t.Fatalf("ends %v, last %v; want %v and %v", ends, last, want, wantLast)
		}
	})
}

func TestEndsDoesNotAllocate(t *testing.T) {
	s := Setups(Hierarchical, 4)[20]
	l := s.Layout()
	p := &task.Program{Name: "p", Class: task.MemoryIntensive, Solo: 1, Compute: 0.5, Memory: 0.9, Parallelism: 0.5}
	jobs := [MaxSlots]*task.Program{p, p, p, p}
	var ends [MaxSlots]float64
	m := Model{Kappa: 0.25, Delta: 0.3, Release: true}
	if n := testing.AllocsPerRun(100, func() { m.Ends(&l, &jobs, &ends) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
