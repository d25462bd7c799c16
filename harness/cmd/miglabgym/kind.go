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

// A kind is a kind of environments with its options.
type kind struct {
	// metrics name what is measured of an episode, and facts what is known of it when it
	// begins; names end in the unit.
	metrics, facts []string
	// instances is how many a dataset has; 0 without one, and where there is no end.
	instances int
	// make makes environment i of n.
	make func(i, n int) (environment, error)
}

// environment is one that measures its episodes.
type environment interface {
	env.Env
	// begin begins an episode and writes its facts.
	begin(rng *rand.Rand, facts []float64) error
	// measure writes the metrics of an episode that is done.
	measure(metrics []float64)
}

// kinds read the options of each kind, a JSON object.
var kinds = map[string]func(options string) (kind, error){"batch": openBatch, "deadline": openDeadline, "own": openOwn}

// openKind finds a kind and reads its options.
func openKind(name, options string) (kind, error) {
	open := kinds[name]
	if open == nil {
		return kind{}, nearest.Unknown("environment", name, slices.Collect(maps.Keys(kinds)))
	}
	k, err := open(options)
	if err != nil {
		return kind{}, fmt.Errorf("environment %s: %w", name, err)
	}
	return k, nil
}

// parseOptions reads a JSON object over the defaults that to has.
func parseOptions(text string, to any) error {
	if err := strictjson.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("options %s: %w", text, err)
	}
	return nil
}

func openOwn(options string) (kind, error) {
	o := struct {
		batchTasks
		// Start is the probability with which an episode begins on a GPU at work.
		Start float64 `json:"start"`
	}{batchTasks: byDefault}
	if err := parseOptions(options, &o); err != nil {
		return kind{}, err
	}
	if !(o.Start >= 0 && o.Start <= 1) {
		return kind{}, fmt.Errorf("start is %v; it is a probability, from 0 to 1", o.Start)
	}
	if o.Dataset != "" && o.Start > 0 {
		return kind{}, fmt.Errorf("start has no meaning for the instances of a dataset, %s", o.Dataset)
	}
	return o.open(func(b *batch) (scheduler, error) {
		return env.NewOwn(b.gpu, b.model, o.Tasks, b.draw, o.Start), nil
	})
}

// openBatch makes the DRL paper's MDP.
func openBatch(options string) (kind, error) {
	o := struct {
		batchTasks
		env.BatchOptions
	}{batchTasks: byDefault}
	if err := parseOptions(options, &o); err != nil {
		return kind{}, err
	}
	if o.Stream > maxTasks {
		return kind{}, fmt.Errorf("stream is %d; it is at most %d", o.Stream, maxTasks)
	}
	if o.Dataset != "" && (o.Stream > 0 || o.RandomStart) {
		return kind{}, fmt.Errorf("stream and random_start have no meaning for the instances of a dataset, %s",
			o.Dataset)
	}
	return o.open(func(b *batch) (scheduler, error) {
		o.BatchOptions.GPU, o.Model, o.BatchOptions.Tasks = b.gpu, b.model, b.Tasks
		return env.NewBatch(o.BatchOptions, b.draw)
	})
}

// A day is an episode of the deadline report's queue.
type day struct{ *env.Deadline }

func (d day) begin(rng *rand.Rand, _ []float64) error {
	d.Reset(rng)
	return nil
}

var dayMetrics = []string{"late_percent", "tardiness_min", "energy_wmin", "energy_as_released_wmin"}

func (d day) measure(metrics []float64) {
	r := d.Result()
	copy(metrics, []float64{r.LatePercent(), float64(r.Tardiness), float64(r.Energy), float64(r.EnergyAsReleased)})
}

func openDeadline(options string) (kind, error) {
	o := struct {
		// Dataset is one of deadline/, with its parameters.
		Dataset string `json:"dataset"`
		GPU     string `json:"gpu"`
		env.DeadlineOptions
	}{Dataset: "deadline/relaxed", GPU: "A100"}
	if err := parseOptions(options, &o); err != nil {
		return kind{}, err
	}
	gpu, err := mig.Lookup(o.GPU)
	if err != nil {
		return kind{}, err
	}
	fleet, draw, err := datasets.DaySampler(o.Dataset, gpu)
	if err != nil {
		return kind{}, err
	}
	return kind{metrics: dayMetrics, make: func(int, int) (environment, error) {
		d, err := env.NewDeadline(fleet, draw, o.DeadlineOptions)
		return day{d}, err
	}}, nil
}
