package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A workKind is a family of datasets of work that others measured on MIG instances.
type workKind struct {
	name, doc string
	work      []string // the values of [manifestFile.Work] that the dataset has
}

var workKinds = []workKind{
	{"measured/train", "iterations of training", []string{"train"}},
	{"measured/infer", "requests for inference", []string{"infer"}},
	{
		"measured/all", "iterations of training, requests for inference, and runs of kernels",
		[]string{"train", "infer", "kernels"},
	},
}

// powerFill is the value of the parameter fill that estimates durations that were not measured.
const powerFill = "power"

var _ = registerAll(workKinds, workKind.family)

func (k workKind) family() Family {
	return Family{
		Name: k.name, Source: "the tables of datasets/manifest.json with this kind of work",
		Doc: k.doc + " that others measured, drawn with equal chances; a task repeats one until it has its length",
		Params: []spec.Param{
			whole("n", 14, 1, maxCount, "tasks in a batch"),
			{
				Name: "work", Type: spec.Number(1, 1e6),
				Doc: "seconds of each task on the whole GPU; without it they are lognormal, and their logarithms " +
					"have the mean and the standard deviation of MISO's 100 jobs",
			},
			choice("fill", "a size that was not measured: no task runs there, or the duration lies on a power law "+
				"between the sizes beside it", "none", powerFill),
			whole("batches", 1, 1, maxCount, "batches in an instance"),
			{
				Name: "rho", Type: spec.Number(0.01, 100),
				Doc: "the tasks arrive by a Poisson process that brings rho times the work that one GPU can do",
			},
			seedParam("seed", "of the random stream"),
		},
		New: func(_ string, a spec.Args) (Dataset, error) {
			w := repeatedWork{
				kind: k.name, n: a.Int("n"), batches: a.Int("batches"), fill: a["fill"] == powerFill,
				seed: a.Uint("seed"),
			}
			if a["work"] != "" {
				w.seconds = a.Float("work")
			}
			if a["rho"] != "" {
				w.rho = a.Float("rho")
			}
			return w, nil
		},
	}
}

// repeatedWork draws batches of tasks. Each task repeats a piece of measured work.
type repeatedWork struct {
	kind       string  // the name of a workKind
	n, batches int     // n is the number of tasks in a batch
	seconds    float64 // the length of every task on the whole GPU; 0 draws the lengths
	fill       bool    // estimates durations that were not measured
	rho        float64 // the load of a Poisson process of arrivals; 0 if all tasks arrive at time 0
	seed       uint64
}

func (repeatedWork) Instances() int { return 0 }

func (w repeatedWork) regime() task.Regime {
	if w.rho > 0 {
		return task.Timed
	}
	return task.Whole
}

func (w repeatedWork) assumes() string {
	if w.fill {
		return "durations on sizes that were not measured lie on a power law between the sizes beside them"
	}
	return ""
}

// A Measured is a kernel, an iteration of training or a request for inference that others measured on MIG instances.
type Measured struct {
	task.Task
	// GPU is the board, Table the name in manifest.json, and Work is train, infer or kernels.
	GPU, Table, Work string
	// Unmeasured lists the sizes without a measurement; the task does not fit other sizes that have no time.
	Unmeasured []mig.Slices
}

// MeasuredWork returns all work of the measured/ datasets, in the order of manifest.json.
func MeasuredWork() (out []Measured) {
	for _, f := range readManifest().Files {
		if f.Work == "" {
			continue
		}
		rows := tables()[f.Table]
		for _, t := range batch(rows) {
			out = append(out, Measured{
				Task: t, GPU: rows[0].GPU, Table: f.Table, Work: f.Work, Unmeasured: f.Unmeasured,
			})
		}
	}
	return out
}

// pieces returns the pieces of work of the kind that were measured on a GPU, or an [*UnmeasuredError].
func (w repeatedWork) pieces(g *mig.GPU) (out task.Batch, err error) {
	kind := workKinds[slices.IndexFunc(workKinds, func(k workKind) bool { return k.name == w.kind })]
	var boards []string
	for _, m := range MeasuredWork() {
		if !slices.Contains(kind.work, m.Work) {
			continue
		}
		boards = append(boards, m.GPU)
		if m.GPU != g.Board() {
			continue
		}
		if w.fill {
			interpolate(&m.Task, g.Sizes(), m.Unmeasured)
		}
		out = append(out, m.Task)
	}
	if out == nil {
		slices.Sort(boards)
		return nil, &UnmeasuredError{Dataset: w.kind, GPU: g.Name, Measured: slices.Compact(boards)}
	}
	return out, nil
}

// interpolate sets the durations on unmeasured sizes. Between the two neighbouring sizes, the logarithm of the duration
// is linear in the logarithm of the size. A size stays without a duration
// if it lacks a neighbour or the task does not fit both.
func interpolate(t *task.Task, sizes, unmeasured []mig.Slices) {
	for _, size := range unmeasured {
		i := slices.Index(sizes, size)
		if i <= 0 || i == len(sizes)-1 || !t.Fits(sizes[i-1]) || !t.Fits(sizes[i+1]) {
			continue
		}
		low, high := sizes[i-1], sizes[i+1]
		share := portable.Log(float64(size)/float64(low)) / portable.Log(float64(high)/float64(low))
		t.Set(size, t.On(low)*mig.Seconds(portable.Pow(float64(t.On(high)/t.On(low)), share)))
	}
}

// A logNormal has the mean and the standard deviation of the logarithm of a lognormal number.
type logNormal struct{ mean, deviation float64 }

// jobLengths returns the maximum-likelihood distribution of MISO's 100 durations, in seconds.
var jobLengths = sync.OnceValue(func() logNormal {
	logs := make([]float64, len(misoJobs()))
	for i, j := range misoJobs() {
		logs[i] = portable.Log(float64(j.Trace))
	}
	mean := portable.Sum(logs) / float64(len(logs))
	for i, x := range logs {
		logs[i] = float64((x - mean) * (x - mean))
	}
	return logNormal{mean, math.Sqrt(portable.Sum(logs) / float64(len(logs)))}
})

func (w repeatedWork) Instance(g *mig.GPU, index int) (task.Payload, error) {
	pieces, err := w.pieces(g)
	if err != nil {
		return nil, err
	}
	rng := rand.New(pcg("workload="+w.kind, w.seed, g, index))
	out := task.Batches{Lengths: slices.Repeat([]int{w.n}, w.batches)}
	for i := range w.n * w.batches {
		piece := &pieces[rng.IntN(len(pieces))]
		out.Tasks = append(out.Tasks, w.repeat(piece, i+1, g, rng))
	}
	if w.rho > 0 {
		out.Arrivals = poisson(out.Tasks, g, w.rho, rand.New(pcg("arrivals="+w.kind, w.seed, g, index)))
	}
	return out, nil
}

// repeat returns the task of a number, from 1. It repeats the piece so often that its duration on the whole GPU is
// nearest to the length of a task, and at least once.
func (w repeatedWork) repeat(piece *task.Task, number int, g *mig.GPU, rng *rand.Rand) task.Task {
	seconds := portable.Exp(jobLengths().mean + float64(jobLengths().deviation*portable.Normal(rng)))
	if w.seconds > 0 {
		seconds = w.seconds
	}
	times := max(math.Round(seconds/float64(piece.On(g.ComputeSlices))), 1)
	out := task.Task{Name: fmt.Sprintf("%03d-%s", number, piece.Name)}
	for _, size := range g.Sizes() {
		out.Set(size, piece.On(size)*mig.Seconds(times))
	}
	return out
}
