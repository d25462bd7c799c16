package algo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/spec"
)

// The tracks. TrackBound and TrackOffline hold bounds and optima that schedules of other tracks
// are compared with.
var (
	TrackBatch     = DefineTrack[func(Args) (Batch, error)]("batch")
	TrackStream    = DefineTrack[func(Args) (Stream, error)]("stream")
	TrackPlacement = DefineTrack[NewPlacer]("placement")
	TrackDispatch  = DefineTrack[NewDispatcher]("dispatch")
	TrackCorun     = DefineTrack[func(Args) (Corun, error)]("corun")
	TrackBound     = DefineTrack[func(Args) (Bound, error)]("bound")
	TrackOffline   = DefineTrack[func(Args) (Offline, error)]("offline")
)

// The constructors of the tracks that unfold in time: their algorithms are told the setting.
type (
	NewPlacer     = func(Args, sim.PlacementSetting) (sim.Placer, error)
	NewDispatcher = func(Args, sim.DispatchSetting) (sim.Dispatcher, error)
)

// constructors has the constructor type of each track.
var constructors = map[string]reflect.Type{}

// DefineTrack announces a track whose algorithms are made by constructors of type C. It panics
// on a second definition, which is a mistake in the program.
func DefineTrack[C any](name string) string {
	if _, ok := constructors[name]; ok {
		panic(fmt.Sprintf("algo: track %q is defined twice", name))
	}
	constructors[name] = reflect.TypeFor[C]()
	return name
}

// Constructor returns the algorithm's constructor. It panics if the algorithm is of a track
// with constructors of another type, which is a mistake in the program.
func Constructor[C any](a Algorithm) C {
	c, ok := a.Spec.New.(C)
	if !ok {
		panic(fmt.Sprintf("algo: %q of track %q has the constructor %T, not %v", a.ID, a.Spec.Track, a.Spec.New,
			reflect.TypeFor[C]()))
	}
	return c
}

// Make makes an algorithm of a track whose constructors take nothing but the parameters. It
// panics as [Constructor] does.
func Make[A any](a Algorithm) (A, error) { return Constructor[func(Args) (A, error)](a)(a.Args) }

// Param declares a parameter of an algorithm.
type Param = spec.Param

// Args are parameter values by name. Defaults are filled in.
type Args = spec.Args

// Spec announces an algorithm.
type Spec struct {
	// Name is what the command line and result files call it.
	Name string
	// Version counts the changes that alter any answer. Results of another version are
	// recomputed.
	Version int
	Track   string
	// Cite is the paper and section, or what the algorithm is modelled on.
	Cite string
	// Summary is half a sentence for `miglab list`.
	Summary string
	Params  []Param
	// Source is the file that registers it, from the root of the repository. [Register] sets it.
	Source string
	// Weights names what a trained algorithm has learned, for example by the hash of its file:
	// results of other weights are recomputed. nil for all others.
	Weights func(Args) string
	// Open completes the spec of an algorithm outside this program, which has to be asked for
	// its version and whether it does the track. nil for all others; see [RegisterPrefix].
	Open func(Args, string) (Spec, error)
	// Declared is the name that an algorithm outside this program gives itself when it is opened;
	// "" for all others.
	Declared string
	// Proven marks a bound that holds for every schedule that the referee accepts, and that every
	// problem has: miglab bound prints it, and miglab audit compares makespans with it.
	Proven bool
	// Budget says what a search is allowed to compute, for example "1000 iterations". nil
	// for algorithms whose work is given by the problem alone.
	Budget func(Args) string
	// Together is how many instances the algorithm solves at once in less time than one after
	// the other, with the same answers; 0 or 1 if there is no such number. The track says what
	// the algorithm has to implement for it (track.Track.SolveTogether).
	Together int

	// New makes the algorithm. Its type is the constructor type of the track, for example
	// func(Args) (Batch, error) for [TrackBatch]; see [DefineTrack]. Algorithms of the placement
	// and dispatch tracks carry state from request to request and are made for every instance.
	New any
}

// Algorithm is a registered algorithm with its parameters.
type Algorithm struct {
	Spec Spec
	Args Args
	// ID is the canonical name: parameters that differ from their defaults, sorted,
	// for example "far?refine=false".
	ID string

	// made is the algorithm itself where its constructor takes nothing but the parameters.
	made any
}

var registry = map[string]Spec{}

// Register adds an algorithm and returns it. It panics if the name is bad or taken and if the
// constructor does not belong to the track, which are mistakes in the program.
func Register(s Spec) Spec {
	if s.Name == "" || strings.ContainsAny(s.Name, "?&=, ") {
		panic(fmt.Sprintf("algo: bad name %q", s.Name))
	}
	if _, ok := registry[s.Name]; ok {
		panic(fmt.Sprintf("algo: %q is registered twice", s.Name))
	}
	want, ok := constructors[s.Track]
	if !ok {
		panic(fmt.Sprintf("algo: %q is of track %q, which does not exist", s.Name, s.Track))
	}
	if got := reflect.TypeOf(s.New); got != want {
		panic(fmt.Sprintf("algo: %q of track %q has the constructor %v; it must be %v", s.Name, s.Track, got, want))
	}
	if _, file, _, ok := runtime.Caller(1); ok {
		if at := max(strings.LastIndex(file, "/algorithms/"), strings.LastIndex(file, "/bounds/")); at >= 0 {
			s.Source = file[at+1:]
		}
	}
	registry[s.Name] = s
	return s
}

