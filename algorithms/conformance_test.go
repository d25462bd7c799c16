package algorithms

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/algorithms/plan"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

func TestBatchAlgorithms(t *testing.T) {
	suite := algotest.Suite[algo.Problem, schedule.Schedule]{
		Track:      algotest.Batch,
		Problems:   deep.N(250, 2_000),
		Draw:       drawBatch,
		Algorithms: batchAlgorithms,
		Infeasible: infeasible,
	}
	suite.Test(t)
}

// drawBatch draws a batch for one or several GPUs under any model, perhaps with
// release times and with instances that exist at time 0.
func drawBatch(rng *rand.Rand) algo.Problem {
	p := algotest.RandomProblem(rng, 1+rng.IntN(200))
	p.Model = mig.Reconfiguration(rng.IntN(3))
	if rng.IntN(4) == 0 {
		p.Count = 1 + rng.IntN(3)
	}
	if rng.IntN(5) == 0 {
		algotest.AddRelease(&p, rng)
	}
	if rng.IntN(3) == 0 {
		algotest.AddStart(&p, rng)
	}
	return p
}

// batchAlgorithms lists every variant, but FIXPART for a random partition of the GPU,
// lns with few iterations, and treedp where it is quick or, now and then, on several GPUs.
func batchAlgorithms(p algo.Problem, rng *rand.Rand) []string {
	var ids []string
	for _, s := range algo.All(algo.TrackBatch) {
		switch n := len(p.Tasks); {
		case s.Name == "fixpart":
			parts := p.GPU.Partitions()
			ids = append(ids, "fixpart?p="+parts[rng.IntN(len(parts))].String())
		case s.Name == "lns":
			ids = append(ids, "lns?iterations=5")
		case s.Name == "treedp" && n > 10 && n <= plan.MaxTasks*p.GPUs() && (n <= plan.MaxTasks || rng.IntN(40) > 0):
		default:
			ids = append(ids, algotest.VariantsOf(s)...)
		}
	}
	return ids
}

// infeasible reports whether an algorithm may refuse a batch: treedp if there are too many tasks, some never, and others
// if some task fits no instance of the partition that they use, or of each partition that they may use. An algorithm
// that is not listed may refuse if a task does not fit every size of the GPU.
func infeasible(a algo.Algorithm, p algo.Problem) bool {
	parts := p.GPU.Partitions()
	switch a.Spec.Name {
	case "treedp":
		return len(p.Tasks) > plan.MaxTasks*p.GPUs()
	case "fixpart":
		parts = slices.DeleteFunc(slices.Clone(parts), func(part mig.Partition) bool { return part.String() != a.Args["p"] })
	case "nomig", "nopart", "miso-stream", "miso-oracle":
		parts = parts[:1]
	case "optsta":
		if a.Args["p"] != bestPartition {
			parts = slices.DeleteFunc(slices.Clone(parts), func(part mig.Partition) bool { return part.String() != a.Args["p"] })
		}
	case "fixpartbest":
	case "far", "far-concat", "flow-stream", "lns", "lns-stream", "miso", "miso-online":
		return false
	default:
		return slices.ContainsFunc(p.GPU.Sizes(), func(size mig.Slices) bool {
			return slices.ContainsFunc(p.Tasks, func(t task.Task) bool { return !t.Fits(size) })
		})
	}
	for _, part := range parts {
		if fitsAll(p, part) {
			return false
		}
	}
	return true
}

// infeasibleStream is infeasible for the tasks of a stream.
func infeasibleStream(a algo.Algorithm, p algotest.StreamProblem) bool {
	return infeasible(a, p.Problem)
}

// fitsAll reports whether every task fits some instance of a partition.
func fitsAll(p algo.Problem, part mig.Partition) bool {
	for _, t := range p.Tasks {
		if !slices.ContainsFunc(part, func(in mig.Instance) bool { return t.Fits(in.Size()) }) {
			return false
		}
	}
	return true
}

func TestStreamAlgorithms(t *testing.T) {
	suite := algotest.Suite[algotest.StreamProblem, schedule.Schedule]{
		Track:      algotest.Stream,
		Problems:   deep.N(40, 200),
		Draw:       drawStream,
		Algorithms: streamAlgorithms,
		Infeasible: infeasibleStream,
	}
	suite.Test(t)
}

func drawStream(rng *rand.Rand) algotest.StreamProblem {
	var lengths []int
	n := 0
	for range 1 + rng.IntN(6) {
		k := 1 + rng.IntN(30)
		lengths = append(lengths, k)
		n += k
	}
	p := algotest.RandomProblem(rng, n)
	p.Model = mig.Reconfiguration(rng.IntN(3))
	p.Count = 1 + rng.IntN(2)
	if rng.IntN(3) == 0 {
		algotest.AddRelease(&p, rng)
	}
	p.Restart = mig.Seconds(n % 3) // tasks can be stopped in two of three
	return algotest.StreamProblem{Problem: p, Lengths: lengths}
}

