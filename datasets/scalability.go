package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Scalability returns the mean efficiency t(1)/(s t(s)) of a task over the sizes s of a GPU, as
// DRL 5.1.3 defines it: without size 1. It is 1 for a task that scales linearly.
func Scalability(t *task.Task, g *mig.GPU) float64 { return meanEfficiency(t, g.Sizes()[1:]) }

// meanEfficiency returns the mean efficiency of a task over some sizes.
func meanEfficiency(t *task.Task, sizes []mig.Slices) float64 {
	sum := 0.0
	for _, s := range sizes {
		sum += float64(t.On(1)) / (float64(s) * float64(t.On(s)))
	}
	return sum / float64(len(sizes))
}

// The axis of DRL Fig. 9: scatter_plot.py of the paper's public code draws from 0.4 to 1.5 and
// leaves out tasks from 1.5 on.
const (
	PlottedFrom = 0.4
	PlottedTo   = 1.5
)

// PlottedScalability returns the scalability at which scatter_plot.py of the DRL paper's public code draws a task of a
// workload in Fig. 9, and whether the script draws the task. This value differs from [Scalability]: the mean includes
// size 1, which counts 1 for every task; above 0.58 a task of POORSCALING moves down by 0.08; between 0.8 and 1 a task
// of MIXSCALINGEXTREME moves up by 0.4; and tasks from [PlottedTo] on are left out. The workload is the paper's name,
// for example "WIDETIMES".
func PlottedScalability(workload string, t *task.Task, g *mig.GPU) (at float64, shown bool) {
	at = meanEfficiency(t, g.Sizes())
	switch {
	case workload == "POORSCALING" && at > 0.58:
		at -= 0.08
	case workload == "MIXSCALINGEXTREME" && at > 0.8 && at < 1:
		at += 0.4
	}
	return at, at < PlottedTo
}

// An AddedCloud is a set of random points in DRL Fig. 9 that represent no tasks. Their scalability is uniform between
// From and To, and their duration between 0 and 100 s.
type AddedCloud struct {
	Points   int
	From, To float64
}

// AddedClouds are the 300 random points that scatter_plot.py of the DRL paper's public code adds
// to the tasks in the colour of WIDETIMES.
var AddedClouds = []AddedCloud{{200, 0.56, 0.65}, {100, 1.28, 1.40}}
