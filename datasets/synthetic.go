package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// maxCount limits the tasks of a batch and the batches of a stream.
const maxCount = 1_000_000

// synthetic is a workload with its parameters. It describes an endless sequence of batches. Instance i has the batches
// i to i+batches-1, so that consecutive instances overlap: 1001 batches make the 1000 concatenations of FAR 6.7.1.
//
// With repeat=2 each batch comes with a copy of itself. The script concat_test of the released
// code, which made FAR Tables 7 and 8, joins such copies; the paper joins different batches.
//
// With a total, instance i has that many tasks, cut into batches of n; the last batch may have fewer (DRL 5.1.3). The
// tasks are the same as with n=total. With a part, the instance has only this batch.
type synthetic struct {
	workload
	id string
	// n is the number of tasks in a batch, and psup is the percentage of memory-bound tasks.
	n, psup     int
	generator   *generator
	leave       float64 // replaces the generator's own probability
	inClasses   bool    // leaves the tasks in the order of their classes
	start       string  // emptyStart or busyStart
	batches     int
	repeat      int // the number of consecutive copies of each batch
	total, part int // total is 0 if the tasks are not cut, and part is 0 if the instance has all parts
	// key and seed determine the random stream of the batches.
	key  string
	seed uint64
	rho  float64 // the load of a Poisson process of arrivals; 0 if all tasks arrive at time 0
}

func (w workload) params() []spec.Param {
	out := []spec.Param{
		whole("n", w.Tasks, 1, maxCount, "tasks in a batch"),
		whole("psup", w.MemoryBound, 0, 100, "percentage of memory-bound tasks"),
		choice("gen", "reading of FAR 6.3", nearest.Names(generators, (*generator).String)...),
		{
			Name: "leave", Type: spec.Number(0, 1),
			Doc:         "probability with which memory-bound tasks become compute-bound; that of gen",
			DefaultFrom: func(a spec.Args) string { return spec.FormatFloat(findGenerator(a["gen"]).leave) },
		},
		seedParam("seed", "of the random stream"),
		whole("batches", 1, 1, maxCount, "consecutive batches in an instance"),
		whole("repeat", 1, 1, maxCount, "how often each batch comes, one copy after the other"),
		{Name: "total", Type: spec.Whole(1, maxCount), Doc: "tasks in an instance, cut in batches of n"},
		{
			Name: "rho", Type: spec.Number(0.01, 100),
			Doc: "the tasks arrive by a Poisson process that brings rho times the work that one GPU can do, each " +
				"task on the size where it needs the fewest slice seconds; n=1 lets each be scheduled when it arrives",
		},
		{Name: "part", Type: spec.Whole(1, maxCount), Doc: "the batch of a total that is there by itself, from 1"},
		choice("start", "the GPU at time 0: empty, or a random partition that is busy", emptyStart, busyStart),
	}
	if !w.picks() {
		out = append(out, choice("order", "order of the tasks: shuffled, or class by class", shuffledOrder, classOrder))
	}
	return out
}

// The values of the parameters start and order.
const (
	emptyStart = "empty"
	busyStart  = "busy" // the start of the released evaluation, see [inUse]

	// classOrder is the order in create_dataset.py of the DRL paper's public code: by ascending size
	// up to which tasks scale, and within a class the memory-bound tasks first. Batches of n then
	// hold tasks of one or two classes. The draws are the same as for shuffledOrder.
	classOrder    = "classes"
	shuffledOrder = "shuffled"
)

func (w workload) dataset(id string, a spec.Args) (Dataset, error) {
	s := synthetic{
		workload: w, id: id, n: a.Int("n"), psup: a.Int("psup"), generator: findGenerator(a["gen"]),
		leave:     a.Float("leave"),
		inClasses: a["order"] == classOrder, start: a["start"],
		batches: a.Int("batches"), repeat: a.Int("repeat"), total: a.Int("total"), part: a.Int("part"),
		seed: a.Uint("seed"),
	}
	if a["rho"] != "" {
		s.rho = a.Float("rho")
	}
	drawn := spec.Args{"n": strconv.Itoa(s.tasksDrawn()), "psup": a["psup"], "gen": a["gen"], "leave": a["leave"]}
	s.key = streamKey("workload="+w.Name, drawn, "n", "psup", "gen", "leave")
	switch {
	case s.total == 0 && s.part != 0:
		return nil, refuse(a, "part", "a part only with total")
	case s.total == 0:
		return s, nil
	case s.batches != 1:
		return nil, refuse(a, "batches", "either batches or total")
	case s.repeat != 1:
		return nil, refuse(a, "repeat", "either repeat or total")
	}
	return s, checkPart(a, len(cut(s.total, s.n)))
}

// checkPart returns an error if the parameter part exceeds the number of parts.
func checkPart(a spec.Args, parts int) error {
	if a.Int("part") > parts {
		return refuse(a, "part", fmt.Sprintf("a whole number from 1 to %d", parts))
	}
	return nil
}

