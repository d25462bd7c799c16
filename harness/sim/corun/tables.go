package corun

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
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
	// instances in all combinations. Lockstep has the same percentages in both.
	Hierarchical Family = "hierarchical"
	Lockstep     Family = "lockstep"
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
	// paper gives the number and not the list; setups.txt says how ours was chosen.
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

//go:embed setups.txt
var setupsText string

// A listed setup is a line of setups.txt.
type listed struct {
	setup    string
	jobs     int
	families []string
}

var table7 = sync.OnceValue(func() (out []listed) {
	for line := range strings.Lines(setupsText) {
		if fields := strings.Fields(line); fields[0] != "#" {
			out = append(out, listed{fields[0], MustParse(fields[0]).Slots(), fields[1:]})
		}
	}
	return out
})

// Setups returns the setups of a family for a number of jobs from 1 to 4, in the order
// of Table VII. One job has the whole GPU in every family.
func Setups(f Family, jobs int) (out []Setup) {
	if jobs == 1 {
		return []Setup{MustParse(whole)}
	}
	if p, ok := partitions[f]; ok && jobs > 1 && jobs <= MaxConcurrency {
		return byDefault(p, jobs)
	}
	for _, s := range table7() {
		if s.jobs == jobs && (f == Hierarchical || f == Every || slices.Contains(s.families, string(f))) {
			out = append(out, MustParse(s.setup))
		}
	}
	if f != Every {
		return out
	}
	for _, d := range DefaultFamilies() {
		for _, s := range Setups(d, jobs) {
			if !slices.ContainsFunc(out, func(have Setup) bool { return have.String() == s.String() }) {
				out = append(out, s)
			}
		}
	}
	return out
}
