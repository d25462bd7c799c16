// Package track defines the kinds of problem. Each track has its own file, which cites the paper
// and says what an instance is, how an algorithm runs on it, how the answer is judged, which
// metrics exist, and how a leaderboard ranks. Other packages use the fields of a [Track] and never
// compare its name. A new track is therefore one new file that registers it.
//
// Solve refuses an answer that breaks the rules of its track with an [*InvalidError].
package track

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A Track is one kind of problem.
type Track struct {
	Name  string
	Order int    // sorts the tracks in lists; tracks of the same order are sorted by name
	Data  string // the kind of payload that its instances have ([task.Payload.Kind])
	GPU   string // the default model
	// Reference marks a track of bounds and optima. They are computed beside algorithms of other
	// tracks and are not ranked.
	Reference bool
	// Reconfigures means that results depend on the number of GPUs and the reconfiguration model,
	// which the user chooses. In other tracks the dataset gives the GPUs, and partitions stay fixed.
	Reconfigures bool
	// Count returns the number of GPUs of an instance; nil means that the user chooses it.
	Count func(task.Payload) int
	// Accepts returns an error for a GPU model that the track does not support; nil accepts all.
	Accepts func(*mig.GPU) error
	// Try makes an algorithm for an instance and returns an error if the algorithm does not support
	// it, before any work begins. nil means that every algorithm supports every instance.
	Try func(algo.Algorithm, Problem) error
	// Solve runs an algorithm on an instance and checks the answer. It returns an [*InvalidError]
	// for an invalid answer.
	Solve func(context.Context, algo.Algorithm, Problem) (Answer, error)
	// SolveTogether runs an algorithm with [algo.Spec.Together] on several instances of a dataset at once. The
	// answers equal the answers of Solve; each takes an equal share of the time. It returns an error without answers;
	// Solve then finds the instance that fails. nil means that the track solves instances one by one.
	SolveTogether func(context.Context, algo.Algorithm, []Problem) ([]Answer, error)
	Beside        []Reference // the references that are computed beside the algorithms
	// Boards define the rankings of leaderboards. The first board for the regime of a dataset is used.
	Boards []Board
	// Contests are the comparisons that the web site shows. [Register] adds the track's rows of contests.csv.
	Contests []Contest
	Drawn    bool // the web site draws the schedules of the first instances of Contests
	// Audited lists metrics with proven bounds. In a valid answer such a metric is not below its bound, or not above it
	// where higher is better.
	Audited []Board
}

// A Problem is one instance under the conditions of a series.
type Problem struct {
	GPU     *mig.GPU
	Count   int // the number of GPUs
	Model   mig.Reconfiguration
	Seed    uint64 // starts the random stream of algorithms that draw numbers; the same for every algorithm
	Payload task.Payload
}

// An Answer is the judged result of an algorithm for an instance.
type Answer struct {
	Metrics []Metric      // in no particular order
	Took    time.Duration // the wall time of the decisions
	// Problem and Schedule are set only by tracks whose answers are schedules.
	Problem  schedule.Problem
	Schedule schedule.Schedule
	// History says when the work waited and ran; nil in tracks in which no work waits.
	History func() schedule.History
}

// A Metric is a number by name. The name carries the unit, as in makespan_s.
type Metric = sim.Metric

// A Reference is a metric of an algorithm with which other results are compared.
type Reference struct {
	Track     string
	Algorithm string
	Metric    string // empty if the result is only shown
}

// A Board defines how the algorithms on a dataset are ranked.
type Board struct {
	// Metric is the ranked metric. The lowest value comes first unless Higher is set.
	Metric  string
	Higher  bool
	Regime  task.Regime // the regime of the datasets that the board ranks; "" means all datasets
	Aside   string      // a metric that is shown but not ranked; "" means no such metric
	Powered bool        // the metric exists only for GPU models with a [mig.Power]
	// Load lists metrics whose means show that a dataset loads a cluster. A dataset is ranked only if the means of some
	// algorithm reach all values. nil means that every dataset is ranked.
	Load []Least
	// Bound is the bound from which gaps are measured: an upper bound if Higher is set. The zero value means no bound.
	Bound Reference
	// Unbounded ranks a dataset without bounds by the metric itself. Otherwise such a dataset has no board.
	Unbounded bool
}

// A Least is a metric with its smallest accepted value.
type Least struct {
	Metric string
	Value  float64
}

// A Contest is a set of algorithms that compete on some datasets.
type Contest struct {
	GPU        string
	GPUs       int // the number of GPUs if the dataset does not give it
	Model      mig.Reconfiguration
	Datasets   []string
	Algorithms []string
	Instances  int // the number of instances of each dataset
}

