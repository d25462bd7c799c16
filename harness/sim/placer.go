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
	GPU   int        // counts from 0
	Start mig.Slices // the first memory slice
}

// PlacementSetting has the facts that a placer may know before the first request.
type PlacementSetting struct {
	GPU      *mig.GPU
	GPUs     int           // the number of GPUs in the cluster
	PerNode  int           // the number of consecutive GPUs in a node; 0 for a single node
	Waiting  task.Waiting  // says whether a rejected request waits
	Geometry task.Geometry // the instances of a cluster that never changes them
	// Gangs says that some requests have a [task.Gang]. A scheduler refuses the setting if it does not look at
	// [Cluster.Profile] when [Cluster.Restricted], and is no [GangPlacer].
	Gangs bool
	// Demand is the true probability of each profile, by its index in the cluster's
	// profiles; nil if it is unknown. Only schedulers that declare it may read it.
	Demand []float64
	Seed   uint64 // starts the stream of a scheduler that draws random numbers
}
