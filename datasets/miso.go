package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

const (
	misoA100 = "miso-a100" // 32 training jobs on A100 (MISO, SoCC 2022)
	// misoJobs is the index of the stream of 100 jobs in the manifest's traces.
	misoJobs = 1
	// misoFast is the part of a stream that arrives at half the gap, as in the script run.py of MISO.
	misoFast = 3
)

// A misoJob is a row of miso-jobs.csv.
type misoJob struct {
	Kernel      string  `csv:"kernel"`
	Trace       float64 `csv:"trace_s"`
	Exponential float64 `csv:"exponential_s"`
}

var (
	misoPublished = sync.OnceValue(func() []misoJob {
		return embedded[misoJob](files, readManifest().Traces[misoJobs].Path)
	})
	misoDurations = choice("durations", "of the published jobs on the whole GPU: from a trace, or exponential",
		"trace", "exponential")

	_ = Register(Family{
		Name: "miso/jobs", Source: publishedIn(misoA100),
		Doc: "training jobs that were measured on A100-40GB, drawn from 32, each with the duration of one of MISO's " +
			"100 jobs",
		Params: []spec.Param{
			whole("n", 14, 1, maxCount, "jobs in a batch"), misoDurations, seedParam("seed", "of the random stream"),
		},
		New: func(_ string, a spec.Args) (Dataset, error) { return misoBatch{newMISO(a), a.Int("n")}, nil },
	})
	_ = Register(Family{
		Name: "miso/stream", Source: publishedIn(misoA100),
		Doc: "MISO's 100 training jobs, which were measured on A100-40GB, in a random order; the published run has 8 GPUs",
		Params: []spec.Param{
			whole("gap", 60, 1, maxCount, "seconds from one job to the next on average, by a Poisson distribution"),
			choice("first", "the first third of the jobs arrives at half the gap, as published, or like the others",
				"half", "flat"),
			number("restart", 30, 0, 1e6,
				"seconds that a stopped job stands still before it goes on, on any instance; 0: no job can be stopped"),
			misoDurations, seedParam("seed", "of the random stream"),
		},
		New: func(_ string, a spec.Args) (Dataset, error) {
			return misoStream{newMISO(a), a.Float("gap"), a["first"] == "half", mig.Seconds(a.Float("restart"))}, nil
		},
	})
)

// miso has MISO's training jobs.
type miso struct {
	exponential bool
	seed        uint64
}

func newMISO(a spec.Args) miso { return miso{a["durations"] == "exponential", a.Uint("seed")} }

func (miso) Instances() int { return 0 }

func (m miso) seconds(j misoJob) float64 {
	if m.exponential {
		return j.Exponential
	}
	return j.Trace
}

// kernels returns the measured jobs in the order of the table.
func (miso) kernels(dataset string, g *mig.GPU) (task.Batch, error) {
	rows := tables()[misoA100]
	if measured := rows[0].GPU; g.Name != measured {
		return nil, &UnmeasuredError{dataset, g.Name, []string{measured}}
	}
	return batch(rows), nil
}

// training returns a job that trains for some seconds on the whole GPU. On the other sizes it takes longer as its
// iterations do.
func training(number int, kernel task.Task, seconds float64, g *mig.GPU) task.Task {
	out := task.Task{Name: fmt.Sprintf("%03d-%s", number+1, kernel.Name)}
	for _, size := range g.Sizes() {
		out.Set(size, mig.Seconds(seconds)*(kernel.On(size)/kernel.On(g.ComputeSlices)))
	}
	return out
}

// misoBatch draws n jobs. The measured job and the duration are drawn apart.
type misoBatch struct {
	miso
	n int
}

func (m misoBatch) Instance(g *mig.GPU, index int) (task.Payload, error) {
	all, err := m.kernels("miso/jobs", g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(pcg("workload=miso/jobs", m.seed, g, index))
	var out task.Batch
	for i := range m.n {
		kernel, j := all[rng.IntN(len(all))], misoPublished()[rng.IntN(len(misoPublished()))]
		out = append(out, training(i, kernel, m.seconds(j), g))
	}
	return task.OneBatch(out), nil
}

// misoStream lets the published jobs arrive one by one.
type misoStream struct {
	miso
	gap       float64
	firstHalf bool
	restart   mig.Seconds
}

func (misoStream) regime() task.Regime { return task.Timed }

func (m misoStream) Instance(g *mig.GPU, index int) (task.Payload, error) {
	all, err := m.kernels("miso/stream", g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(pcg("workload=miso/stream", m.seed, g, index))
	out := task.Batches{Restart: m.restart}
	at := 0
	for i, k := range rng.Perm(len(misoPublished())) {
		gap := m.gap
		if m.firstHalf && i <= len(misoPublished())/misoFast {
			gap /= 2
		}
		// The arrivals of a Poisson process within the gap have a Poisson distribution.
		for left := rng.ExpFloat64(); left < gap; left += rng.ExpFloat64() {
			at++
		}
		j := misoPublished()[k]
		kernel := slices.IndexFunc(all, func(t task.Task) bool { return t.Name == j.Kernel })
		out.Tasks = append(out.Tasks, training(k, all[kernel], m.seconds(j), g))
		out.Lengths = append(out.Lengths, 1)
		out.Arrivals = append(out.Arrivals, mig.Seconds(at))
	}
	return out, nil
}
