package env

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// plainDevice says again, without regard to speed, what a [Device] does: it keeps
// the instances that are there and all operations, and looks through all of them.
type plainDevice struct {
	model mig.Reconfiguration
	tree  []mig.Instance
	there []plainInstance
	// emptied is, by memory slice, when the last instance there was gone.
	emptied    [8]float64
	placements []schedule.Placement
	operations []schedule.Operation
}

type plainInstance struct {
	mig.Instance
	free float64
}

func slicesOf(in mig.Instance) (list []int) {
	for s := range 8 {
		if in.Mask()>>s&1 == 1 {
			list = append(list, s)
		}
	}
	return list
}

// earliest is the first instant from ready on at which nothing else is reconfigured
// for so long: ready itself or the end of another operation.
func (d *plainDevice) earliest(ready, seconds float64) float64 {
	instants := []float64{ready}
	for _, o := range d.operations {
		if float64(o.End) > ready {
			instants = append(instants, float64(o.End))
		}
	}
	slices.Sort(instants)
	at := slices.IndexFunc(instants, func(t float64) bool {
		return !slices.ContainsFunc(d.operations, func(o schedule.Operation) bool {
			return float64(o.Start) < t+seconds && t < float64(o.End)
		})
	})
	return instants[at]
}

func (d *plainDevice) operate(op schedule.Op, in mig.Instance, ready float64) float64 {
	seconds := float64(in.Profile.Create)
	if op == schedule.Destroy {
		seconds = float64(in.Profile.Destroy)
	}
	switch d.model {
	case mig.Free:
		seconds = 0
	case mig.Sequential:
		ready = d.earliest(ready, seconds)
	}
	d.operations = append(d.operations, schedule.Operation{Op: op, Instance: in, Start: mig.Seconds(ready), End: mig.Seconds(ready + seconds)})
	return ready + seconds
}

func (d *plainDevice) run(in mig.Instance, task int, seconds, release float64) {
	i := slices.IndexFunc(d.there, func(p plainInstance) bool { return p.Instance == in })
	if i < 0 {
		i = d.make(in)
	}
	start := max(d.there[i].free, release)
	d.there[i].free = start + seconds
	d.placements = append(d.placements, schedule.Placement{Task: task, Instance: in, Start: mig.Seconds(start), End: mig.Seconds(start + seconds)})
}

func (d *plainDevice) make(in mig.Instance) int {
	var blockers, others []plainInstance
	for _, p := range d.there {
		if p.Overlaps(in) {
			blockers = append(blockers, p)
		} else {
			others = append(others, p)
		}
	}
	slices.SortFunc(blockers, func(a, b plainInstance) int {
		return cmp.Or(cmp.Compare(a.free, b.free), slices.Index(d.tree, a.Instance)-slices.Index(d.tree, b.Instance))
	})
	for _, b := range blockers {
		gone := d.operate(schedule.Destroy, b.Instance, b.free)
		for _, s := range slicesOf(b.Instance) {
			d.emptied[s] = gone
		}
	}
	ready := 0.0
	for _, s := range slicesOf(in) {
		ready = max(ready, d.emptied[s])
	}
	d.there = append(others, plainInstance{in, d.operate(schedule.Create, in, ready)})
	return len(others)
}

var models = []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free}

// Random decisions have the times that the plain restatement gives, and the referee
// has nothing to say.
func TestDeviceDecisions(t *testing.T) {
	early := 0 // operations before one that was decided earlier
	for _, g := range mig.GPUs() {
		for _, model := range models {
			d := NewDevice(g, model)
			for seed := range uint64(150) {
				rng := rand.New(rand.NewPCG(seed, 12))
				tasks := make([]Times, 1+rng.IntN(40))
				tasks = tasks[:randomTasks(g)(rng, tasks)]
				// Short tasks leave narrow gaps between operations.
				unit := []float64{0.02, 1}[rng.IntN(2)]
				for i := range tasks {
					for s := range tasks[i] {
						tasks[i][s] *= unit
					}
				}
				p := problemOf(g, model, tasks)
				plain := &plainDevice{model: model, tree: d.Instances()}
				d.Reset()
				if parts := g.Partitions(); rng.IntN(2) == 0 {
					for _, in := range parts[rng.IntN(len(parts))] {
						if rng.IntN(3) == 0 {
							continue
						}
						until := max(0, unit*(20*rng.Float64()-10))
						d.Preset(slices.Index(d.Instances(), in), until)
						plain.there = append(plain.there, plainInstance{in, until})
						p.Start = append(p.Start, schedule.Existing{Instance: in, BusyUntil: mig.Seconds(until)})
					}
				}
				late := rng.IntN(3) == 0
				for range tasks {
					release := 0.0
					if late {
						release = 30 * unit * rng.Float64()
					}
					p.Release = append(p.Release, mig.Seconds(release))
				}
				for _, i := range rng.Perm(len(tasks)) {
					instance := rng.IntN(len(d.Instances()))
					for !p.Tasks[i].Fits(d.Instances()[instance].Size()) {
						instance = rng.IntN(len(d.Instances()))
					}
					in, release := d.Instances()[instance], float64(p.Release[i])
					seconds := tasks[i][in.Size()]
					start, end := d.Run(instance, i, seconds, release)
					plain.run(in, i, seconds, release)
					if last := plain.placements[len(plain.placements)-1]; start != float64(last.Start) || end != float64(last.End) {
						t.Fatalf("%s, %s, seed %d: task %d runs from %v to %v, want %v to %v", g, model, seed, i, start, end, last.Start, last.End)
					}
				}
				s := d.Schedule()
				if !slices.Equal(s.Placements, plain.placements) || !slices.Equal(s.Operations, plain.operations) {
					t.Fatalf("%s, %s, seed %d:\n%v\n%v, want\n%v\n%v", g, model, seed, s.Placements, s.Operations, plain.placements, plain.operations)
				}
				if v := schedule.Check(p, s); len(v) > 0 {
					t.Fatalf("%s, %s, seed %d: %v", g, model, seed, v)
				}
				if mig.Seconds(d.Makespan()) != s.Makespan() {
					t.Fatalf("%s, %s, seed %d: the makespan is %v, of the schedule %v", g, model, seed, d.Makespan(), s.Makespan())
				}
				checkState(t, d, plain)
				if model == mig.Sequential && !slices.IsSortedFunc(s.Operations, func(a, b schedule.Operation) int { return cmp.Compare(a.Start, b.Start) }) {
					early++
				}
			}
		}
	}
	if early < 100 {
		t.Errorf("operations went into gaps in %d schedules only", early)
	}
}

// checkState compares what Here and Busy say.
func checkState(t *testing.T, d *Device, plain *plainDevice) {
	t.Helper()
	here, free := [8]int{}, plain.emptied
	for s := range here {
		here[s] = absent
	}
	for _, p := range plain.there {
		for _, s := range slicesOf(p.Instance) {
			here[s], free[s] = slices.Index(plain.tree, p.Instance), p.free
		}
	}
	for s := range here {
		if i, f := d.Here(s); i != here[s] || f != free[s] {
			t.Fatalf("slice %d holds instance %d until %v, want %d until %v", s, i, f, here[s], free[s])
		}
	}
	busy := mig.Seconds(0)
	for _, o := range plain.operations {
		if plain.model == mig.Sequential {
			busy = max(busy, o.End)
		}
	}
	if d.Busy() != float64(busy) {
		t.Fatalf("busy until %v, want %v", d.Busy(), busy)
	}
}
