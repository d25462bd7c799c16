package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/harness/nearest"
	"miglab/harness/strictjson"
)

// A kind is a kind of environments.
type kind struct {
	name string
	// metrics name what is measured of an episode; names end in the unit.
	metrics []string
	// open reads options, a JSON object.
	open func(options string) (opened, error)
}

// opened is a kind with its options.
type opened struct {
	// facts name what is known of an episode when it begins; names end in the unit.
	facts []string
	// instances is how many a dataset has; 0 without one, and where there is no end.
	instances int
	// make makes environment i of n.
	make func(i, n int) (environment, error)
}

// environment is one that measures its episodes.
type environment struct {
	env.Env
	// measure writes the metrics of an episode that is done.
	measure func(metrics []float64)
	// batch is what episodes schedule; nil where they schedule no batches.
	batch *batch
}

// begin begins an episode and writes its facts.
func (e *environment) begin(rng *rand.Rand, facts []float64) error {
	if e.batch != nil {
		return e.batch.begin(rng, facts)
	}
	e.Reset(rng)
	return nil
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
func open(name, options string) (*kind, opened, error) {
	k := kinds[name]
	if k == nil {
		return nil, opened{}, nearest.Unknown("environment", name, slices.Collect(maps.Keys(kinds)))
	}
	o, err := k.open(options)
	if err != nil {
		return nil, opened{}, fmt.Errorf("environment %s: %w", name, err)
	}
	return k, o, nil
}

// parseOptions reads a JSON object over the defaults that to has.
func parseOptions(text string, to any) error {
	if err := strictjson.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("options %s: %w", text, err)
	}
	return nil
}
