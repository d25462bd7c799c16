package main

import (
	"fmt"

	"miglab/algorithms/rl/env"
	"miglab/harness/nearest"
)

var _ = register(kind{name: "batch", metrics: batchMetrics, open: openBatch})

// openBatch makes the DRL paper's MDP; the options are those of [env.BatchOptions].
func openBatch(options string) (opened, error) {
	o := struct {
		batchTasks
		Levels      int    `json:"levels"`
		Encoding    string `json:"encoding"`
		Direct      bool   `json:"direct"`
		Stream      int    `json:"stream"`
		RandomStart bool   `json:"random_start"`
		Released    bool   `json:"released"`
	}{batchTasks: byDefault, Encoding: "float"}
	if err := parseOptions(options, &o); err != nil {
		return opened{}, err
	}
	encoding, ok := map[string]env.Encoding{"float": env.Float, "one-hot": env.OneHot}[o.Encoding]
	if !ok {
		return opened{}, nearest.Unknown("encoding", o.Encoding, []string{"float", "one-hot"})
	}
	if o.Stream > maxTasks {
		return opened{}, fmt.Errorf("stream is %d; it is at most %d", o.Stream, maxTasks)
	}
	if o.Dataset != "" && (o.Stream > 0 || o.RandomStart) {
		return opened{}, fmt.Errorf("stream and random_start have no meaning for the instances of a dataset, %s", o.Dataset)
	}
	s, err := o.resolve()
	if err != nil {
		return opened{}, err
	}
	return s.open(func(source env.Source) (scheduler, error) {
		return env.NewBatch(env.BatchOptions{
			GPU: s.gpu, Model: s.model, Tasks: o.Tasks, Levels: o.Levels, Encoding: encoding, Direct: o.Direct,
			Stream: o.Stream, RandomStart: o.RandomStart, Released: o.Released,
		}, source)
	}), nil
}
