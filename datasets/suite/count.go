package suite

import "miglab/harness/mig"

// A Share counts the instances of a class, and those whose best known schedule is proven to be optimal.
type Share struct {
	Track, Class      string
	Instances, Closed int
}

// Count returns the share of each class, and of all.
func (a *Archive) Count() []Share {
	all := Share{Class: "all"}
	var out []Share
	for _, class := range Classes {
		s := Share{Class: class}
		for _, in := range a.Instances {
			if in.Class != class {
				continue
			}
			s.Track = in.Track
			s.Instances++
			if class != Open {
				s.Closed++
			}
		}
		all.Track = s.Track
		all.Instances += s.Instances
		all.Closed += s.Closed
		out = append(out, s)
	}
	return append(out, all)
}

// A Gap sums up an algorithm's results on the instances of a class.
type Gap struct {
	Class string
	// Solved counts the instances with a result, and Equal those whose result is as good as the best known.
	Instances, Solved, Equal int
	// Bound and Best are the sums over the solved instances of the percentages above the bound and the best known.
	Bound, Best float64
}

// Gaps compares makespans in seconds, one for each instance and 0 for none, with what is known.
func (a *Archive) Gaps(makespans []float64) []Gap {
	out := make([]Gap, 0, len(Classes)+1)
	for _, class := range append(Classes[:len(Classes):len(Classes)], "all") {
		g := Gap{Class: class}
		for i, in := range a.Instances {
			if class != "all" && in.Class != class {
				continue
			}
			g.Instances++
			if m := mig.Seconds(makespans[i]); m > 0 {
				g.add(m, &a.Best[i])
			}
		}
		out = append(out, g)
	}
	return out
}

func (g *Gap) add(m mig.Seconds, known *Best) {
	g.Solved++
	g.Bound += 100 * float64(m/known.Bound-1)
	above := float64(m/known.Value - 1)
	g.Best += 100 * above
	if above <= equal {
		g.Equal++
	}
}
