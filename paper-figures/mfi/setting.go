package mfi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/spec"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// profiles returns the profiles of the paper's GPU in the order of its tables, the largest first.
func profiles() []*mig.Profile {
	out := task.RequestProfiles(mig.MustLookup(gpu))
	slices.Reverse(out)
	return out
}

func table1(d *figures.Data) {
	t := d.Table("table1", "Table I. MIG profiles of A100-80GB, the paper's beside the GPU model's",
		reports.Left("profile").Right("slices (paper)", "compute slices", "memory slices", "instances (paper)",
			"instances").Left("index (paper)", "index"),
		"The paper's slices are memory slices, with one exception: 7g.80gb has 7 compute slices and takes all 8 "+
			"memory slices, as F and the free slices count them.")
	inputs := map[claim.Cell]float64{} // from the model; d.TakeInputs compares them with the paper's
	for _, p := range profiles() {
		length := min(p.Length, mig.MustLookup(gpu).ComputeSlices)
		name := p.String()
		inputs[claim.At(name, "slices")] = float64(length)
		inputs[claim.At(name, "instances")] = float64(p.Max)
		for i, s := range p.Starts {
			inputs[claim.At(name, fmt.Sprint("index ", i+1))] = float64(s)
		}
		t.Row(p, length, p.Size, p.Length, p.Max, p.Max, p.Starts, p.Starts)
	}
	d.TakeInputs("placements of the GPU model", inputs)
}

func table2(d *figures.Data) {
	t := d.Table("table2",
		"Table II. Probability of each profile, as the generator of requests has it",
		reports.Left("profile").Right("uniform", "skew-small", "skew-big", "bimodal"))
	t.Rows = figures.Map(profiles(), func(p *mig.Profile) []string { return []string{p.String()} })
	inputs := map[claim.Cell]float64{}
	load := []string{"mean memory slices of a request"}
	for _, dist := range distributions {
		shares := slices.Clone(figures.Instance[task.Requests](demand(dist, 1), gpu, 0).Demand)
		slices.Reverse(shares) // the largest profile first
		var mean float64
		for i, p := range profiles() {
			inputs[claim.Cell{Row: p.String(), Column: dist}] = shares[i]
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4g", shares[i]))
			mean += float64(shares[i] * float64(p.Length)) // rounded before it is added
		}
		load = append(load, fmt.Sprintf("%.2f", mean))
	}
	t.Rows = append(t.Rows, load)
	d.TakeInputs("probability in the generator of requests", inputs)
}

// gpu2 returns GPU 2 of Fig. 3a. V-B says that 1g.10gb takes the slice at 5, and with it the second slice of 1g.20gb
// at 4; that 1g.10gb and 2g.20gb still fit, but not 3g.40gb and 4g.40gb. We put 2g.20gb at 2: then all four
// terms of F agree with the text under two of the three readings.
func gpu2() []mig.Instance { return []mig.Instance{instance("2g.20gb", 2), instance("1g.10gb", 5)} }

// instance returns a placed profile of the paper's GPU. It panics for an unknown profile.
func instance(profile string, start mig.Slices) mig.Instance {
	return mig.Instance{Profile: spec.Must(mig.MustLookup(gpu).ProfileByName(profile)), Start: start}
}

// terms returns F of a mask by profile (Algorithm 1). It does not use the tables of the schedulers.
func terms(occupied mig.Mask, r sim.Reading) map[string]int {
	g := mig.MustLookup(gpu)
	out := map[string]int{}
	for _, p := range task.RequestProfiles(g) {
		if p.Length > g.MemorySlices-occupied.Count() {
			continue
		}
		for _, s := range p.Starts {
			window := mig.Instance{Profile: p, Start: s}.Mask()
			taken := window & occupied
			lost := taken != 0
			switch r {
			case sim.Partial:
				lost = lost && taken != window
			case sim.StartFree:
				lost = lost && occupied>>s&1 == 0
			}
			if lost {
				out[p.String()] += int(p.Length)
			}
		}
	}
	return out
}

