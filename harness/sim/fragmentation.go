package sim

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Reading defines which placements count as lost in the fragmentation score F of MFI
// Algorithm 1. The worked example of MFI V-B, F = 16 for the occupied slices {2,3,5},
// agrees with [Partial] and [StartFree]; Algorithm 1 as printed gives 23.
type Reading uint8

const (
	Literal Reading = iota // line 7 as printed: a placement is lost if any of its slices is occupied
	Partial                // counts a placement if some of its slices are occupied, but not all
	// StartFree counts a placement if some of its slices are occupied, but not the first.
	StartFree
	readings
)

var readingNames = [readings]string{Literal: "literal", Partial: "partial", StartFree: "start-free"}

// String returns the name that parameters use.
func (r Reading) String() string { return readingNames[r] }

// ReadingNames returns the names of all readings, the literal one first.
func ReadingNames() []string { return readingNames[:] }

// Masks is the length of a table that is indexed by mask.
const Masks = 1 << 8

// Scores is the fragmentation score of a GPU by the mask of its occupied memory slices.
type Scores [Masks]int32

// Fragmentation returns the score F of MFI Algorithm 1 under a reading: over the profiles that need no more memory
// slices than are free, and over their starts, the sum of the profile's memory slices for each placement that is
// lost. The table is shared and must not be changed.
func Fragmentation(g *mig.GPU, r Reading) *Scores { return &fragmentation(g)[r] }

var fragmentation = mig.Derived(scores)

func scores(g *mig.GPU) *[readings]Scores {
	var out [readings]Scores
	for m := range 1 << g.MemorySlices {
		occupied := mig.Mask(m)
		for _, p := range task.RequestProfiles(g) {
			if p.Length > g.MemorySlices-occupied.Count() {
				continue
			}
			for _, start := range p.Starts {
				window := mig.Instance{Profile: p, Start: start}.Mask()
				taken := window & occupied
				if taken == 0 {
					continue
				}
				weight := int32(p.Length)
				out[Literal][m] += weight
				if taken != window {
					out[Partial][m] += weight
				}
				if occupied>>start&1 == 0 {
					out[StartFree][m] += weight
				}
			}
		}
	}
	return &out
}
