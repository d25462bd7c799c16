package corun

import "miglab/harness/sim/corun"

var _ = register("mps-only", paper, "the best groups and MPS percentages on the whole GPU, by exhaustive search",
	exhaustive(corun.MPSOnly))