// InvalidError says that the referee rejects an answer.
type InvalidError struct {
	Err error // describes the broken rule
}

func (e *InvalidError) Error() string { return e.Err.Error() }

func (e *InvalidError) Unwrap() error { return e.Err }

// invalidIf wraps an error of type E in an [*InvalidError] and returns other errors unchanged.
func invalidIf[E error](err error) error {
	if _, ok := errors.AsType[E](err); ok {
		return &InvalidError{err}
	}
	return err
}

//go:embed contests.csv
var contestsText string

// readContests returns the contests of a track. It panics on a mistake in the file.
func readContests(track string) (out []Contest) {
	in := csv.NewReader(strings.NewReader(contestsText))
	in.Comment = '#'
	rows, err := in.ReadAll()
	for _, row := range rows {
		gpus, gpusErr := strconv.Atoi(row[2])
		model, modelErr := mig.ParseReconfiguration(row[3])
		instances, instancesErr := strconv.Atoi(row[4])
		err = errors.Join(err, gpusErr, modelErr, instancesErr)
		if row[0] == track {
			out = append(out, Contest{
				GPU: row[1], GPUs: gpus, Model: model, Datasets: strings.Fields(row[5]),
				Algorithms: strings.Fields(row[6]), Instances: instances,
			})
		}
	}
	if err != nil {
		panic("track: contests.csv: " + err.Error())
	}
	return out
}

var tracks []*Track

// Register adds a track. It panics on a second track of the same name, which is a mistake in the program.
func Register(t Track) *Track {
	if slices.ContainsFunc(tracks, func(o *Track) bool { return o.Name == t.Name }) {
		panic(fmt.Sprintf("track: %q is registered twice", t.Name))
	}
	t.Contests = append(t.Contests, readContests(t.Name)...)
	tracks = append(tracks, &t)
	slices.SortFunc(tracks, func(a, b *Track) int { return cmp.Or(a.Order-b.Order, cmp.Compare(a.Name, b.Name)) })
	return &t
}

// All returns the tracks in order.
func All() []*Track { return tracks }

// Names returns the names of the tracks that are ranked.
func Names() []string {
	var out []string
	for _, t := range tracks {
		if !t.Reference {
			out = append(out, t.Name)
		}
	}
	return out
}

// Lookup returns the track of a name, ranked or not. The error is a [*nearest.UnknownError].
func Lookup(name string) (*Track, error) {
	i := slices.IndexFunc(tracks, func(t *Track) bool { return t.Name == name })
	if i < 0 {
		return nil, nearest.Unknown("track", name, Names())
	}
	return tracks[i], nil
}

// MustLookup is [Lookup] for names in the program, of which an unknown one is a mistake. It panics on an error.
func MustLookup(name string) *Track { return spec.Must(Lookup(name)) }

// Parse reads the name of a track that is ranked, whatever the case of its letters. The error is
// a [*nearest.UnknownError].
func Parse(name string) (*Track, error) {
	for _, t := range tracks {
		if !t.Reference && strings.EqualFold(t.Name, name) {
			return t, nil
		}
	}
	return nil, nearest.Unknown("track", name, Names())
}

// BoardOf returns the index in Boards of the first board for datasets of a regime, or of the first by the given metric;
// -1 if there is none.
func (t *Track) BoardOf(r task.Regime, metric string) int {
	return slices.IndexFunc(t.Boards, func(b Board) bool {
		return (b.Regime == "" || b.Regime == r) && (metric == "" || b.Metric == metric)
	})
}

// ParseMetric finds a metric that boards of the track rank by. The error is a [*nearest.UnknownError], or says what
// the GPU model lacks.
func (t *Track) ParseMetric(name string, g *mig.GPU) (string, error) {
	b, err := nearest.Find("metric to rank the "+t.Name+" track by", name, t.Boards,
		func(b Board) string { return b.Metric })
	if err == nil && b.Powered && g.Power == nil {
		err = fmt.Errorf("%s has no watts, and so its results have no %s; give them as in %s?idle=75.4", g, name, g)
	}
	return b.Metric, err
}

// payload returns the problem's payload as the type of the track's instances. The
// engine has already compared the kinds.
func payload[T task.Payload](p Problem) T { return p.Payload.(T) }

// timeSince returns the wall time of an algorithm that was called at start.
func timeSince(algorithm any, start time.Time) time.Duration {
	t, timed := algorithm.(algo.Timed)
	if timed {
		return t.Took()
	}
	return time.Since(start)
}

// simulate runs a simulation with an algorithm and returns how long the algorithm took.
func simulate(ctx context.Context, algorithm any, simulation func() error) (time.Duration, error) {
	start := time.Now()
	err := algo.Simulate(ctx, algorithm, simulation)
	return timeSince(algorithm, start), err
}
