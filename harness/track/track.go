// Package track knows the kinds of problem apart. Each track has a file of its own that says
// what an instance is, how an algorithm runs on one and is judged, which metrics there are, and
// what a leaderboard ranks by. Everything else asks a [Track] value and never its name, so that a
// track is added by adding one file that registers it.
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
	"miglab/harness/task"
)

// A Track is one kind of problem.
type Track struct {
	Name string
	// Doc says in half a sentence what is decided.
	Doc string
	// Order is where the track stands in lists; tracks of the same order stand by name.
	Order int
	// Data is the kind of payload that its instances have ([task.Payload.Kind]).
	Data string
	// GPU is the model that is used unless another is asked for.
	GPU string
	// Reference marks a track of bounds and optima. They are computed beside algorithms of other
	// tracks and are not ranked.
	Reference bool
	// Reconfigures means that the number of GPUs and the reconfiguration model are conditions of
	// a result. In other tracks the dataset gives the GPUs, and nothing is reconfigured.
	Reconfigures bool
	// Count returns how many GPUs an instance is for; nil means that the user says it.
	Count func(task.Payload) int
	// Accepts returns an error for a GPU model that the track is not about; nil accepts all.
	Accepts func(*mig.GPU) error
	// Admits returns an error for an instance of its kind that the track is not about; nil admits all.
	Admits func(task.Payload) error
	// Try makes an algorithm for an instance, so that one that cannot work with it fails before any
	// work begins. nil means that every algorithm can.
	Try func(algo.Algorithm, Problem) error
	// Solve runs an algorithm on an instance and has the answer checked. A rejected answer is an
	// [*InvalidError].
	Solve func(context.Context, algo.Algorithm, Problem) (Answer, error)
	// SolveTogether runs an algorithm with [algo.Spec.Together] on several instances of a
	// dataset at once. The answers are those of Solve; each takes an equal share of the time.
	// After an error there are none, and Solve says what is wrong with which instance. nil
	// means that the track solves instances one by one.
	SolveTogether func(context.Context, algo.Algorithm, []Problem) ([]Answer, error)
	// Beside lists the references that are computed beside the algorithms.
	Beside []Reference
	// Boards say what leaderboards rank by. The first for the regime of a dataset is used.
	Boards []Board
	// Contests are the comparisons that the web site shows. [Register] adds those of contests.csv.
	Contests []Contest
	// Drawn means that the web site draws the schedules of the contests' first instances.
	Drawn bool
	// Audited are the metrics that no valid answer can have on the wrong side of their bounds: below them, or above
	// them where higher is better.
	Audited []Board
}

// A Problem is one instance under the conditions of a series.
type Problem struct {
	GPU *mig.GPU
	// Count is the number of GPUs.
	Count int
	Model mig.Reconfiguration
	// Seed names the random stream of algorithms that draw numbers. It is the same for every
	// algorithm.
	Seed    uint64
	Payload task.Payload
}

// An Answer is what an algorithm gave for an instance, already judged.
type Answer struct {
	// Metrics are in no particular order.
	Metrics []Metric
	// Took is the wall time of the decisions.
	Took time.Duration
	// Problem and Schedule are set by the tracks whose answers are schedules.
	Problem  schedule.Problem
	Schedule schedule.Schedule
}

// A Metric is a number by name. The name carries the unit, as in makespan_s.
type Metric = sim.Metric

// A Reference is an algorithm whose results others are compared with, by a metric.
type Reference struct {
	Track     string
	Algorithm string
	// Metric is empty where the result is only shown.
	Metric string
}

