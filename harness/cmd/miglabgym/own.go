package main

import (
	"fmt"

	"miglab/algorithms/rl/env"
)

var _ = register(kind{name: "own", metrics: []string{"makespan_s"}, open: openOwn})

func openOwn(options string) (func() (environment, error), error) {
	o := struct {
		batchTasks
		// Start is the probability with which an episode begins on a GPU at work.
		Start float64 `json:"start"`
	}{batchTasks: byDefault}
	if err := parseOptions(options, &o); err != nil {
		return nil, err
	}
	if !(o.Start >= 0 && o.Start <= 1) {
		return nil, fmt.Errorf("start is %v; it is a probability, from 0 to 1", o.Start)
	}
	gpu, model, source, err := o.resolve()
	if err != nil {
		return nil, err
	}
	return func() (environment, error) {
		e := env.NewOwn(gpu, model, o.Tasks, source, o.Start)
		return environment{e, func(metrics []float64) { metrics[0] = e.Makespan() }}, nil
	}, nil
}
