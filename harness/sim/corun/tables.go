package corun

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A Family is a set of setups from which a scheduler chooses (hierarchical paper V-A4).
type Family string

// The families.
const (
	// MIGShared divides the GPU into compute instances of 3 and 4 GPCs that share memory.
	MIGShared Family = "mig-shared"
	// MIGPrivate divides the GPU into GPU instances of 3 and 4 GPCs with half the memory each.
	MIGPrivate Family = "mig-private"
	MPSOnly    Family = "mps" // divides the GPU only by MPS percentages (Table VII, left column)
	// Hierarchical is all of Table VII's right column, with the clients of two compute
	// instances in all combinations. Lockstep has the same percentages in both instances.
	Hierarchical Family = "hierarchical"
	Lockstep     Family = "lockstep"
	// DefaultShared, DefaultPrivate, DefaultWhole and DefaultThree are the paper's "MIG+MPS default": a MIG partition
	// that never changes, with any number of MPS clients without percentages in each compute instance. The paper takes
	// the partition with the best mean over its queues. The first two families are in Table VII, with 3 and 4 GPCs. The
	// others are not in the paper: one instance of 7 GPCs, and three isolated instances of 2, 2 and 3 GPCs.
	DefaultShared  Family = "default-3-4-shared"
	DefaultPrivate Family = "default-3-4-private"
	DefaultWhole   Family = "default-7"
	DefaultThree   Family = "default-2-2-3-private"
	// Agent is the 29 setups from which the paper's agent chooses; each setup is an action. The paper gives only the
	// number 29. setups.txt says how this list was chosen.
	Agent Family = "agent"
	Every Family = "every" // the setups of all other families: no scheduler of the track uses another setup
)

// whole is the GPU with MIG off, for one job.
const whole = "[(1),1m]"

//go:embed setups.txt
var setupsText string

// A listed setup is a line of setups.txt.
type listed struct {
	Setup
	families []string
}

var listedSetups = sync.OnceValue(func() (out []listed) {
	seen := map[string]bool{}
	for line := range strings.Lines(setupsText) {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		text, families := fields[0], fields[1:]
		if !seen[text] {
			seen[text] = true
			families = append(families, string(Every))
		}
		out = append(out, listed{MustParse(text), families})
	}
	return out
})

// Setups returns the setups of a family for a number of jobs from 1 to 4, in the order
// of setups.txt. One job has the whole GPU in every family.
func Setups(f Family, jobs int) (out []Setup) {
	if jobs == 1 {
		return []Setup{MustParse(whole)}
	}
	for _, s := range listedSetups() {
		if s.Slots() == jobs && slices.Contains(s.families, string(f)) {
			out = append(out, s.Setup)
		}
	}
	return out
}