// A Board says what the algorithms on a dataset are ranked by.
type Board struct {
	// Metric is ranked, the lowest first unless Higher is set.
	Metric string
	Higher bool
	// Regime is that of the datasets that the board is for; "" means all.
	Regime task.Regime
	// Aside is a metric that is shown and decides nothing; "" means none.
	Aside string
	// Load says what shows that a dataset loads a cluster. Where no algorithm's means reach all of it, nobody is
	// ranked. nil means that every dataset counts.
	Load []Least
	// Bound is what gaps are measured from: a bound from above if Higher is set. Published is a
	// bound of a paper that is shown as well. The zero values mean none.
	Bound, Published Reference
	// Unbounded ranks datasets of which no instance has a bound by the metric itself. Otherwise
	// they have no board.
	Unbounded bool
}

// A Least is a metric with the least value that is wanted.
type Least struct {
	Metric string
	Value  float64
}

// A Contest is a set of algorithms that compete on some datasets.
type Contest struct {
	GPU string
	// GPUs is their number where the dataset does not give it.
	GPUs       int
	Model      mig.Reconfiguration
	Datasets   []string
	Algorithms []string
	// Instances is how many of each dataset.
	Instances int
}

// InvalidError says that the referee rejects an answer.
type InvalidError struct {
	// Err is what is wrong with it.
	Err error
}

func (e *InvalidError) Error() string { return e.Err.Error() }

func (e *InvalidError) Unwrap() error { return e.Err }

// invalidIf makes an error of type E an [*InvalidError] and leaves others as they are.
func invalidIf[E error](err error) error {
	if _, ok := errors.AsType[E](err); ok {
		return &InvalidError{err}
	}
	return err
}

//go:embed contests.csv
var contestsText string

// contestsOf returns the contests of a track. It panics on a mistake in the file.
func contestsOf(track string) (out []Contest) {
	in := csv.NewReader(strings.NewReader(contestsText))
	in.Comment = '#'
	rows, err := in.ReadAll()
	for _, row := range rows {
		gpus, bad := strconv.Atoi(row[2])
		model, unknown := mig.ParseReconfiguration(row[3])
		instances, wrong := strconv.Atoi(row[4])
		if err = errors.Join(err, bad, unknown, wrong); row[0] == track {
			out = append(out, Contest{row[1], gpus, model, strings.Fields(row[5]), strings.Fields(row[6]), instances})
		}
	}
	if err != nil {
		panic("track: contests.csv: " + err.Error())
	}
	return out
}

var tracks []*Track

// Register adds a track. It panics on a second one of the same name, which is a mistake in the
// program.
func Register(t Track) *Track {
	if slices.ContainsFunc(tracks, func(o *Track) bool { return o.Name == t.Name }) {
		panic(fmt.Sprintf("track: %q is registered twice", t.Name))
	}
	t.Contests = append(t.Contests, contestsOf(t.Name)...)
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

// MustLookup returns the track of a name in the program. It panics if there is none, which is a mistake
// in the program.
func MustLookup(name string) *Track {
	i := slices.IndexFunc(tracks, func(t *Track) bool { return t.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("track: %q is not registered", name))
	}
	return tracks[i]
}

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

// BoardOf returns the index in Boards of the board for datasets of a regime; -1 if there is none.
func (t *Track) BoardOf(r task.Regime) int {
	return slices.IndexFunc(t.Boards, func(b Board) bool { return b.Regime == "" || b.Regime == r })
}

// payload returns the problem's payload as the type that the track's instances have. The
// engine has compared the kinds before.
func payload[T task.Payload](p Problem) T { return p.Payload.(T) }

// timeSince is how long an algorithm took that was called at an instant.
func timeSince(algorithm any, start time.Time) time.Duration {
	if t, ok := algorithm.(algo.Timed); ok {
		return t.Took()
	}
	return time.Since(start)
}

// simulate runs a simulation with an algorithm, which may be a program in a dialogue, and
// returns how long the algorithm took.
func simulate(ctx context.Context, algorithm any, simulation func() error) (time.Duration, error) {
	start := time.Now()
	d, ok := algorithm.(algo.Dialogue)
	if !ok {
		err := simulation()
		return timeSince(algorithm, start), err
	}
	err := d.Converse(ctx, simulation)
	return timeSince(algorithm, start), err
}
