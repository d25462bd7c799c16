package gym

import (
	"math/rand/v2"

	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// A kind makes environments of one kind with the options that the client gave.
type kind struct {
	// facts names the numbers that are known when an episode begins, metrics those that are measured at its end. Names
	// end in the unit.
	facts, metrics []string
	// instances is the number of instances of the dataset; 0 if episodes are drawn or the dataset has no end.
	instances      int
	newEnvironment func(i, n int) (environment, error) // makes environment i of n
}

// An environment reports facts and metrics of its episodes.
type environment interface {
	env.Env
	// Bounds returns bounds of the values of an observation.
	Bounds() []env.Range
	// rewind restarts the instances of a dataset: the next episode has the first one.
	rewind()
	// begin begins an episode and writes its facts.
	begin(rng *rand.Rand, facts []float64) error
	// measure writes the metrics of an episode that is done. It returns answers with the line of the episode appended,
	// or answers itself if the client asked for none.
	measure(metrics []float64, answers []byte) ([]byte, error)
}

// openKind returns the kind of a name with options, which are a JSON object.
func openKind(name string, options []byte) (kind, error) {
	switch name {
	case "batch":
		return openBatch(options)
	case "deadline":
		return openDeadline(options)
	case "own":
		return openOwn(options)
	}
	return kind{}, nearest.Unknown("environment", name, []string{"batch", "deadline", "own"})
}

// openDeadline returns the kind whose episodes are days of the deadline report's queue.
func openDeadline(options []byte) (kind, error) {
	o := struct {
		Dataset string `json:"dataset"` // a dataset of the family deadline, with its parameters
		// Instances says that the episodes are the instances of the dataset, as in miglab run, and in the order of
		// batchOptions.Dataset. Otherwise they are drawn.
		Instances bool   `json:"instances"`
		GPU       string `json:"gpu"`
		env.DeadlineOptions
	}{Dataset: "deadline/relaxed", GPU: "A100"}
	if err := strictjson.Line(options, &o); err != nil {
		return kind{}, err
	}
	gpu, err := new(mig.Catalog).Lookup(o.GPU)
	if err != nil {
		return kind{}, err
	}
	fleet, draw, err := datasets.DaySampler(o.Dataset, gpu)
	if err != nil {
		return kind{}, err
	}
	spec, err := datasets.Parse(o.Dataset)
	metrics := []string{"late_percent", "tardiness_min", "energy_wmin", "energy_as_released_wmin"}
	newDay := func(i, n int) (environment, error) {
		d := &day{first: i, next: i}
		source := env.JobSource(draw)
		if o.Instances {
			source = func(*rand.Rand, []task.Job) []task.Job {
				q, _ := datasets.InstanceOf[task.Queue](spec, gpu, d.next) // DaySampler has checked spec and GPU
				d.next += n
				return q.Jobs
			}
		}
		d.Deadline, err = env.NewDeadline(fleet, source, o.DeadlineOptions)
		return d, err
	}
	return kind{metrics: metrics, newEnvironment: newDay}, err
}

// A day is an environment for days of the deadline report's queue.
type day struct {
	*env.Deadline
	first, next int // if episodes are instances of a dataset: the instances of the first and of the next episode
}

func (d *day) rewind() { d.next = d.first }

func (d *day) begin(rng *rand.Rand, _ []float64) error {
	d.Reset(rng)
	return nil
}

func (d *day) measure(metrics []float64, answers []byte) ([]byte, error) {
	r := d.Result()
	copy(metrics, []float64{r.LatePercent(), float64(r.Tardiness), float64(r.Energy), float64(r.EnergyAsReleased)})
	return answers, nil
}
