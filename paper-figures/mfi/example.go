package mfi

import (
	"strings"

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

func example(claims *figures.Claims) figures.Artefact {
	return figures.Artefact{
		Name: "example", Title: "the worked example of the fragmentation score F (V-B)",
		Build: func(d *figures.Data) (*figures.Output, error) {
			mask := mig.Partition(gpu2()).Mask()
			var readings []figures.Reading
			for _, name := range sim.ReadingNames() {
				r, err := sim.ParseReading(name)
				if err != nil {
					return nil, err
				}
				values := figures.Values{}
				sum := 0
				for profile, f := range terms(mask, r) {
					values["F(2), term of "+profile] = figures.Exactly(float64(f))
					sum += f
				}
				values["F(2)"] = figures.Exactly(float64(sum))
				if r == sim.Literal {
					name = ""
				}
				readings = append(readings, figures.Lookup(name, values))
			}
			var runnable []figures.Claim
			var missing []figures.Finding
			for _, c := range claims.Of("example") {
				if strings.HasPrefix(c.Name, "F(1)") {
					missing = append(missing, figures.Missing(c, "the occupied slices of GPU 1 are only in the figure"))
				} else {
					runnable = append(runnable, c)
				}
			}
			fs := d.Compare(runnable, readings, figures.Always(
				"Algorithm 1 as printed also counts placements whose slices are all occupied, which the example leaves out"))
			fs = append(fs, missing...)
			t := figures.ComparisonTable("The worked example: slices 2, 3 and 5 of GPU 2 are occupied", fs)
			t.Notes = append(t.Notes,
				"default: Algorithm 1 as printed (literal), which is also what schedules best",
				"under it no reachable mask at all has F = 16; of those that the text allows, {2, 3, 5} alone has these terms under both other readings")
			return figures.Found(fs...).Table("example", t), nil
		},
	}
}
