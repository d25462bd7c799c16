package corun

import (
	"fmt"
	"slices"
	"strings"
)

// A Family is a set of setups that a scheduler chooses from (hierarchical paper V-A4).
type Family string

// The families.
const (
	// MIGShared divides the GPU into compute instances of 3 and 4 GPCs that share memory.
	MIGShared Family = "mig-shared"
	// MIGPrivate divides it into GPU instances of 3 and 4 GPCs with half the memory each.
	MIGPrivate Family = "mig-private"
	// MPSOnly divides it by MPS percentages alone (Table VII, left column).
	MPSOnly Family = "mps"
	// Hierarchical is all of Table VII's right column, the clients of two compute
	// instances in all combinations.
	Hierarchical Family = "hierarchical"
	// Lockstep is Hierarchical with the same percentages in both compute instances.
	Lockstep Family = "lockstep"
	// DefaultShared, DefaultPrivate, DefaultWhole and DefaultThree are MIG+MPS default: a MIG
	// partition that stays, with any number of MPS clients without percentages in each compute
	// instance. The paper takes the partition that is best on the mean of its queues. The
	// first two are those of Table VII, with 3 and 4 GPCs; the others, ours, are one instance
	// of 7 GPCs, and three isolated ones of 2, 2 and 3.
	DefaultShared  Family = "default-3-4-shared"
	DefaultPrivate Family = "default-3-4-private"
	DefaultWhole   Family = "default-7"
	DefaultThree   Family = "default-2-2-3-private"
	// Agent is the 29 setups that the paper's agent chooses from, one action each. The
	// paper gives the number and not the list: this is our choice. It is what is left of
	// Hierarchical after the setups were removed whose loss costs the best plans least, on
	// queues of draws 2 to 5 and on newly drawn programs.
	Agent Family = "agent"
	// Every is every setup of the other families: what no scheduler of the track can leave.
	Every Family = "every"
)

// Families lists them in the order of the paper's comparison.
func Families() []Family {
	return append(append([]Family{MIGShared, MIGPrivate, MPSOnly}, DefaultFamilies()...), Lockstep, Hierarchical,
		Agent, Every)
}

// DefaultFamilies lists those of MIG+MPS default, one for each MIG partition.
func DefaultFamilies() []Family {
	return []Family{DefaultShared, DefaultPrivate, DefaultWhole, DefaultThree}
}

// partitions are the MIG partitions of the families of MIG+MPS default.
var partitions = map[Family]string{
	DefaultShared:  "[{0.375}+{0.5},1m]",
	DefaultPrivate: "[{0.375},0.5m]+[{0.5},0.5m]",
	DefaultWhole:   "[{0.875},1m]",
	DefaultThree:   "[{0.25},0.25m]+[{0.25},0.25m]+[{0.375},0.5m]",
}