// reachable lists the sets of memory slices that instances can occupy.
func reachable() []mig.Mask {
	seen := map[mig.Mask]bool{}
	var visit func(mig.Mask)
	visit = func(m mig.Mask) {
		if seen[m] {
			return
		}
		seen[m] = true
		for _, p := range profiles() {
			for _, s := range p.Starts {
				in := mig.Instance{Profile: p, Start: s}
				if in.Mask()&m == 0 {
					visit(m | in.Mask())
				}
			}
		}
	}
	visit(0)
	return slices.Sorted(maps.Keys(seen))
}

// printedF1 is the score of GPU 1 in the example, whose occupied slices the text does not say.
const printedF1 = 8

// example scores GPU 2 of V-B, and counts the occupancies that would give GPU 1 its printed score.
func example(d *figures.Data) {
	mask := mig.Partition(gpu2()).Mask()
	t := d.Table("example",
		"The worked example of V-B: the score of GPU 2, and how many occupancies of GPU 1 have its printed score, "+
			"F(1) = 8",
		reports.Left("F counts").Right("F(2)", "occupancies with F = 8", "of"))
	all := reachable()
	for _, r := range []sim.Reading{sim.StartFree, sim.Literal, sim.Partial} {
		byProfile := terms(mask, r)
		total := 0
		for _, f := range byProfile {
			total += f
		}
		values := d.Under(r.String())
		values[claim.Of("F(2)")] = figures.Exactly(total)
		for _, profile := range []string{"1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"} {
			values[claim.Of("F(2), term of "+profile)] = figures.Exactly(byProfile[profile])
		}
		scores := sim.Fragmentation(mig.MustLookup(gpu), r)
		alike := figures.Count(all, func(m mig.Mask) bool { return scores[m] == printedF1 })
		t.Row(r, total, alike, len(all))
	}
}

// A gpuState is a GPU with its instances. rejected does not fit beside them; nil if all requests fit.
type gpuState struct {
	label     string
	instances []mig.Instance
	rejected  *mig.Profile
}

// states returns an artefact that lists GPUs. The text describes Figs. 1 and 3 without their masks, so these are our
// examples.
func states(name, title string, rows []gpuState) figures.Artefact {
	return figures.Show(name, title, func(d *figures.Data) {
		t := d.Table(name, title, reports.Left("GPU", "instances, by slice", "rejected"))
		for _, r := range rows {
			instances := figures.Map(r.instances, func(in mig.Instance) string {
				return fmt.Sprint(in.Profile, " at ", in.Start)
			})
			rejected := ""
			if r.rejected != nil {
				rejected = r.rejected.String()
			}
			t.Row(r.label, strings.Join(instances, ", "), rejected)
		}
	})
}

// fragmentation shows arrivals and terminations after which enough slices are free for 4g.40gb, but in places that it
// cannot take.
func fragmentation() []gpuState {
	four, last := instance("4g.40gb", 0).Profile, instance("1g.10gb", 6)
	return []gpuState{
		{"(a) before", []mig.Instance{last}, nil},
		{"(a) 1g.10gb arrives at 1", []mig.Instance{instance("1g.10gb", 1), last}, four},
		{"(b) before", []mig.Instance{instance("2g.20gb", 0), instance("2g.20gb", 2), instance("2g.20gb", 4), last}, nil},
		{"(b) two terminate", []mig.Instance{instance("2g.20gb", 2), last}, four},
	}
}

// rejections shows two GPUs for each of the two schemes of V-A: the one that the scheme chooses by free
// slices, which rejects the request, and one that has room for it.
func rejections() []gpuState {
	four := instance("4g.40gb", 0).Profile
	return []gpuState{
		{"(a) GPU 1", []mig.Instance{instance("2g.20gb", 4)}, nil},
		{"(a) GPU 2, chosen", gpu2(), four},
		{"(b) GPU 1, chosen", []mig.Instance{instance("1g.10gb", 1)}, four},
		{"(b) GPU 2", []mig.Instance{instance("3g.40gb", 4)}, nil},
	}
}

// figure2 lists every placement of each profile.
func figure2(d *figures.Data) {
	t := d.Table("figure2", d.Title, reports.Left("profile").Right("memory slices").Left("first slices"))
	for _, p := range profiles() {
		t.Row(p, p.Length, p.Starts)
	}
}
