package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/track"
)

// Environment variables that change the program that tests run.
const (
	// dawdles gives it the algorithm dawdle: with it, work takes long enough to be interrupted in the middle, and
	// little of the processor.
	dawdles = "MIGLAB_TEST_DAWDLES"
	// dawdled is a file to which dawdle appends a line whenever it is called.
	dawdled = "MIGLAB_TEST_DAWDLED"
	// fewCompete leaves four algorithms, none of the slowest, and one dataset in each contest of the web site.
	fewCompete = "MIGLAB_TEST_FEW_COMPETE"
	// stuckVariable names a folder for the algorithms test-stuck and test-endless.
	stuckVariable = "MIGLAB_TEST_STUCK"
	// moreBounds gives it one more bound, of so many seconds. It is not true: the test wants to see it.
	moreBounds = "MIGLAB_TEST_BOUND"
)

func init() {
	if os.Getenv(dawdles) != "" {
		addBatch("dawdle", dawdle{algo.MustParse("nomig")})
	}
	if dir := os.Getenv(stuckVariable); dir != "" {
		addBatch("test-stuck", waiting{dir, false})
		addBatch("test-endless", waiting{dir, true})
	}
	if seconds, err := strconv.ParseFloat(os.Getenv(moreBounds), 64); err == nil {
		algo.Register(algo.Spec{
			Name: "added", Version: 1, Cite: "a test", Summary: "the same for every batch", Proven: true,
			New: algo.NewBound(func(algo.Args) (algo.Bound, error) { return constantBound(seconds), nil }),
		})
	}
	if os.Getenv(fewCompete) != "" {
		for _, t := range track.All() {
			for i := range t.Contests {
				c := &t.Contests[i]
				c.Datasets = c.Datasets[:1]
				c.Algorithms = slices.DeleteFunc(slices.Clone(c.Algorithms), func(id string) bool {
					return strings.HasPrefix(id, "lns")
				})
				c.Algorithms = c.Algorithms[:min(4, len(c.Algorithms))]
			}
		}
	}
}

func addBatch(name string, a algo.Batch) {
	algo.Register(algo.Spec{
		Name: name, Version: 1, Summary: "for tests",
		New: algo.NewBatch(func(algo.Args) (algo.Batch, error) { return a, nil }),
	})
}

type constantBound mig.Seconds

func (b constantBound) Bound(context.Context, algo.Problem) (mig.Seconds, error) {
	return mig.Seconds(b), nil
}

// waiting leaves a file in a folder when it is called. When its context ends, it returns, or leaves another file and
// never returns.
type waiting struct {
	dir     string
	returns bool
}

func (w waiting) Schedule(ctx context.Context, _ algo.Problem) (none schedule.Schedule, err error) {
	if err := os.WriteFile(filepath.Join(w.dir, "called"), nil, 0o600); err != nil {
		return none, err
	}
	<-ctx.Done()
	if w.returns {
		return none, ctx.Err()
	}
	if err := os.WriteFile(filepath.Join(w.dir, "ended"), nil, 0o600); err != nil {
		return none, err
	}
	select {}
}

type dawdle struct{ algo.Algorithm }

func (d dawdle) Schedule(ctx context.Context, p algo.Problem) (schedule.Schedule, error) {
	pause := deep.N(50, 0)
	if path := os.Getenv(dawdled); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return schedule.Schedule{}, err
		}
		pause = 50
		_, err = f.WriteString("called\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return schedule.Schedule{}, err
		}
	}
	time.Sleep(time.Duration(pause) * time.Millisecond)
	return d.Algorithm.Schedule(ctx, p)
}
