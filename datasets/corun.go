package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/sim/corun"
	"miglab/harness/spec"
	"miglab/harness/task"
)

const corunPrefix = "corun/"

// A corunSet is a family of datasets of the co-run track.
type corunSet struct {
	name, doc string
	instances int                                                    // 0 means that there is no limit
	programs  func(s *windows, g *mig.GPU, index int) []task.Program // returns the jobs of an instance
	params    []spec.Param                                           // without [corunParams], which every family has
}

const (
	seenName    = "seen"
	unseenName  = "unseen"
	paperWindow = 12 // W, the number of jobs in a window of the paper
)

// categories are the categories of the paper's queues, named after the dominant class.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

func corunSets() []*corunSet {
	seed := seedParam("seed", "of the random stream")
	draw := seedParam("draw", "of the programs without public times")
	window := whole("w", paperWindow, 1, maxWindow, "number of jobs")
	windowOfAllClasses := whole("w", paperWindow, len(task.Classes()), maxWindow, "number of jobs")
	programs := spec.Names("program", "programs of Table IV, joined by +, as in lavaMD+stream", "+", func() []string {
		return nearest.Names(table4(), func(p tableProgram) string { return p.Name })
	})
	jobs := spec.Param{Name: "jobs", Example: "lavaMD+stream", Type: programs, Doc: "programs of Table IV"}
	out := []*corunSet{{
		name: "queues", doc: "the paper's queues (Table V), instance i being Q(i+1)", instances: len(table5()),
		programs: (*windows).queue, params: []spec.Param{draw},
	}}
	for _, drawn := range []struct{ name, doc string }{
		{categories[0], "half CI programs of Table IV, the rest MI and US in turn"},
		{categories[1], "half MI programs of Table IV, the rest CI and US in turn"},
		{categories[2], "half US programs of Table IV, the rest CI and MI in turn"},
		{categories[3], "CI, MI and US programs of Table IV in turn"},
		{seenName, "CI, MI and US programs in turn, of Table IV's seen ones"},
		{unseenName, "CI, MI and US programs in turn, of Table IV's unseen ones"},
	} {
		out = append(out, &corunSet{
			name: drawn.name, doc: drawn.doc, programs: (*windows).drawQueue, params: []spec.Param{window, seed, draw},
		})
	}
	out = append(out,
		&corunSet{
			name: "training", doc: "20 queues of Table IV's seen programs, with all three classes", instances: 20,
			programs: (*windows).training, params: []spec.Param{windowOfAllClasses, seed, draw},
		},
		&corunSet{
			name: "drawn", doc: "new programs drawn from the classes, in the four categories by turns",
			programs: (*windows).drawNew, params: []spec.Param{window, seed},
		},
		&corunSet{
			name: "mix", doc: "the programs of Table IV that jobs names", instances: 1,
			programs: (*windows).namedPrograms, params: []spec.Param{jobs, draw},
		},
	)
	return out
}

var _ = registerAll(corunSets(), func(c *corunSet) Family {
	return Family{
		Name: corunPrefix + c.name, Doc: c.doc,
		Source: "hierarchical paper V-A2; programs fitted on public times or drawn",
		Params: slices.Concat(c.params, corunParams),
		New: func(id string, a spec.Args) (Dataset, error) {
			if strings.Count(a["jobs"], "+") >= maxWindow {
				return nil, refuse(a, "jobs", fmt.Sprintf("at most %d programs", maxWindow))
			}
			return windows{
				corunSet: c, corunSetting: newCorunSetting(a), id: id, w: a.Int("w"), jobs: a["jobs"],
				draw: a.Uint("draw"), seed: a.Uint("seed"),
			}, nil
		},
	}
})

const maxWindow = 1000

// A corunSetting holds the conditions under which the jobs of a window run.
type corunSetting struct {
	concurrency int // Cmax, the largest number of jobs in a group
	model       corun.Model
}

// Kappa and Delta are the defaults of [corun.Model], which are ours. With them, the ways to share a GPU rank as follows
// by their mean optimum over many drawn queues: MIG+MPS, MPS only, MIG+MPS default, MIG only.
const (
	Kappa = 0.25
	Delta = 0.3
)

// corunParams declares the parameters of a [corunSetting]. The default of Cmax is the paper's.
var corunParams = []spec.Param{
	choice("release", "jobs that still run get the shares of those that have ended", "false", "true"),
	whole("cmax", 4, 1, corun.MaxConcurrency, "most jobs in a group"),
	number("kappa", Kappa, 0, 1000, "how much jobs that share memory slow each other"),
	number("delta", Delta, 0, 1000, "what MPS without percentages costs"),
}

func newCorunSetting(a spec.Args) corunSetting {
	return corunSetting{
		concurrency: a.Int("cmax"),
		model:       corun.Model{Kappa: a.Float("kappa"), Delta: a.Float("delta"), Release: a["release"] == "true"},
	}
}

