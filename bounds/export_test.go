package bounds

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// The terms of [Prove], for tests of each alone.
func Occupied(p algo.Problem) mig.Seconds { return occupied(&p) }

func Longest(p algo.Problem) mig.Seconds { return newOptions(&p).longest() }
