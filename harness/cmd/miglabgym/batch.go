package main

import (
	"fmt"

	"miglab/algorithms/rl/env"
	"miglab/harness/nearest"
)

var _ = register(kind{name: "batch", metrics: []string{"makespan_s"}, open: openBatch})

// openBatch makes the DRL paper's MDP; the options are those of [env.BatchOptions].
func openBatch(options string) (func() (environment, error), error) {
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
		return nil, err
	}
	encoding, ok := map[string]env.Encoding{"float": env.Float, "one-hot": env.OneHot}[o.Encoding]
	if !ok {
		return nil, nearest.Unknown("encoding", o.Encoding, []string{"float", "one-hot"})
	}
	if o.Stream > maxTasks {
		return nil, fmt.Errorf("stream is %d; it is at most %d", o.Stream, maxTasks)
	}
	gpu, model, source, err := o.resolve()
	if err != nil {
		return nil, err
	}
	return func() (environment, error) {
		e, err := env.NewBatch(env.BatchOptions{
			GPU: gpu, Model: model, Tasks: o.Tasks, Levels: o.Levels, Encoding: encoding, Direct: o.Direct,
			Stream: o.Stream, RandomStart: o.RandomStart, Released: o.Released,
		}, source)
		if err != nil {
			return environment{}, err
		}
		return environment{e, func(metrics []float64) { metrics[0] = e.Makespan() }}, nil
	}, nil
}
