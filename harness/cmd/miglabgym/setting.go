package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	_ "miglab/algorithms" // registers FAR
	"miglab/algorithms/rl/env"
	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/external"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The facts of environments for batches.
const (
	factInstance = "instance"
	factBound    = "certified_bound_s"
	factFAR      = "far_makespan_s"
)

// batchTasks are the options of environments for batches.
type batchTasks struct {
	// Workload is a synthetic dataset with a sampler.
	Workload string `json:"workload"`
	// Dataset takes the place of a workload: episodes are its instances, in order. Of n
	// environments, number i has the instances i, i+n, i+2n and so on. After the last
	// instance comes the first.
	Dataset string `json:"dataset"`
	// GPU is a model.
	GPU string `json:"gpu"`
	// Reconfiguration is sequential, parallel or free.
	Reconfiguration string `json:"reconfiguration"`
	// Tasks is how many an agent sees at once.
	Tasks int `json:"tasks"`
	// Bound and FAR ask for facts: the certified lower bound of a batch, and FAR's makespan.
	Bound bool `json:"bound"`
	FAR   bool `json:"far"`

	// What the options name; either sampler or dataset is nil.
	gpu     *mig.GPU
	model   mig.Reconfiguration
	sampler func(rng *rand.Rand, tasks []env.Times)
	dataset datasets.Spec
	facts   []string
}

// byDefault is one of DRL's settings (5.1.3): N = 14 on A100. The workload is then WIDETIMES.
var byDefault = batchTasks{GPU: "A100", Reconfiguration: mig.Sequential.String(), Tasks: 14}

const defaultWorkload = "WIDETIMES"

// maxTasks bounds the options tasks and stream.
const maxTasks = 10_000

// resolve finds what the options name.
func (b *batchTasks) resolve() (err error) {
	if b.Tasks < 1 || b.Tasks > maxTasks {
		return fmt.Errorf("tasks is %d; it is from 1 to %d", b.Tasks, maxTasks)
	}
	if b.gpu, err = mig.Lookup(b.GPU); err != nil {
		return err
	}
	if b.model, err = mig.ParseReconfiguration(b.Reconfiguration); err != nil {
		return err
	}
	switch {
	case b.Dataset == "":
		b.sampler, err = datasets.Sampler[env.Times](cmp.Or(b.Workload, defaultWorkload), b.gpu)
	case b.Workload != "":
		err = fmt.Errorf("workload is %s and dataset is %s; give one of them", b.Workload, b.Dataset)
	default:
		b.dataset, err = datasets.Parse(b.Dataset)
		b.facts = append(b.facts, factInstance)
	}
	if b.Bound {
		b.facts = append(b.facts, factBound)
	}
	if b.FAR {
		b.facts = append(b.facts, factFAR)
	}
	return err
}

// A scheduler is an environment in which a batch is scheduled.
type scheduler interface {
	env.Env
	Load(tasks []env.Times, first int, releases []float64) error
	Device() *env.Device
	Makespan() float64
}

// open returns the environments that newScheduler makes.
func (b *batchTasks) open(newScheduler func(*batch) (scheduler, error)) (kind, error) {
	if err := b.resolve(); err != nil {
		return kind{}, err
	}
	k := kind{metrics: []string{"makespan_s"}, facts: b.facts}
	if b.dataset != nil {
		k.instances = b.dataset.Instances()
	}
	k.make = func(i, n int) (environment, error) {
		e := &batch{batchTasks: b, number: i, stride: n}
		e.rewind()
		var err error
		e.scheduler, err = newScheduler(e)
		return e, err
	}
	return k, nil
}

// A batch is what the episodes of an environment schedule.
type batch struct {
	*batchTasks
	scheduler
	// number is that of the environment, of stride many.
	number, stride int
	// instance is the dataset's that is scheduled, and next the one after it.
	instance, next int
	times          []env.Times // drawn
	// problem is that of the episode, for a dataset or where facts need it.
	problem schedule.Problem
}

// draw is the source of environments that sample.
func (b *batch) draw(rng *rand.Rand, tasks []env.Times) int {
	b.sampler(rng, tasks)
	b.times = append(b.times[:0], tasks...)
	return len(tasks)
}

// rewind makes the next episode the first one.
func (b *batch) rewind() { b.next = b.number }

func (b *batch) begin(rng *rand.Rand, facts []float64) (err error) {
	if b.dataset != nil {
		if err := b.load(); err != nil {
			return fmt.Errorf("instance %d of %s: %w", b.next, b.dataset.ID(), err)
		}
	} else {
		b.Reset(rng)
		if b.Bound || b.FAR {
			b.problem = b.drawn()
		}
	}
	for i, name := range b.facts {
		if facts[i], err = b.fact(name); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) measure(metrics []float64) { metrics[0] = b.Makespan() }

// load begins an episode with the dataset's next instance, on an empty GPU.
func (b *batch) load() error {
	if have := b.dataset.Instances(); have > 0 {
		b.next %= have
	}
	in, err := datasets.InstanceOf[task.Batches](b.dataset, b.gpu, b.next)
	if err != nil {
		return err
	}
	if len(in.Lengths) > 1 || len(in.Start) > 0 || in.Arrivals != nil {
		return fmt.Errorf("it has %d batches, %d instances at the start and %d arrivals; environments take one "+
			"batch that is there at time 0, on an empty GPU", len(in.Lengths), len(in.Start), len(in.Arrivals))
	}
	if in.Estimates != nil {
		return errors.New("environments show the true durations; leave out noise")
	}
	if err := in.Tasks.Validate(b.gpu); err != nil {
		return err
	}
	b.Device().Reset()
	if err := b.Load(env.TimesOf(b.gpu, in.Tasks), 0, nil); err != nil {
		return err
	}
	b.problem = schedule.Problem{GPU: b.gpu, Model: b.model, Tasks: in.Tasks}
	b.instance, b.next = b.next, b.next+b.stride
	return nil
}

// drawn returns the problem that was sampled. It begins with the instances that are on the device.
func (b *batch) drawn() schedule.Problem {
	p := schedule.Problem{GPU: b.gpu, Model: b.model}
	for i := range b.times {
		seconds := map[mig.Slices]mig.Seconds{}
		for _, size := range b.gpu.Sizes() {
			if s := b.times[i][size]; !math.IsInf(s, 1) {
				seconds[size] = mig.Seconds(s)
			}
		}
		p.Tasks = append(p.Tasks, task.New(fmt.Sprintf("task %d", i), seconds))
	}
	d := b.Device()
	last := -1
	for slice := range int(b.gpu.MemorySlices) {
		here, busyUntil := d.Here(slice)
		if here >= 0 && here != last {
			p.Start = append(p.Start,
				schedule.Existing{Instance: d.Instances()[here], BusyUntil: mig.Seconds(busyUntil)})
		}
		last = here
	}
	return p
}

func (b *batch) fact(name string) (float64, error) {
	switch name {
	case factInstance:
		return float64(b.instance), nil
	case factBound:
		bound, err := bounds.Certified(context.Background(), b.problem)
		return float64(bound), err
	}
	s, err := algo.MustParse("far").Schedule(context.Background(), b.problem)
	if err != nil {
		return 0, err
	}
	return float64(s.Makespan()), nil
}

// answer returns the line that a file of answers has for the dataset's instance that was
// scheduled last.
func (b *batch) answer() ([]byte, error) {
	if b.dataset == nil {
		return nil, fmt.Errorf("the batches are drawn from a workload; only those of a dataset have answers")
	}
	return external.Answer(b.problem, b.Device().Schedule())
}
