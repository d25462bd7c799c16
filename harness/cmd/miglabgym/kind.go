package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictjson"
)

// A kind is a kind of environments.
type kind struct {
	name string
	// metrics name what is measured of an episode; names end in the unit.
	metrics []string
	// open reads options, a JSON object, and returns what makes environments.
	open func(options string) (func() (environment, error), error)
}

// environment is one that measures its episodes.
type environment struct {
	env.Env
	// measure writes the metrics of an episode that is done.
	measure func(metrics []float64)
}

var kinds = map[string]*kind{}

func register(k kind) *kind {
	if kinds[k.name] != nil {
		panic("miglabgym: two environments are called " + k.name)
	}
	kinds[k.name] = &k
	return &k
}

// open finds a kind and reads its options.
func open(name, options string) (*kind, func() (environment, error), error) {
	k := kinds[name]
	if k == nil {
		return nil, nil, nearest.Unknown("environment", name, slices.Collect(maps.Keys(kinds)))
	}
	make1, err := k.open(options)
	if err != nil {
		return nil, nil, fmt.Errorf("environment %s: %w", name, err)
	}
	return k, make1, nil
}

// parseOptions reads a JSON object over the defaults that to has.
func parseOptions(text string, to any) error {
	if err := strictjson.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("options %s: %w", text, err)
	}
	return nil
}

// batchTasks are the options of environments for batches.
type batchTasks struct {
	// Workload is a synthetic dataset with a sampler.
	Workload string `json:"workload"`
	// GPU is a model.
	GPU string `json:"gpu"`
	// Reconfiguration is sequential, parallel or free.
	Reconfiguration string `json:"reconfiguration"`
	// Tasks is how many an agent sees at once.
	Tasks int `json:"tasks"`
}

// byDefault is one of DRL's settings (5.1.3): N = 14 on A100.
var byDefault = batchTasks{Workload: "WIDETIMES", GPU: "A100", Reconfiguration: mig.Sequential.String(), Tasks: 14}

// maxTasks bounds the options tasks and stream.
const maxTasks = 10_000

// resolve returns what the options name.
func (b *batchTasks) resolve() (*mig.GPU, mig.Reconfiguration, env.Source, error) {
	if b.Tasks < 1 || b.Tasks > maxTasks {
		return nil, 0, nil, fmt.Errorf("tasks is %d; it is from 1 to %d", b.Tasks, maxTasks)
	}
	gpu, err := mig.Lookup(b.GPU)
	if err != nil {
		return nil, 0, nil, err
	}
	model, err := mig.ParseReconfiguration(b.Reconfiguration)
	if err != nil {
		return nil, 0, nil, err
	}
	sampler, err := datasets.NewSampler(b.Workload, gpu)
	if err != nil {
		return nil, 0, nil, err
	}
	return gpu, model, func(rng *rand.Rand, tasks []env.Times) int {
		datasets.Draw(sampler, rng, tasks)
		return len(tasks)
	}, nil
}
