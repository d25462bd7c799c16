package algo

import "miglab/harness/sim"

// The names of the tracks. TrackBound and TrackOffline hold bounds and optima that schedules of other tracks
// are compared with.
const (
	TrackBatch     = "batch"
	TrackStream    = "stream"
	TrackPlacement = "placement"
	TrackDispatch  = "dispatch"
	TrackCorun     = "corun"
	TrackBound     = "bound"
	TrackOffline   = "offline"
)

// A Constructor makes the algorithms of a track. Each track has its own type.
type Constructor interface {
	// Track returns the name of the track.
	Track() string
	// Make makes an algorithm. It returns nil, nil for NewPlacer and NewDispatcher, which make an algorithm for each
	// instance: see [Algorithm.Placer] and [Algorithm.Dispatcher].
	Make(Args) (any, error)
}

// The constructors of the tracks.
type (
	NewBatch   func(Args) (Batch, error)
	NewStream  func(Args) (Stream, error)
	NewCorun   func(Args) (Corun, error)
	NewBound   func(Args) (Bound, error)
	NewOffline func(Args) (Offline, error)
	// NewPlacer makes a placer for one stream of requests. The placer may remember earlier requests.
	NewPlacer func(Args, sim.PlacementSetting) (sim.Placer, error)
	// NewDispatcher makes a dispatcher for one queue of jobs.
	NewDispatcher func(Args, sim.DispatchSetting) (sim.Dispatcher, error)
)

// Track implements [Constructor], as the next methods do.
func (NewBatch) Track() string      { return TrackBatch }
func (NewStream) Track() string     { return TrackStream }
func (NewCorun) Track() string      { return TrackCorun }
func (NewBound) Track() string      { return TrackBound }
func (NewOffline) Track() string    { return TrackOffline }
func (NewPlacer) Track() string     { return TrackPlacement }
func (NewDispatcher) Track() string { return TrackDispatch }

// Make implements [Constructor], as the next methods do.
func (f NewBatch) Make(a Args) (any, error)   { return f(a) }
func (f NewStream) Make(a Args) (any, error)  { return f(a) }
func (f NewCorun) Make(a Args) (any, error)   { return f(a) }
func (f NewBound) Make(a Args) (any, error)   { return f(a) }
func (f NewOffline) Make(a Args) (any, error) { return f(a) }
func (NewPlacer) Make(Args) (any, error)      { return nil, nil }
func (NewDispatcher) Make(Args) (any, error)  { return nil, nil }

// Make returns the algorithm as A, the interface of its track. Its error is from the constructor. It panics if the
// track has another interface, which is a mistake in the program.
func Make[A any](a Algorithm) (A, error) {
	made, err := a.Spec.New.Make(a.Args)
	if err != nil {
		var none A
		return none, err
	}
	return made.(A), nil
}

// Placer makes a placer for one stream of requests. It panics if the algorithm is of another track.
func (a Algorithm) Placer(s sim.PlacementSetting) (sim.Placer, error) {
	return a.Spec.New.(NewPlacer)(a.Args, s)
}

// Dispatcher makes a dispatcher for one queue of jobs. It panics if the algorithm is of another track.
func (a Algorithm) Dispatcher(s sim.DispatchSetting) (sim.Dispatcher, error) {
	return a.Spec.New.(NewDispatcher)(a.Args, s)
}
