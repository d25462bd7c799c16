package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// misoA100 is the table with the times of MISO's 32 kinds of training jobs (SoCC 2022).
const misoA100 = "miso-a100"

// A misoJob is one of MISO's 100 jobs: a row of miso-jobs.csv. Kernel names its kind. The duration, on the whole GPU,
// is from a trace; the exponential one of the source is not used.
type misoJob struct {
	Kernel      string      `csv:"kernel"`
	Trace       mig.Seconds `csv:"trace_s"`
	Exponential mig.Seconds `csv:"exponential_s"`
}

var (
	misoJobs = sync.OnceValue(func() []misoJob {
		return strictcsv.Embedded[misoJob](files, readManifest().Traces[1].Path)
	})

	_ = Register(Family{
		Name: "miso/jobs", Source: sourceOf(misoA100),
		Doc: "training jobs that were measured on A100-40GB, drawn from 32, each with the duration of one of MISO's " +
			"100 jobs",
		Params: []spec.Param{
			whole("n", 14, 1, maxCount, "jobs in a batch"), seedParam("seed", "of the random stream"),
		},
		New: func(_ string, a spec.Args) (Dataset, error) {
			return misoBatch{newMISO("miso/jobs", a), a.Int("n")}, nil
		},
	})
	_ = Register(Family{
		Name: "miso/stream", Source: sourceOf(misoA100),
		Doc: "MISO's 100 training jobs, which were measured on A100-40GB, in a random order; the published run " +
			"has 8 GPUs",
		Params: []spec.Param{
			whole("gap", 60, 1, maxCount,
				"mean seconds from one job to the next, by a Poisson distribution; half of it for the first third"),
			number("restart", 30, 0, 1e6,
				"seconds that a stopped job stands still before it goes on, on any instance; 0: no job can be stopped"),
			seedParam("seed", "of the random stream"),
		},
		New: func(_ string, a spec.Args) (Dataset, error) {
			return misoStream{newMISO("miso/stream", a), a.Float("gap"), mig.Seconds(a.Float("restart"))}, nil
		},
	})
)

// miso has the parameters of both families.
type miso struct {
	name string
	seed uint64
}

func newMISO(name string, a spec.Args) miso {
	return miso{name: name, seed: a.Uint("seed")}
}

func (miso) Instances() int { return 0 }

// open returns the measured kinds of jobs as tasks, and the random stream of an instance.
func (m miso) open(g *mig.GPU, index int) (task.Batch, *rand.Rand, error) {
	rows := tables()[misoA100]
	if g.Board() != rows[0].GPU {
		return nil, nil, &UnmeasuredError{Dataset: m.name, GPU: g.Name, Measured: []string{rows[0].GPU}}
	}
	return batch(rows), rand.New(pcg("workload="+m.name, m.seed, g, index)), nil
}

// task returns the task of a number, from 0, with the duration of j on the whole GPU. On smaller instances it takes
// longer in the same ratio as an iteration of kernel.
func (m miso) task(number int, kernel task.Task, j misoJob, g *mig.GPU) task.Task {
	out := task.Task{Name: fmt.Sprintf("%03d-%s", number+1, kernel.Name)}
	for _, size := range g.Sizes() {
		out.Set(size, j.Trace*(kernel.On(size)/kernel.On(g.ComputeSlices)))
	}
	return out
}

// misoBatch draws n jobs: the kind and the duration of each independently.
type misoBatch struct {
	miso
	n int
}

func (m misoBatch) Instance(g *mig.GPU, index int) (task.Payload, error) {
	kernels, rng, err := m.open(g, index)
	if err != nil {
		return nil, err
	}
	var out task.Batch
	for i := range m.n {
		kernel := kernels[rng.IntN(len(kernels))]
		out = append(out, m.task(i, kernel, misoJobs()[rng.IntN(len(misoJobs()))], g))
	}
	return task.OneBatch(out), nil
}

// misoStream lets the published jobs arrive one by one, as the authors' script run.py does.
type misoStream struct {
	miso
	gap     float64     // the mean time between two jobs, in seconds; half of it for the first third of the jobs
	restart mig.Seconds // the time for which a stopped job stands still; with 0 no job can be stopped
}

func (misoStream) regime() task.Regime { return task.Timed }

func (m misoStream) Instance(g *mig.GPU, index int) (task.Payload, error) {
	kernels, rng, err := m.open(g, index)
	if err != nil {
		return nil, err
	}
	out := task.Batches{Restart: m.restart, Lengths: slices.Repeat([]int{1}, len(misoJobs()))}
	at := 0 // seconds
	for i, k := range rng.Perm(len(misoJobs())) {
		gap := m.gap
		if i <= len(misoJobs())/3 {
			gap /= 2
		}
		// The arrivals of a Poisson process within the gap have a Poisson distribution.
		for left := portable.Exponential(rng); left < gap; left += portable.Exponential(rng) {
			at++
		}
		kernel := slices.IndexFunc(kernels, func(t task.Task) bool { return t.Name == misoJobs()[k].Kernel })
		out.Tasks = append(out.Tasks, m.task(k, kernels[kernel], misoJobs()[k], g))
		out.Arrivals = append(out.Arrivals, mig.Seconds(at))
	}
	return out, nil
}
