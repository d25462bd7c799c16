package main

import (
	"fmt"

	"miglab/algorithms/rl/env"
)

var _ = register(kind{name: "own", metrics: batchMetrics, open: openOwn})

func openOwn(options string) (opened, error) {
	o := struct {
		batchTasks
		// Start is the probability with which an episode begins on a GPU at work.
		Start float64 `json:"start"`
	}{batchTasks: byDefault}
	if err := parseOptions(options, &o); err != nil {
		return opened{}, err
	}
	if !(o.Start >= 0 && o.Start <= 1) {
		return opened{}, fmt.Errorf("start is %v; it is a probability, from 0 to 1", o.Start)
	}
	if o.Dataset != "" && o.Start > 0 {
		return opened{}, fmt.Errorf("start has no meaning for the instances of a dataset, %s", o.Dataset)
	}
	s, err := o.resolve()
	if err != nil {
		return opened{}, err
	}
	return s.open(func(source env.Source) (scheduler, error) {
		return env.NewOwn(s.gpu, s.model, o.Tasks, source, o.Start), nil
	}), nil
}
