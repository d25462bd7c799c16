package sim

// Cluster is the state of the placement track.
type Cluster struct{}