var prefixes = map[string]func(name string) (Spec, error){}

// RegisterPrefix makes every name with the prefix the name of an algorithm. find returns its
// spec without starting anything: the spec has Open, which adds the track and the constructor.
// RegisterPrefix panics on a duplicate prefix, which is a mistake in the program.
func RegisterPrefix(prefix string, find func(name string) (Spec, error)) {
	if _, ok := prefixes[prefix]; ok {
		panic(fmt.Sprintf("algo: %q is registered twice", prefix))
	}
	prefixes[prefix] = find
}

func findSpec(name string) (Spec, error) {
	for prefix, find := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return find(name)
		}
	}
	s, ok := registry[name]
	if !ok {
		return Spec{}, nearest.Unknown("algorithm", name, slices.Collect(maps.Keys(registry)))
	}
	return s, nil
}

// All returns the registered algorithms of a track by name; all tracks for "".
func All(track string) []Spec {
	all := slices.SortedFunc(maps.Values(registry), func(a, b Spec) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(all, func(s Spec) bool { return track != "" && s.Track != track })
}

// Parse finds an algorithm by name and parameters: "far", "fixpart?p=4-2-1". Errors say what
// is wrong and what would be right. An unknown name is a [*nearest.UnknownError].
func Parse(id string) (Algorithm, error) {
	name, pairs := spec.Split(strings.TrimSuffix(id, "?"))
	s, err := findSpec(name)
	if err != nil {
		return Algorithm{}, err
	}
	args, err := spec.Read(s.Params, pairs)
	if err != nil {
		return Algorithm{}, fmt.Errorf("algorithm %q: %w", id, err)
	}
	a := Algorithm{Spec: s, Args: args, ID: spec.ID(s.Name, s.Params, args)}
	return a, a.make()
}

// ParseFor is [Parse] for an algorithm that must be of a track. An algorithm outside this
// program is asked whether it does the track, and for its version.
func ParseFor(id string, track string) (Algorithm, error) {
	a, err := Parse(id)
	if err != nil {
		return a, err
	}
	if a.Spec.Open == nil {
		return a, a.CheckTrack(track)
	}
	if a.Spec, err = a.Spec.Open(a.Args, track); err != nil {
		return a, fmt.Errorf("algorithm %q: %w", a.ID, err)
	}
	return a, a.make()
}

// CheckTrack refuses an algorithm of another track. One outside this program has no track
// until it is asked, and is accepted.
func (a Algorithm) CheckTrack(track string) error {
	if a.Spec.Track == track || a.Spec.Track == "" {
		return nil
	}
	names := nearest.Names(All(track), func(s Spec) string { return s.Name })
	return fmt.Errorf("%q is of the %s track: %w", a.ID, a.Spec.Track,
		nearest.Unknown(track+" algorithm", a.ID, names))
}

// CheckGPU refuses a GPU model on which an algorithm does not work that has a method CheckGPU of its
// own.
func (a Algorithm) CheckGPU(g *mig.GPU) error {
	if particular, ok := a.made.(interface{ CheckGPU(*mig.GPU) error }); ok {
		if err := particular.CheckGPU(g); err != nil {
			return fmt.Errorf("algorithm %q: %w", a.ID, err)
		}
	}
	return nil
}

// MustParse is [Parse] for algorithms fixed in the program; it panics on an error.
func MustParse(id string) Algorithm { return spec.Must(Parse(id)) }

// make constructs the algorithm. This happens when the name is parsed, so that a wrong
// parameter is found before any work begins.
func (a *Algorithm) make() error {
	c := reflect.ValueOf(a.Spec.New)
	if a.Spec.New == nil || c.Type().NumIn() != 1 {
		return nil
	}
	out := c.Call([]reflect.Value{reflect.ValueOf(a.Args)})
	if err, ok := out[1].Interface().(error); ok {
		return fmt.Errorf("algorithm %q: %w", a.ID, err)
	}
	a.made = out[0].Interface()
	return nil
}

// Weights names what the algorithm has learned; "" if it was not trained.
func (a Algorithm) Weights() string {
	if a.Spec.Weights == nil {
		return ""
	}
	return a.Spec.Weights(a.Args)
}

// Budget says what the algorithm is allowed to compute; "" if the problem alone decides.
func (a Algorithm) Budget() string {
	if a.Spec.Budget == nil {
		return ""
	}
	return a.Spec.Budget(a.Args)
}

// Schedule runs an algorithm of the batch track and puts its ID in the schedule. A task that fits no
// instance of the GPU is an [*InfeasibleError].
func (a Algorithm) Schedule(ctx context.Context, p Problem) (schedule.Schedule, error) {
	if err := a.CheckFit(p); err != nil {
		return schedule.Schedule{}, err
	}
	s, err := a.made.(Batch).Schedule(ctx, p)
	s.Algorithm = a.ID
	return s, err
}

// CheckFit returns an [*InfeasibleError] of the algorithm if a task fits no instance of the GPU. A
// [Batch] or a [Stream] is only given problems that pass.
func (a Algorithm) CheckFit(p Problem) error {
	for i := range p.Tasks {
		if !slices.ContainsFunc(p.GPU.Sizes(), p.Tasks[i].Fits) {
			return &InfeasibleError{
				a.Spec.Name, p.Tasks[i].Name,
				fmt.Sprintf("fits no instance of %s (sizes %v)", p.GPU, p.GPU.Sizes()),
			}
		}
	}
	return nil
}
