package main

import (
	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/mig"
)

var _ = register(kind{
	name:    "deadline",
	metrics: []string{"late_percent", "tardiness_min", "energy_wmin", "energy_as_released_wmin"}, open: openDeadline,
})

func openDeadline(options string) (opened, error) {
	o := struct {
		// Dataset is one of deadline/, with its parameters.
		Dataset string `json:"dataset"`
		GPU     string `json:"gpu"`
		env.DeadlineOptions
	}{Dataset: "deadline/relaxed", GPU: "A100"}
	if err := parseOptions(options, &o); err != nil {
		return opened{}, err
	}
	gpu, err := mig.Lookup(o.GPU)
	if err != nil {
		return opened{}, err
	}
	sampler, err := datasets.NewDaySampler(o.Dataset, gpu)
	if err != nil {
		return opened{}, err
	}
	return opened{make: func(int, int) (environment, error) {
		d, err := env.NewDeadline(sampler.Fleet(), sampler.Draw, o.DeadlineOptions)
		if err != nil {
			return environment{}, err
		}
		return environment{Env: d, measure: func(metrics []float64) {
			r := d.Result()
			metrics[0], metrics[1], metrics[2], metrics[3] = r.LatePercent(), float64(r.Tardiness), float64(r.Energy),
				float64(r.EnergyAsReleased)
		}}, nil
	}}, nil
}
