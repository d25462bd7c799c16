package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"miglab/harness/algo"
	"miglab/harness/deep"
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
	// fewCompete leaves the slowest algorithms and all datasets but one out of the contests of the web site.
	fewCompete = "MIGLAB_TEST_FEW_COMPETE"
)

func init() {
	if os.Getenv(dawdles) != "" {
		algo.Register(algo.Spec{
			Name: "dawdle", Version: 1, Track: algo.TrackBatch, Summary: "nomig after a pause",
			New: func(algo.Args) (algo.Batch, error) { return dawdle{algo.MustParse("nomig")}, nil },
		})
	}
	if os.Getenv(fewCompete) != "" {
		for _, t := range track.All() {
			for i := range t.Contests {
				c := &t.Contests[i]
				c.Datasets = c.Datasets[:1]
				c.Algorithms = slices.DeleteFunc(slices.Clone(c.Algorithms), func(id string) bool {
					return strings.HasPrefix(id, "lns") || strings.HasPrefix(id, "repack-exact")
				})
			}
		}
	}
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
