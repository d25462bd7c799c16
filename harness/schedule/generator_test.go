package schedule_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// instances returns every instance of a GPU, or only the standard ones.
func instances(g *mig.GPU, standard bool) []mig.Instance {
	var all []mig.Instance
	for _, p := range g.Profiles {
		if p.Standard() || !standard {
			for _, s := range p.Starts {
				all = append(all, mig.Instance{Profile: p, Start: s})
			}
		}
	}
	return all
}

// device is one GPU while a schedule is drawn. ready holds the instant from which each
// existing instance can be used. The others hold the instants from which an instance can be
// created.
type device struct {
	ready      map[mig.Instance]mig.Seconds
	slice      [8]mig.Seconds
	profile    map[*mig.Profile]mig.Seconds
	operations mig.Seconds
}

// drawValid draws a problem and a valid schedule for it. Each task runs on a random
// instance; the instances in its way are destroyed first.
func drawValid(t *rapid.T, tasks int, standard bool) (schedule.Problem, schedule.Schedule) {
	p := schedule.Problem{
		GPU:   rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu"),
		Count: rapid.IntRange(0, 2).Draw(t, "count"),
		Model: rapid.SampledFrom([]mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}).Draw(t, "model"),
	}
	g := p.GPU
	s := schedule.Schedule{GPU: g, Algorithm: "drawn", Model: p.Model}
	gap := rapid.SampledFrom([]mig.Seconds{0, 0, 0, 0.25, 1})
	devices := make([]device, p.GPUs())
	for i := range devices {
		d := &devices[i]
		d.ready, d.profile = map[mig.Instance]mig.Seconds{}, map[*mig.Profile]mig.Seconds{}
		for _, in := range rapid.SampledFrom(g.Partitions()).Draw(t, "start") {
			if rapid.Bool().Draw(t, "present") {
				e := schedule.Existing{GPU: i, Instance: in, BusyUntil: gap.Draw(t, "busy until")}
				p.Start = append(p.Start, e)
				d.ready[in] = e.BusyUntil
			}
		}
	}
	operate := func(d *device, gpu int, op schedule.Op, in mig.Instance, start, cost mig.Seconds) mig.Seconds {
		if p.Model == mig.Sequential {
			start = max(start, d.operations)
		}
		if p.Model == mig.Free {
			cost = 0
		}
		start += gap.Draw(t, "gap")
		d.operations = start + cost
		s.Operations = append(s.Operations, schedule.Operation{Op: op, GPU: gpu, Instance: in, Start: start, End: start + cost})
		return start + cost
	}
	releases := rapid.Bool().Draw(t, "releases")
	for i := range rapid.IntRange(0, tasks).Draw(t, "tasks") {
		in := rapid.SampledFrom(instances(g, standard)).Draw(t, "instance")
		tk := task.New(fmt.Sprintf("task %d", i), map[mig.Slices]mig.Seconds{in.Size(): mig.Seconds(rapid.Float64Range(0.01, 10).Draw(t, "seconds"))})
		p.Tasks = append(p.Tasks, tk)
		var release mig.Seconds
		if releases {
			release = gap.Draw(t, "release")
			p.Release = append(p.Release, release)
		}

		gpu := rapid.IntRange(0, len(devices)-1).Draw(t, "device")
		d := &devices[gpu]
		if _, ok := d.ready[in]; !ok {
			var conflicts []mig.Instance
			same := 0
			for o := range d.ready {
				if o.Profile == in.Profile {
					same++
				}
			}
			for o := range d.ready {
				if o.Overlaps(in) || same == in.Profile.Max && o.Profile == in.Profile {
					conflicts = append(conflicts, o)
				}
			}
			slices.SortFunc(conflicts, func(a, b mig.Instance) int { return int(a.Start - b.Start) })
			for _, o := range conflicts {
				end := operate(d, gpu, schedule.Destroy, o, d.ready[o], o.Profile.Destroy)
				for j := range d.slice {
					if o.Mask()>>j&1 == 1 {
						d.slice[j] = end
					}
				}
				d.profile[o.Profile] = max(d.profile[o.Profile], end)
				delete(d.ready, o)
			}
			start := d.profile[in.Profile]
			for j := range d.slice {
				if in.Mask()>>j&1 == 1 {
					start = max(start, d.slice[j])
				}
			}
			d.ready[in] = operate(d, gpu, schedule.Create, in, start, in.Profile.Create)
		}
		start := max(d.ready[in], release) + gap.Draw(t, "idle")
		end := start + tk.On(in.Size())
		d.ready[in] = end
		s.Placements = append(s.Placements, schedule.Placement{Task: i, GPU: gpu, Instance: in, Start: start, End: end})
	}
	s.Placements = rapid.Permutation(s.Placements).Draw(t, "placements")
	s.Operations = rapid.Permutation(s.Operations).Draw(t, "operations")
	return p, s
}

