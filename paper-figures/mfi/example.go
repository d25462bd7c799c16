package mfi

import (
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

// gpu2 is GPU 2 of Fig. 3a. V-B says that 1g.10gb takes the slice at 5, and with it the second
// slice of 1g.20gb at 4; that 1g.10gb and 2g.20gb still fit; and that 3g.40gb and 4g.40gb do
// not, although enough slices are free. We put 2g.20gb at 2: then all four terms of F agree
// with the text under two of the three readings.
func gpu2() []mig.Instance { return []mig.Instance{instance("2g.20gb", 2), instance("1g.10gb", 5)} }

// instance is a placed profile of the paper's GPU. It panics if there is no such profile.
func instance(profile string, start mig.Slices) mig.Instance {
	p, err := mig.MustLookup(gpu).ProfileByName(profile)
	if err != nil {
		panic(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// terms returns F of a mask by profile (Algorithm 1). It does not use the tables of the
// schedulers.
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

// scoreBasis says where each reading of the score comes from.
var scoreBasis = map[string]string{
	"literal": "Algorithm 1 word by word", startFree: "a window counts if its start is free and another of its slices is not",
	"partial": "a window counts if some but not all of its slices are occupied",
}

func example(*figures.Data) (*figures.Output, error) {
	mask := mig.Partition(gpu2()).Mask()
	out := &figures.Output{Missing: map[string]string{"F(1)": "The occupied slices of GPU 1 are only in the figure."}}
	for _, name := range []string{startFree, "literal", "partial"} {
		r, err := sim.ParseReading(name)
		if err != nil {
			return nil, err
		}
		values := figures.Values{"F(2)": figures.Exactly(0)}
		for _, profile := range []string{"1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"} {
			values["F(2), term of "+profile] = figures.Exactly(0)
		}
		for profile, f := range terms(mask, r) {
			if profile != "1g.10gb" {
				values["F(2), term of "+profile] = figures.Exactly(float64(f))
			}
			values["F(2)"] = figures.Exactly(values["F(2)"].Value + float64(f))
		}
		out.Readings = append(out.Readings, figures.Reading{Name: name, Basis: scoreBasis[name], Values: values})
	}
	return out, nil
}