// cut returns the lengths of the batches of n into which tasks are cut. The last batch has the rest.
func cut(tasks, n int) []int {
	lengths := slices.Repeat([]int{n}, tasks/n)
	if tasks%n > 0 {
		lengths = append(lengths, tasks%n)
	}
	return lengths
}

// cutBatches returns tasks cut into batches of n, or only the batch part, counted from 1.
func cutBatches(b task.Batch, n, part int) task.Batches {
	if part > 0 {
		return task.OneBatch(b[(part-1)*n : min(part*n, len(b))])
	}
	return task.Batches{Tasks: b, Lengths: cut(len(b), n)}
}

func (s synthetic) Instances() int { return 0 }

func (s synthetic) regime() task.Regime {
	if s.rho > 0 {
		return task.Timed
	}
	return task.Whole
}

func (s synthetic) Instance(g *mig.GPU, index int) (task.Payload, error) {
	n := s.tasksDrawn()
	drawn := make([]times, n)
	count := s.batches * s.repeat
	out := task.Batches{Tasks: make(task.Batch, n*count), Lengths: slices.Repeat([]int{n}, count)}
	for i := range count {
		number, copied := index+i/s.repeat, i%s.repeat
		if copied == 0 {
			if err := fill(&s, rand.New(s.stream(g, number)), g, drawn); err != nil {
				return nil, err
			}
		}
		batch := out.Tasks[i*n : (i+1)*n]
		for k := range batch {
			for _, size := range g.Sizes() {
				batch[k].Set(size, mig.Seconds(drawn[k][size]))
			}
		}
		setNames(batch, s.prefix(number, copied))
	}
	if s.total != 0 {
		out = cutBatches(out.Tasks, s.n, s.part)
	}
	if s.rho > 0 {
		out.Arrivals = poisson(out.Tasks, g, s.rho, rand.New(pcg("arrivals="+s.Name, s.seed, g, index)))
	}
	if s.start == busyStart {
		out.Start = inUse(g, rand.New(pcg("start="+s.Name, s.seed, g, index)))
	}
	return out, nil
}

// poisson draws the arrival times of tasks, a Poisson process. The mean time between two arrivals is the tasks' mean
// work ([task.Task.Work]) over rho times the compute slices of one GPU.
func poisson(b task.Batch, g *mig.GPU, rho float64, rng *rand.Rand) []mig.Seconds {
	work := 0.0
	for i := range b {
		work += b[i].Work(g.Sizes())
	}
	apart := work / float64(len(b)) / (rho * float64(g.ComputeSlices))
	out := make([]mig.Seconds, len(b))
	at := 0.0
	for i := range out {
		at += float64(apart * portable.Exponential(rng))
		out[i] = mig.Seconds(at)
	}
	return out
}

// longestBusy is the longest busy time of [inUse], in seconds.
const longestBusy = 14

// inUse draws the start of the DRL paper's released evaluation: one of the useful partitions, each equally likely,
// with each instance busy for a whole number from 0 to longestBusy. The released environment draws these numbers as
// levels of time of about 7 s each, but its compute_makespan adds them to seconds, so that they count as seconds.
func inUse(g *mig.GPU, rng *rand.Rand) []task.Existing {
	all := g.Useful()
	partition := all[rng.IntN(len(all))]
	out := make([]task.Existing, len(partition))
	for i, in := range partition {
		out[i] = task.Existing{Instance: in, BusyUntil: mig.Seconds(rng.IntN(longestBusy + 1))}
	}
	return out
}

// prefix returns the beginning of the names of the tasks in a copy of a batch, from 0; "" if the instance has one
// batch. index is the position of the batch in the endless sequence, so that its tasks have the same names in every
// instance.
func (s *synthetic) prefix(index, copied int) string {
	switch {
	case copied > 0:
		return fmt.Sprintf("b%04d.%d-", index+1, copied+1)
	case s.batches > 1 || s.repeat > 1:
		return fmt.Sprintf("b%04d-", index+1)
	}
	return ""
}

// tasksDrawn returns the number of tasks of a batch before it is cut.
func (s *synthetic) tasksDrawn() int {
	if s.total != 0 {
		return s.total
	}
	return s.n
}

// stream returns the random stream of a batch. The number of batches in an instance does not change it.
func (s *synthetic) stream(g *mig.GPU, index int) *rand.PCG { return pcg(s.key, s.seed, g, index) }

// setNames names the tasks t01, t02, ... after the prefix, in order of arrival.
// The names share one string, so that a batch costs one allocation.
func setNames(batch task.Batch, prefix string) {
	digits := max(2, len(strconv.Itoa(len(batch))))
	length := len(prefix) + 1 + digits
	text := make([]byte, 0, length*len(batch))
	number := make([]byte, 0, 8)
	for i := range batch {
		text = append(append(text, prefix...), 't')
		number = strconv.AppendInt(number[:0], int64(i)+1, 10)
		text = append(text, "0000000"[:digits-len(number)]...) // maxCount has 7 digits
		text = append(text, number...)
	}
	all := string(text)
	for i := range batch {
		batch[i].Name = all[i*length : (i+1)*length]
	}
}