// instance returns the window of jobs under the conditions.
func (s *corunSetting) instance(jobs []task.Program) corun.Window {
	return corun.Window{Jobs: jobs, Concurrency: s.concurrency, Model: s.model}
}

// windows is a dataset of queues of programs (hierarchical paper V-A2). Datasets that differ in Cmax or the model have
// the same jobs. A shorter random queue has the first jobs of each class of a longer one, except in corun/training.
type windows struct {
	*corunSet
	corunSetting
	id   string
	w    int    // the number of jobs
	jobs string // the chosen programs, joined by "+"
	// draw is the seed of the programs that are not fitted, and seed is the seed of the choice of programs.
	draw, seed uint64
}

func (s windows) Instances() int { return s.instances }

func (s windows) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkA100(s.id, g); err != nil {
		return nil, err
	}
	return s.instance(s.programs(&s, g, index)), nil
}

// queue returns a queue of Table V; row 0 is Q1.
func (s *windows) queue(_ *mig.GPU, row int) []task.Program {
	return findPrograms(table5()[row], s.draw)
}

// namedPrograms returns the programs of the parameter jobs.
func (s *windows) namedPrograms(*mig.GPU, int) []task.Program {
	return findPrograms(strings.Split(s.jobs, "+"), s.draw)
}

// stream returns the random stream of a class in an instance. It does not depend on w.
func (s *windows) stream(class task.Class, g *mig.GPU, index int) *rand.PCG {
	return pcg("workload="+corunPrefix+s.name+"\nclass="+string(class), s.seed, g, index)
}

// drawQueue draws a queue of a category from Table IV, or from its seen or unseen programs, in
// the order of the classes.
func (s *windows) drawQueue(g *mig.GPU, index int) []task.Program {
	all := slices.DeleteFunc(programs(s.draw), func(p task.Program) bool {
		return p.Unseen && s.name == seenName || !p.Unseen && s.name == unseenName
	})
	counts := categoryCounts(s.name, s.w)
	var out []task.Program
	for i, class := range task.Classes() {
		ofClass := slices.DeleteFunc(slices.Clone(all), func(p task.Program) bool { return p.Class != class })
		out = append(out, sample(rand.New(s.stream(class, g, index)), ofClass, counts[i])...)
	}
	return out
}

// sample draws n programs from a list, which it shuffles. It draws each program once before it draws any again.
func sample(rng *rand.Rand, list []task.Program, n int) []task.Program {
	var out []task.Program
	for len(out) < n {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		out = append(out, list[:min(n-len(out), len(list))]...)
	}
	return out
}

// categoryCounts returns the number of jobs of each class in a window of w jobs of a category. The dominant class has
// half of the jobs, rounded up, and the other classes take turns. Without a dominant class all three take turns.
func categoryCounts(category string, w int) [3]int {
	var n [3]int
	turn := []int{0, 1, 2}
	dominant := slices.Index(categories[:3], category)
	if dominant >= 0 {
		n[dominant] = (w + 1) / 2
		turn = slices.Delete(turn, dominant, dominant+1)
		w /= 2
	}
	for k := range w {
		n[turn[k%len(turn)]]++
	}
	return n
}

// training draws seen programs until a draw has all classes.
func (s *windows) training(g *mig.GPU, index int) []task.Program {
	rng := rand.New(s.stream("", g, index))
	seen := slices.DeleteFunc(programs(s.draw), func(p task.Program) bool { return p.Unseen })
	for {
		jobs := sample(rng, seen, s.w)
		classes := map[task.Class]bool{}
		for i := range jobs {
			classes[jobs[i].Class] = true
		}
		if len(classes) == len(task.Classes()) {
			return jobs
		}
	}
}

// drawNew draws new programs. The categories take turns from instance to instance.
func (s *windows) drawNew(g *mig.GPU, index int) []task.Program {
	counts := categoryCounts(categories[index%len(categories)], s.w)
	var out []task.Program
	for i, class := range task.Classes() {
		rng := rand.New(s.stream(class, g, index))
		for k := range counts[i] {
			p := drawProgram(rng, class)
			p.Name = fmt.Sprintf("%s-%d", strings.ToLower(string(class)), k+1)
			out = append(out, p)
		}
	}
	return out
}

// DrawWindow draws programs for training into jobs. It draws a category at random and then programs of its classes,
// as in corun/drawn. With the probability wide, a program is drawn with [drawWide] instead.
func DrawWindow(rng *rand.Rand, jobs []task.Program, wide float64) {
	counts := categoryCounts(categories[rng.IntN(len(categories))], len(jobs))
	i := 0
	for k, class := range task.Classes() {
		for range counts[k] {
			if rng.Float64() < wide {
				jobs[i] = drawWide(rng, class)
			} else {
				jobs[i] = drawProgram(rng, class)
			}
			i++
		}
	}
}

// AddTo implements [Varied], because instances have different programs of Table IV.
func (s windows) AddTo(d *task.Digest) {
	for _, p := range Programs() {
		p.AddTo(d)
	}
}
