package schedule_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// bruteValid reports whether a small schedule is valid. It compares everything with
// everything and tries every order of the operations on an instance.
func bruteValid(p schedule.Problem, s schedule.Schedule) bool {
	finite := func(ts ...mig.Seconds) bool {
		for _, t := range ts {
			if math.IsNaN(float64(t)) || math.IsInf(float64(t), 0) {
				return false
			}
		}
		return true
	}
	real := func(in mig.Instance) bool {
		return in.Profile != nil && slices.Contains(p.GPU.Profiles, in.Profile) && slices.Contains(in.Profile.Starts, in.Start)
	}
	// after reports whether a is after b by more than rounding.
	after := func(a, b mig.Seconds) bool {
		switch {
		case a <= b || a-b <= 4e-9:
			return false
		case math.IsInf(float64(a), 1) || math.IsInf(float64(b), -1):
			return true
		}
		return float64(a-b) > math.Ldexp(min(math.Abs(float64(a)), math.Abs(float64(b))), -48)
	}
	interval := func(gpu int, in mig.Instance, start, end mig.Seconds) bool {
		return gpu >= 0 && gpu < p.GPUs() && real(in) && finite(start, end) && !after(0, start) && !after(start, end)
	}
	equal := func(a, b mig.Seconds) bool { return !after(a, b) && !after(b, a) }
	// together reports whether two intervals share time.
	together := func(a0, a1, b0, b1 mig.Seconds) bool { return after(b1, a0) && after(a1, b0) }

	if p.Model > mig.Free || s.GPU != p.GPU || s.Model != p.Model {
		return false
	}
	ran := map[int]bool{}
	for _, pl := range s.Placements {
		if pl.Task < 0 || pl.Task >= len(p.Tasks) || ran[pl.Task] || !interval(pl.GPU, pl.Instance, pl.Start, pl.End) {
			return false
		}
		ran[pl.Task] = true
		takes := p.Tasks[pl.Task].On(pl.Instance.Size())
		if !finite(takes) || takes < task.MinSeconds || !equal(pl.End, pl.Start+takes) || after(p.ReleaseOf(pl.Task), pl.Start) {
			return false
		}
	}
	if len(ran) != len(p.Tasks) {
		return false
	}

	type place struct {
		gpu int
		in  mig.Instance
	}
	type life struct {
		place
		begin, from, to, end mig.Seconds
	}
	exist := map[place]mig.Seconds{}
	for _, e := range p.Start {
		at := place{e.GPU, e.Instance}
		if _, twice := exist[at]; twice || !interval(e.GPU, e.Instance, e.BusyUntil, e.BusyUntil) || e.BusyUntil < 0 {
			return false
		}
		exist[at] = e.BusyUntil
	}
	ops := map[place][]schedule.Operation{}
	for _, o := range s.Operations {
		if o.Op > schedule.Destroy || !interval(o.GPU, o.Instance, o.Start, o.End) {
			return false
		}
		cost := o.Instance.Profile.Create
		if o.Op == schedule.Destroy {
			cost = o.Instance.Profile.Destroy
		}
		if p.Model == mig.Free {
			cost = 0
		}
		if !equal(o.End, o.Start+cost) {
			return false
		}
		ops[place{o.GPU, o.Instance}] = append(ops[place{o.GPU, o.Instance}], o)
	}
	for i, a := range s.Operations {
		for _, b := range s.Operations[:i] {
			if p.Model == mig.Sequential && a.GPU == b.GPU && together(a.Start, a.End, b.Start, b.End) {
				return false
			}
		}
	}

	var lives []life
	for gpu := range p.GPUs() {
		for _, in := range instances(p.GPU, false) {
			at := place{gpu, in}
			var open *life
			if busy, ok := exist[at]; ok {
				open = &life{at, -inf, busy, inf, inf}
			}
			var try func(open *life, rest []schedule.Operation, done []life) bool
			try = func(open *life, rest []schedule.Operation, done []life) bool {
				if len(rest) == 0 {
					if open != nil {
						done = append(done, *open)
					}
					lives = append(lives, done...)
					return true
				}
				for i, o := range rest {
					others := slices.Delete(slices.Clone(rest), i, i+1)
					if slices.ContainsFunc(others, func(x schedule.Operation) bool { return after(o.Start, x.Start) }) {
						continue
					}
					switch {
					case o.Op == schedule.Create && open == nil:
						if try(&life{at, o.Start, o.End, inf, inf}, others, done) {
							return true
						}
					case o.Op == schedule.Destroy && open != nil && !after(open.from, o.Start):
						l := *open
						l.to, l.end = o.Start, o.End
						if try(nil, others, append(slices.Clone(done), l)) {
							return true
						}
					}
				}
				return false
			}
			if !try(open, ops[at], nil) {
				return false
			}
		}
	}
	for i, a := range lives {
		same := 1
		for j, b := range lives {
			if i == j || a.gpu != b.gpu {
				continue
			}
			if a.in.Overlaps(b.in) && together(a.begin, a.end, b.begin, b.end) {
				return false
			}
			// Count at the instant when a begins. Of the instances that exist then, one began last.
			if a.in.Profile == b.in.Profile && (b.begin < a.begin || b.begin == a.begin && j < i) && together(a.begin, a.end, b.begin, b.end) {
				same++
			}
		}
		if same > a.in.Profile.Max {
			return false
		}
	}
	for i, a := range s.Placements {
		home := func(l life) bool {
			return l.place == place{a.GPU, a.Instance} && !after(l.from, a.Start) && !after(a.End, l.to)
		}
		if !slices.ContainsFunc(lives, home) {
			return false
		}
		for _, b := range s.Placements[:i] {
			if a.GPU == b.GPU && a.Instance.Overlaps(b.Instance) && together(a.Start, a.End, b.Start, b.End) {
				return false
			}
		}
	}
	var busy, makespan float64
	for _, pl := range s.Placements {
		busy += float64(pl.Instance.Size()) * float64(pl.End-pl.Start)
		makespan = max(makespan, float64(pl.End))
	}
	return busy <= float64(p.GPU.ComputeSlices)*float64(p.GPUs())*makespan*(1+1e-6)
}

// agrees compares the referee with brute force for a schedule with up to three faults.
func agrees(t *rapid.T) {
	p, s := drawValid(t, 5, false)
	for range rapid.IntRange(0, 3).Draw(t, "mutations") {
		mutate(t, &p, &s)
	}
	found := schedule.Check(p, s)
	if valid := bruteValid(p, s); valid != (len(found) == 0) {
		t.Fatalf("brute force says valid=%v, the referee %v", valid, found)
	}
}

func TestCheckAgreesWithBruteForce(t *testing.T) { rapid.Check(t, agrees) }

func FuzzCheck(f *testing.F) {
	random := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{0, 512, 4096, 16384} {
		seed := make([]byte, n)
		random.Read(seed)
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(agrees))
}
