package sim

import (
	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Placer is a scheduler of the placement track.
type Placer interface {
	// Place chooses a GPU and a start for an instance of a profile, given by its index in Cluster.Profiles, or
	// rejects it with false. The engine checks the choice and carries it out. For a request for several GPUs or with a
	// gang, Place is called once for each instance. If it rejects one, the engine removes the others of the request.
	Place(c *Cluster, profile int) (Spot, bool)
}

// A Reporter is a [Placer] that reports additional metrics at the end.
type Reporter interface {
	Placer
	Report() []Metric
}

// A Spot is a place for an instance.
type Spot struct {
	// GPU counts from 0.
	GPU int
	// Start is the first memory slice.
	Start mig.Slices
}

// PlacementSetting has the facts that a placer may know before the first request.
type PlacementSetting struct {
	GPU *mig.GPU
	// GPUs is the number of GPUs in the cluster.
	GPUs int
	// PerNode is the number of consecutive GPUs in a node; 0 for a single node.
	PerNode int
	// Waiting says whether a rejected request waits.
	Waiting task.Waiting
	// Geometry holds the instances of a cluster that never changes them.
	Geometry task.Geometry
	// Gangs says that some requests have a [task.Gang]. A scheduler refuses the setting if it does not look at
	// [Cluster.Profile] when [Cluster.Restricted], and is no [GangPlacer].
	Gangs bool
	// Demand is the true probability of each profile, by its index in the cluster's
	// profiles; nil if it is unknown. Only schedulers that declare it may read it.
	Demand []float64
	// Seed starts the stream of a scheduler that draws random numbers.
	Seed uint64
}