// byDefault returns all ways to give jobs to the compute instances of a partition. An
// instance without jobs idles and is left out of the setup; two jobs or more are MPS
// clients without percentages.
func byDefault(partition string, jobs int) []Setup {
	p := MustParse(partition)
	instances := 0
	for _, gi := range p.GIs {
		instances += len(gi.CIs)
	}
	var out []Setup
	seen := map[string]bool{}
	for _, counts := range compositions(jobs, instances) {
		var s Setup
		for _, gi := range p.GIs {
			some := GI{Memory: gi.Memory}
			for _, ci := range gi.CIs {
				if n := counts[0]; n > 0 {
					if n > 1 {
						ci.Default = n
					}
					some.CIs = append(some.CIs, ci)
				}
				counts = counts[1:]
			}
			if len(some.CIs) > 0 {
				s.GIs = append(s.GIs, some)
			}
		}
		if key := s.unordered(); !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// unordered is the same for setups that differ in the order of GPU instances alone.
func (s Setup) unordered() string {
	var instances []string
	for _, gi := range s.GIs {
		instances = append(instances, Setup{[]GI{gi}}.String())
	}
	slices.Sort(instances)
	return strings.Join(instances, "+")
}

// compositions returns all ways to write n as a sum of so many numbers from 0.
func compositions(n, terms int) [][]int {
	if terms == 1 {
		return [][]int{{n}}
	}
	var out [][]int
	for first := range n + 1 {
		for _, rest := range compositions(n-first, terms-1) {
			out = append(out, append([]int{first}, rest...))
		}
	}
	return out
}

// whole is the GPU with MIG off, for one job.
const whole = "[(1),1m]"

// halves are the percentages of two clients in a compute instance, in tenths.
var halves = [][2]string{{"0.1", "0.9"}, {"0.2", "0.8"}, {"0.3", "0.7"}, {"0.4", "0.6"}, {"0.5", "0.5"}}

// Setups returns the setups of a family for a number of jobs from 1 to 4, in the order
// of Table VII. One job has the whole GPU in every family.
func Setups(f Family, jobs int) []Setup {
	if f == Every && jobs > 1 {
		out := Setups(Hierarchical, jobs)
		for _, d := range DefaultFamilies() {
			for _, s := range Setups(d, jobs) {
				if !slices.ContainsFunc(out, func(have Setup) bool { return have.String() == s.String() }) {
					out = append(out, s)
				}
			}
		}
		return out
	}
	if f == Agent && jobs > 1 && jobs <= MaxConcurrency {
		return parsed(agentSetups[jobs])
	}
	if p, ok := partitions[f]; ok && jobs > 1 && jobs <= MaxConcurrency {
		return byDefault(p, jobs)
	}
	var texts []string
	add := func(format string, args ...any) { texts = append(texts, fmt.Sprintf(format, args...)) }
	hierarchical := f == Hierarchical || f == Lockstep
	switch {
	case jobs == 1:
		add(whole)
	case f == MIGShared && jobs == 2:
		add("[{0.375}+{0.5},1m]")
	case f == MIGPrivate && jobs == 2:
		add("[{0.375},0.5m]+[{0.5},0.5m]")
	case f == MPSOnly || hierarchical:
		texts = clients(jobs)
	}
	switch {
	case !hierarchical:
	case jobs == 2:
		add("[{0.375}+{0.5},1m]")
		add("[{0.375},0.5m]+[{0.5},0.5m]")
	case jobs == 3:
		for _, h := range halves {
			add("[{0.375},0.5m]+[(%s)+(%s),{0.5},0.5m]", h[0], h[1])
		}
		for _, h := range halves {
			add("[{0.375}+(%s),(%s){0.5},1m]", h[0], h[1])
		}
	case jobs == 4:
		for i, a := range halves {
			for j, b := range halves {
				if i == j || f == Hierarchical {
					add("[(%s)+(%s),{0.375},0.5m]+[(%s)+(%s),{0.5},0.5m]", a[0], a[1], b[0], b[1])
				}
			}
		}
		for i, a := range halves {
			for j, b := range halves {
				if f == Hierarchical || f == Lockstep && i == j {
					add("[(%s)+(%s){0.375}+(%s)+(%s){0.5},1m]", a[0], a[1], b[0], b[1])
				}
			}
		}
	}
	return parsed(texts)
}

func parsed(texts []string) (out []Setup) {
	for _, t := range texts {
		out = append(out, MustParse(t))
	}
	return out
}

// agentSetups are those of [Agent] by number of jobs, in the order of Table VII.
var agentSetups = [MaxConcurrency + 1][]string{
	2: {
		"[(0.1)+(0.9),1m]", "[(0.2)+(0.8),1m]", "[(0.3)+(0.7),1m]", "[(0.4)+(0.6),1m]", "[(0.5)+(0.5),1m]",
		"[{0.375},0.5m]+[{0.5},0.5m]",
	},
	3: {
		"[(0.1)+(0.1)+(0.8),1m]", "[(0.1)+(0.2)+(0.7),1m]", "[(0.1)+(0.3)+(0.6),1m]", "[(0.1)+(0.4)+(0.5),1m]",
		"[(0.2)+(0.2)+(0.6),1m]",
		"[(0.34)+(0.33)+(0.33),1m]",
		"[{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]", "[{0.375},0.5m]+[(0.2)+(0.8),{0.5},0.5m]",
		"[{0.375},0.5m]+[(0.3)+(0.7),{0.5},0.5m]",
	},
	4: {
		"[(0.1)+(0.1)+(0.1)+(0.7),1m]", "[(0.1)+(0.1)+(0.2)+(0.6),1m]", "[(0.1)+(0.1)+(0.4)+(0.4),1m]",
		"[(0.1)+(0.9),{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]", "[(0.1)+(0.9),{0.375},0.5m]+[(0.2)+(0.8),{0.5},0.5m]",
		"[(0.2)+(0.8),{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]", "[(0.2)+(0.8),{0.375},0.5m]+[(0.2)+(0.8),{0.5},0.5m]",
		"[(0.2)+(0.8),{0.375},0.5m]+[(0.3)+(0.7),{0.5},0.5m]", "[(0.3)+(0.7),{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]",
		"[(0.3)+(0.7),{0.375},0.5m]+[(0.2)+(0.8),{0.5},0.5m]", "[(0.3)+(0.7),{0.375},0.5m]+[(0.3)+(0.7),{0.5},0.5m]",
		"[(0.4)+(0.6),{0.375},0.5m]+[(0.5)+(0.5),{0.5},0.5m]", "[(0.5)+(0.5),{0.375},0.5m]+[(0.3)+(0.7),{0.5},0.5m]",
		"[(0.5)+(0.5),{0.375},0.5m]+[(0.4)+(0.6),{0.5},0.5m]",
	},
}

// clients lists the MPS clients of the whole GPU in tenths, ascending, and the equal
// split. Three equal clients stand in place of 0.3, 0.3 and 0.4, which they round to.
func clients(jobs int) []string {
	switch jobs {
	case 2:
		return []string{"[(0.1)+(0.9),1m]", "[(0.2)+(0.8),1m]", "[(0.3)+(0.7),1m]", "[(0.4)+(0.6),1m]", "[(0.5)+(0.5),1m]"}
	case 3:
		return []string{
			"[(0.1)+(0.1)+(0.8),1m]", "[(0.1)+(0.2)+(0.7),1m]", "[(0.1)+(0.3)+(0.6),1m]", "[(0.1)+(0.4)+(0.5),1m]",
			"[(0.2)+(0.2)+(0.6),1m]", "[(0.2)+(0.3)+(0.5),1m]", "[(0.2)+(0.4)+(0.4),1m]", "[(0.34)+(0.33)+(0.33),1m]",
		}
	case 4:
		return []string{
			"[(0.1)+(0.1)+(0.1)+(0.7),1m]", "[(0.1)+(0.1)+(0.2)+(0.6),1m]", "[(0.1)+(0.1)+(0.3)+(0.5),1m]",
			"[(0.1)+(0.1)+(0.4)+(0.4),1m]",
			"[(0.1)+(0.2)+(0.2)+(0.5),1m]", "[(0.1)+(0.2)+(0.3)+(0.4),1m]", "[(0.1)+(0.3)+(0.3)+(0.3),1m]",
			"[(0.2)+(0.2)+(0.2)+(0.4),1m]",
			"[(0.2)+(0.2)+(0.3)+(0.3),1m]", "[(0.25)+(0.25)+(0.25)+(0.25),1m]",
		}
	}
	return nil
}
