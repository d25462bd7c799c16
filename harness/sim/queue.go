package sim

// Queue is the state of the dispatch track.
type Queue struct{}
