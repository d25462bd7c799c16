package gym

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	_ "miglab/algorithms" // registers FAR
	"miglab/algorithms/rl/env"
	"miglab/bounds"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/external"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// batchOptions are the common options of own and batch.
type batchOptions struct {
	Workload string `json:"workload"` // a synthetic dataset, from whose sampler episodes are drawn
	// Dataset replaces the workload: episodes are its instances, in order. Of n environments, number i has the
	// instances i, i+n, i+2n and so on. After the last instance comes the first.
	Dataset string `json:"dataset"`
	// GPU is a model, and Reconfiguration is sequential, parallel or free.
	GPU             string `json:"gpu"`
	Reconfiguration string `json:"reconfiguration"`
	Tasks           int    `json:"tasks"` // the number of tasks that an agent sees at once
	// Bound and FAR ask for facts: the certified lower bound of a batch, and FAR's makespan.
	Bound   bool `json:"bound"`
	FAR     bool `json:"far"`
	Answers bool `json:"answers"` // asks for the answers of a program; see [external.Answer]

	// The values that the options name; either sampler or dataset is nil.
	gpu     *mig.GPU
	model   mig.Reconfiguration
	sampler func(rng *rand.Rand, tasks []env.Times)
	dataset datasets.Spec
}

// defaults are a setting of DRL 5.1.3, N = 14 on A100. The default workload is WIDETIMES.
var defaults = batchOptions{GPU: "A100", Reconfiguration: mig.Sequential.String(), Tasks: 14}

// maxTasks bounds the options tasks and stream.
const maxTasks = 10_000

func openOwn(options []byte) (kind, error) {
	o := struct {
		batchOptions
		Start float64 `json:"start"` // the probability that an episode begins on a GPU at work
	}{batchOptions: defaults}
	if err := strictjson.Line(options, &o); err != nil {
		return kind{}, err
	}
	if !(o.Start >= 0 && o.Start <= 1) {
		return kind{}, fmt.Errorf("start is %v; it is a probability, from 0 to 1", o.Start)
	}
	return o.open(o.Start > 0, func(b *batch) (env.Scheduler, error) {
		return env.NewOwn(b.gpu, b.model, b.Tasks, b.draw, o.Start), nil
	})
}

// openBatch makes the DRL paper's MDP.
func openBatch(options []byte) (kind, error) {
	o := struct {
		batchOptions
		env.BatchOptions
	}{batchOptions: defaults}
	if err := strictjson.Line(options, &o); err != nil {
		return kind{}, err
	}
	if o.Stream > maxTasks {
		return kind{}, fmt.Errorf("stream is %d; it is at most %d", o.Stream, maxTasks)
	}
	return o.open(o.Stream > 0 || o.RandomStart, func(b *batch) (env.Scheduler, error) {
		o.BatchOptions.GPU, o.Model, o.BatchOptions.Tasks = b.gpu, b.model, b.Tasks
		return env.NewBatch(o.BatchOptions, b.draw)
	})
}

// open returns the kind of the environments that newScheduler makes. sampled says that an option is set that a dataset
// does not have.
func (b *batchOptions) open(sampled bool, newScheduler func(*batch) (env.Scheduler, error)) (k kind, err error) {
	if b.Tasks < 1 || b.Tasks > maxTasks {
		return k, fmt.Errorf("tasks is %d; it is from 1 to %d", b.Tasks, maxTasks)
	}
	if b.gpu, err = new(mig.Catalog).Lookup(b.GPU); err != nil {
		return k, err
	}
	if b.model, err = mig.ParseReconfiguration(b.Reconfiguration); err != nil {
		return k, err
	}
	k.metrics = []string{"makespan_s"}
	switch {
	case b.Dataset == "" && b.Answers:
		return k, errors.New("answers are for the instances of a dataset; give one")
	case b.Dataset == "":
		b.sampler, err = datasets.Sampler[env.Times](cmp.Or(b.Workload, "WIDETIMES"), b.gpu)
	case b.Workload != "":
		err = fmt.Errorf("workload is %s and dataset is %s; give one of them", b.Workload, b.Dataset)
	case sampled:
		err = fmt.Errorf("start, stream and random_start have no meaning for the instances of a dataset, %s", b.Dataset)
	default:
		if b.dataset, err = datasets.Parse(b.Dataset); err == nil {
			k.instances = b.dataset.Instances()
		}
		k.facts = append(k.facts, "instance")
	}
	if b.Bound {
		k.facts = append(k.facts, "certified_bound_s")
	}
	if b.FAR {
		k.facts = append(k.facts, "far_makespan_s")
	}
	k.newEnvironment = func(i, n int) (environment, error) {
		e := &batch{batchOptions: b, first: i, next: i, stride: n}
		var err error
		e.Scheduler, err = newScheduler(e)
		return e, err
	}
	return k, err
}