// What happens before a batch is known is the same without that batch and those after it,
// reconfigurations included: no algorithm but optsta, which tries all partitions, looks ahead.
func TestStreamsDoNotLookAhead(t *testing.T) {
	ahead, seeds := 0, deep.N(15, 60)
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 17))
		p := drawStream(rng)
		if len(p.Lengths) == 1 {
			continue
		}
		p.Release = nil
		at, first := mig.Seconds(0), len(p.Tasks)-p.Lengths[len(p.Lengths)-1]
		for _, n := range p.Lengths {
			at += mig.Seconds(rng.ExpFloat64() * 20)
			p.Release = append(p.Release, slices.Repeat([]mig.Seconds{at}, n)...)
		}
		shorter := p
		shorter.Tasks, shorter.Release, shorter.Lengths = p.Tasks[:first], p.Release[:first], p.Lengths[:len(p.Lengths)-1]
		for _, id := range streamAlgorithms(p, rng) {
			a := algo.MustParse(id)
			if a.Spec.Name == "optsta" || infeasibleStream(a, p) {
				continue
			}
			whole, err := algotest.ScheduleStream(context.Background(), a, p.Problem, p.Lengths)
			if err == nil {
				err = algotest.Stream.Check(p, whole)
			}
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, id, err)
			}
			part, err := algotest.ScheduleStream(context.Background(), a, shorter.Problem, shorter.Lengths)
			if err != nil {
				t.Fatal(err)
			}
			begun := func(s schedule.Schedule) []schedule.Bar {
				bars := slices.DeleteFunc(schedule.Bars(p.Problem, s), func(b schedule.Bar) bool { return b.Start >= at })
				for i := range bars {
					bars[i].End = min(bars[i].End, at) // a task may be stopped then
				}
				return bars
			}
			got, want := begun(whole), begun(part)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s: before %v s it does\n%v\nand without the last batch\n%v", seed, id, at, got, want)
			} else if len(got) > 0 {
				ahead++
			}
		}
	}
	if ahead < seeds*2/3 {
		t.Errorf("only %d schedules begin anything before their last batch is known", ahead)
	}
}

// streamAlgorithms lists every variant, but far-concat with all combinations of its mode and its
// first batch, flow-stream with few steps, and lns-stream with few iterations where its treedp is
// quick or for a few others on one GPU.
func streamAlgorithms(p algotest.StreamProblem, rng *rand.Rand) []string {
	var ids []string
	for _, s := range algo.All(algo.TrackStream) {
		switch s.Name {
		case "far-concat":
			for _, mode := range []string{"trivial", "reverse", "move", "moveswap"} {
				for _, first := range []string{"forward", "reversed"} {
					ids = append(ids, "far-concat?mode="+mode+"&first="+first)
				}
			}
		case "lns-stream":
			if slices.Max(p.Lengths) <= 10 || slices.Min(p.Lengths) > plan.MaxTasks || rng.IntN(40) == 0 && p.Count == 1 {
				ids = append(ids, "lns-stream?iterations=5")
			}
		case "flow-stream":
			ids = append(ids, "flow-stream?steps=2")
		default:
			ids = append(ids, algotest.VariantsOf(s)...)
		}
	}
	return ids
}

// goldenCases are reference cases on some GPUs. In these FAR moves and swaps, and areas
// tie.
var goldenCases = []struct {
	name  string
	gpus  int
	model mig.Reconfiguration
}{
	{"a100-01", 1, mig.Sequential},
	{"a100-07", 1, mig.Sequential},
	{"a100-07", 2, mig.Parallel},
	{"h100-52", 1, mig.Parallel},
	{"a30-36", 1, mig.Sequential},
}

func TestAnswersChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, spec := range slices.Concat(algo.All(algo.TrackBatch), algo.All(algo.TrackStream)) {
		answers = append(answers, algotest.Answer{Key: algotest.GoldenName(spec.Name, spec), Text: golden(t, spec)})
	}
	algotest.Golden(t, "testdata/golden", answers)
}

// golden returns what an algorithm's variants answer to all cases; FIXPART also with a
// partition that has several sizes.
func golden(t *testing.T, spec algo.Spec) string {
	t.Helper()
	reference := map[string]referenceCase{}
	for _, c := range referenceCases(t) {
		reference[c.Name] = c
	}
	var b strings.Builder
	for _, c := range goldenCases {
		r, ok := reference[c.name]
		if !ok {
			t.Fatalf("there is no reference case %s", c.name)
		}
		p := r.problem(c.model)
		p.Count, p.Restart = c.gpus, 1
		ids := algotest.VariantsOf(spec)
		if spec.Name == "fixpart" {
			ids = append(ids, "fixpart?p="+p.GPU.Partitions()[2].String())
		}
		for _, id := range ids {
			s, err := answer(algo.MustParse(id), p)
			fmt.Fprintf(&b, "# %s: %s on %d x %s, %s\n%s\n", c.name, id, p.GPUs(), p.GPU, c.model, algotest.ScheduleText(p, s, err))
		}
	}
	return b.String()
}

// answer runs an algorithm on a batch, or on a stream of three batches of the tasks.
func answer(a algo.Algorithm, p algo.Problem) (schedule.Schedule, error) {
	if a.Spec.Track == algo.TrackBatch {
		return algotest.Batch.Run(context.Background(), a, p)
	}
	n := len(p.Tasks)
	lengths := []int{n / 2, n / 4, n - n/2 - n/4}
	return algotest.Stream.Run(context.Background(), a, algotest.StreamProblem{Problem: p, Lengths: lengths})
}
