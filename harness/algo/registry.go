package algo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/spec"
)

// Param declares a parameter of an algorithm.
type Param = spec.Param

// Args are parameter values by name. Defaults are filled in.
type Args = spec.Args

// Spec announces an algorithm.
type Spec struct {
	Name string // the algorithm's name on the command line and in result files
	// Version counts the changes that alter any answer. Results of another version are recomputed.
	Version int
	// Track is the track of New. [Register] sets it.
	Track   string
	Cite    string // the paper and section, or what the algorithm is modelled on
	Summary string // half a sentence for `miglab list`
	Params  []Param
	// Weights identifies the weights of a trained algorithm, for example by the hash of its file.
	// Results of other weights are recomputed. nil for algorithms that are not trained.
	Weights func(Args) string
	// Open completes the spec of an algorithm outside this program, which has to be asked for
	// its version and whether it does the track. nil for all others; see [RegisterPrefix].
	Open func(args Args, track string) (Spec, error)
	// Proven marks a bound that exists for every problem and holds for every schedule that the
	// referee accepts. miglab bound prints it, and miglab audit compares makespans with it.
	Proven bool
	// Budget describes the limit of a search, for example "1000 iterations". nil for algorithms without a limit.
	Budget func(Args) string
	// Together is the number of instances that the algorithm solves at once faster than one after
	// the other, with the same answers; 0 or 1 if it solves one at a time. With more, an algorithm of the batch or the
	// stream track is also a [Together], and a dispatcher is a [sim.BatchDispatcher].
	Together int

	// New makes the algorithm. Its type says which track the algorithm is of, for example [NewBatch].
	New Constructor
}

// An Algorithm is a registered algorithm with its parameters. [Parse] makes it.
type Algorithm struct {
	Spec Spec
	Args Args
	// ID is the canonical name: parameters that differ from their defaults, sorted, for example "far?refine=false".
	ID string

	made any // the algorithm itself if its constructor takes only the parameters; nil otherwise
}

var registry = map[string]Spec{}

// Register adds an algorithm and returns it. It panics on a bad name, a name that is taken or a missing constructor,
// which are mistakes in the program.
func Register(s Spec) Spec {
	if s.Name == "" || strings.ContainsAny(s.Name, "?&=, ") {
		panic(fmt.Sprintf("algo: bad name %q; write one without spaces and ?&=,", s.Name))
	}
	if _, ok := registry[s.Name]; ok {
		panic(fmt.Sprintf("algo: %q is registered twice", s.Name))
	}
	if s.New == nil {
		panic(fmt.Sprintf("algo: %q has no constructor", s.Name))
	}
	s.Track = s.New.Track()
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

// findSpec returns the spec of a registered name or of a name with a registered prefix.
func findSpec(name string) (Spec, error) {
	for prefix, find := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return find(name)
		}
	}
	s, ok := registry[name]
	if !ok {
		return Spec{}, unknownName(name)
	}
	return s, nil
}

// unknownName returns the error for a name that is not registered. To a command or a script it adds the prefix of
// programs.
func unknownName(name string) error {
	first, _, isCommand := strings.Cut(name, " ")
	_, isAlgorithm := registry[first]
	unknown := &nearest.UnknownError{Kind: kind, Name: name}
	switch {
	case strings.HasSuffix(first, ".py"):
		return fmt.Errorf("%w; a program is exec:python3 %s", unknown, name)
	case isCommand && !isAlgorithm:
		return fmt.Errorf("%w; a program is exec:%s", unknown, name)
	}
	return nearest.Unknown(kind, name, slices.Collect(maps.Keys(registry)))
}

// All returns the registered algorithms of a track by name; all tracks for "".
func All(track string) []Spec {
	all := slices.SortedFunc(maps.Values(registry), func(a, b Spec) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(all, func(s Spec) bool { return track != "" && s.Track != track })
}

// Parse finds an algorithm by name and parameters: "far", "fixpart?p=4-2-1". Errors describe the mistake
// and the correction. An unknown name is a [*nearest.UnknownError].
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
// program is asked whether it does the track, and for its version. The error for an unknown name lists names of the
// track.
func ParseFor(id string, track string) (Algorithm, error) {
	a, err := Parse(id)
	unknown, ok := errors.AsType[*nearest.UnknownError](err)
	if ok && unknown.Kind == kind && unknown.Known != nil {
		return a, nearest.Unknown(kind, unknown.Name, trackNames(track))
	}
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
	return fmt.Errorf("%q is of the %s track: %w", a.ID, a.Spec.Track,
		nearest.Unknown(track+" "+kind, a.ID, trackNames(track)))
}

// kind is the word for an algorithm in errors.
const kind = "algorithm"

// trackNames returns the names of the algorithms of a track.
func trackNames(track string) []string {
	return nearest.Names(All(track), func(s Spec) string { return s.Name })
}

// CheckGPU refuses a GPU model on which the algorithm does not work. The algorithm says so in a method
// CheckGPU of its own; without one, every model is accepted.
func (a Algorithm) CheckGPU(g *mig.GPU) error {
	made, ok := a.made.(interface{ CheckGPU(*mig.GPU) error })
	if !ok {
		return nil
	}
	if err := made.CheckGPU(g); err != nil {
		return fmt.Errorf("algorithm %q: %w", a.ID, err)
	}
	return nil
}

// MustParse is [Parse] for algorithms fixed in the program; it panics on an error.
func MustParse(id string) Algorithm { return spec.Must(Parse(id)) }

// make constructs the algorithm. This happens when the name is parsed, so that a wrong
// parameter is found before any work begins.
func (a *Algorithm) make() error {
	if a.Spec.New == nil {
		return nil
	}
	var err error
	if a.made, err = a.Spec.New.Make(a.Args); err != nil {
		return fmt.Errorf("algorithm %q: %w", a.ID, err)
	}
	return nil
}

// Weights identifies what the algorithm has learned; "" if it was not trained.
func (a Algorithm) Weights() string {
	if a.Spec.Weights == nil {
		return ""
	}
	return a.Spec.Weights(a.Args)
}

// Budget describes the limit on the algorithm's search; "" if it has no limit.
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
				Algorithm: a.Spec.Name, Task: p.Tasks[i].Name,
				Reason: fmt.Sprintf("fits no instance of %s (sizes %v)", p.GPU, p.GPU.Sizes()),
			}
		}
	}
	return nil
}