// A batch is an environment of own or batch, with the batch of tasks that its episode schedules.
type batch struct {
	*batchOptions
	env.Scheduler
	// Episodes have the instances first, first+stride and so on of a dataset. The next episode has the instance next.
	first, next, stride int
	times               []env.Times      // the tasks that the sampler has drawn
	problem             schedule.Problem // the batch of the episode; set only for a dataset, or if facts need it
}

// draw implements [env.Source] for environments that sample.
func (b *batch) draw(rng *rand.Rand, tasks []env.Times) int {
	b.sampler(rng, tasks)
	b.times = append(b.times[:0], tasks...)
	return len(tasks)
}

func (b *batch) rewind() { b.next = b.first }

func (b *batch) begin(rng *rand.Rand, facts []float64) error {
	write := func(fact float64) {
		facts[0] = fact
		facts = facts[1:]
	}
	if b.dataset == nil {
		b.Reset(rng)
		if b.Bound || b.FAR {
			b.problem = b.drawProblem()
		}
	} else {
		if n := b.dataset.Instances(); n > 0 {
			b.next %= n
		}
		if err := b.load(); err != nil {
			return fmt.Errorf("instance %d of %s: %w", b.next, b.dataset.ID(), err)
		}
		write(float64(b.next))
		b.next += b.stride
	}
	if b.Bound {
		bound, err := bounds.Certified(context.Background(), b.problem)
		if err != nil {
			return err
		}
		write(float64(bound))
	}
	if b.FAR {
		s, err := algo.MustParse("far").Schedule(context.Background(), b.problem)
		if err != nil {
			return err
		}
		write(float64(s.Makespan()))
	}
	return nil
}

// load begins an episode with the dataset's next instance, on an empty GPU.
func (b *batch) load() error {
	in, err := datasets.InstanceOf[task.Batches](b.dataset, b.gpu, b.next)
	if err != nil {
		return err
	}
	if len(in.Lengths) > 1 || len(in.Start) > 0 || in.Arrivals != nil {
		return fmt.Errorf("it has %d batches, %d instances at the start and %d arrivals; environments take one "+
			"batch that is there at time 0, on an empty GPU", len(in.Lengths), len(in.Start), len(in.Arrivals))
	}
	if err := in.Tasks.Validate(b.gpu); err != nil {
		return err
	}
	b.problem = schedule.Problem{GPU: b.gpu, Model: b.model, Tasks: in.Tasks}
	b.Device().Reset()
	return b.Load(env.TimesOf(b.gpu, in.Tasks), 0, nil)
}

// drawProblem returns the problem that was drawn, with the instances on the device at the start.
func (b *batch) drawProblem() schedule.Problem {
	p := schedule.Problem{GPU: b.gpu, Model: b.model, Tasks: make(task.Batch, len(b.times))}
	for i := range p.Tasks {
		p.Tasks[i].Name = fmt.Sprintf("task %d", i)
		for _, size := range b.gpu.Sizes() {
			p.Tasks[i].Set(size, mig.Seconds(b.times[i][size]))
		}
	}
	d, last := b.Device(), -1
	for slice := range int(b.gpu.MemorySlices) {
		here, busyUntil := d.Here(slice)
		if here >= 0 && here != last {
			start := schedule.Existing{Instance: d.Instances()[here], BusyUntil: mig.Seconds(busyUntil)}
			p.Start = append(p.Start, start)
		}
		last = here
	}
	return p
}

func (b *batch) measure(metrics []float64, answers []byte) ([]byte, error) {
	metrics[0] = b.Device().Makespan()
	if !b.Answers {
		return answers, nil
	}
	line, err := external.Answer(b.problem, b.Device().Schedule())
	return append(answers, line...), err
}