// mutate changes one thing, sensibly or not.
func mutate(t *rapid.T, p *schedule.Problem, s *schedule.Schedule) {
	seconds := rapid.SampledFrom([]mig.Seconds{-7, -0.5, -0.1, -1e-4, 0, 1e-4, 0.1, 0.5, 3, 1e300, nan, inf, -inf})
	index := rapid.SampledFrom([]int{-1 << 62, -1, 0, 1, 2, 3, 1 << 62})
	instance := rapid.SampledFrom(append(instances(p.GPU, false),
		mig.Instance{}, mig.Instance{Profile: &mig.Profile{Size: 99, Length: -3}, Start: -1}, mig.Instance{Profile: p.GPU.Profiles[0], Start: 1 << 62}))
	whole := func(gpu *int, in *mig.Instance, start, end *mig.Seconds) {
		switch rapid.IntRange(0, 4).Draw(t, "field") {
		case 0:
			*gpu = index.Draw(t, "gpu")
		case 1:
			*in = instance.Draw(t, "instance")
		case 2:
			*start += seconds.Draw(t, "start")
		case 3:
			*end += seconds.Draw(t, "end")
		case 4:
			by := seconds.Draw(t, "shift")
			*start += by
			*end += by
		}
	}
	switch rapid.IntRange(0, 11).Draw(t, "mutation") {
	case 0, 1, 2:
		if n := len(s.Placements); n > 0 {
			pl := &s.Placements[rapid.IntRange(0, n-1).Draw(t, "i")]
			whole(&pl.GPU, &pl.Instance, &pl.Start, &pl.End)
		}
	case 3, 4, 5:
		if n := len(s.Operations); n > 0 {
			o := &s.Operations[rapid.IntRange(0, n-1).Draw(t, "i")]
			whole(&o.GPU, &o.Instance, &o.Start, &o.End)
		}
	case 6:
		if n := len(s.Placements); n > 0 {
			s.Placements[rapid.IntRange(0, n-1).Draw(t, "i")].Task = index.Draw(t, "task")
		}
	case 7:
		if n := len(s.Operations); n > 0 {
			s.Operations[rapid.IntRange(0, n-1).Draw(t, "i")].Op = schedule.Op(rapid.IntRange(0, 2).Draw(t, "op"))
		}
	case 8:
		if n := len(s.Operations); n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			s.Operations = slices.Delete(s.Operations, i, i+1)
		}
	case 9:
		if n := len(s.Operations); n > 0 && n < 12 {
			s.Operations = append(s.Operations, s.Operations[rapid.IntRange(0, n-1).Draw(t, "i")])
		}
	case 10:
		if n := len(p.Start); n > 0 {
			e := &p.Start[rapid.IntRange(0, n-1).Draw(t, "i")]
			var end mig.Seconds
			whole(&e.GPU, &e.Instance, &e.BusyUntil, &end)
		}
	case 11:
		p.Model = mig.Reconfiguration(rapid.IntRange(0, 3).Draw(t, "model"))
		s.Model = p.Model
	}
}
