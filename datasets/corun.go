package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

const corunPrefix = "corun/"

// A corunSet is a kind of dataset of the co-run track.
type corunSet struct {
	name, about string
	// instances is their number; 0 means as many as wanted.
	instances int
	// queue is a row of Table V, from 1; 0 where the jobs come from elsewhere.
	queue int
	// sized sets have the parameter w, random ones seed and chosen ones jobs. Those with
	// fresh programs have none of Table IV, and no parameter draw.
	sized, random, fresh, chosen bool
}

const (
	trainingName = "training"
	seenName     = "seen"
	unseenName   = "unseen"
)

// categories are those of the paper's queues: the class that dominates comes first.
var categories = []string{"ci-dominant", "mi-dominant", "us-dominant", "balanced"}

// corunSets lists the datasets of the co-run track.
var corunSets = sync.OnceValue(func() []corunSet {
	out := []corunSet{
		{name: "queues", about: "the paper's queues (Table V), instance i being Q(i+1)", instances: len(table5)},
		{name: categories[0], about: "half CI programs of Table IV, the rest MI and US in turn", sized: true, random: true},
		{name: categories[1], about: "half MI programs of Table IV, the rest CI and US in turn", sized: true, random: true},
		{name: categories[2], about: "half US programs of Table IV, the rest CI and MI in turn", sized: true, random: true},
		{name: categories[3], about: "CI, MI and US programs of Table IV in turn", sized: true, random: true},
		{name: seenName, about: "CI, MI and US programs in turn, of Table IV's seen ones", sized: true, random: true},
		{name: unseenName, about: "CI, MI and US programs in turn, of Table IV's unseen ones", sized: true, random: true},
		{name: trainingName, about: "20 queues of Table IV's seen programs, with all three classes", sized: true, random: true, instances: 20},
		{name: "drawn", about: "programs drawn anew from the classes, in the four categories by turns", sized: true, random: true, fresh: true},
		{name: "mix", about: "the programs of Table IV that jobs names", chosen: true, instances: 1},
	}
	for i := range table5 {
		q := "Q" + strconv.Itoa(i+1)
		out = append(out, corunSet{name: q, about: "the paper's queue " + q + " (Table V)", instances: 1, queue: i + 1})
	}
	return out
})

// A corunSetting is what schedulers and the model are told besides the jobs.
type corunSetting struct {
	// concurrency is Cmax.
	concurrency int
	model       corun.Model
}

// defaultSetting has the paper's Cmax. Kappa and delta are ours: with them the optimum is, on
// the mean of many drawn queues, best for MIG+MPS, then MPS only, MIG+MPS default and MIG only.
var defaultSetting = corunSetting{concurrency: 4, model: corun.Model{Kappa: 0.25, Delta: 0.3}}

// maxWindow bounds the parameter w.
const maxWindow = 1000

func (s *corunSetting) parameters() []parameter {
	return []parameter{
		count("cmax", &s.concurrency, 1, corun.MaxConcurrency),
		factor("kappa", &s.model.Kappa),
		factor("delta", &s.model.Delta),
		{"release", func(value string) error {
			word := ""
			err := choice("release", &word, "false", "true").set(value)
			s.model.Release = word == "true"
			return err
		}},
	}
}

// differing lists the parameters that are not the default's, as name=value.
func (s *corunSetting) differing() []string {
	var p []string
	d := defaultSetting
	if s.concurrency != d.concurrency {
		p = append(p, "cmax="+strconv.Itoa(s.concurrency))
	}
	if s.model.Kappa != d.model.Kappa {
		p = append(p, "kappa="+formatFloat(s.model.Kappa))
	}
	if s.model.Delta != d.model.Delta {
		p = append(p, "delta="+formatFloat(s.model.Delta))
	}
	if s.model.Release != d.model.Release {
		p = append(p, "release="+strconv.FormatBool(s.model.Release))
	}
	return p
}

// instance returns the window of some jobs.
func (s *corunSetting) instance(jobs []task.Program) corun.Window {
	return corun.Window{Jobs: jobs, Concurrency: s.concurrency, Model: s.model}
}

// windows is a dataset of queues of programs (hierarchical paper V-A2). Datasets that differ
// in Cmax or the model have the same jobs, and a shorter queue has jobs of the longer one, class
// by class.
type windows struct {
	corunSet
	corunSetting
	// w is the number of jobs.
	w int
	// jobs are the chosen programs, joined by "+".
	jobs string
	// draw is the seed of the programs that are not fitted, seed that of their choice.
	draw, seed uint64
}

// paperWindow is the paper's W.
const paperWindow = 12

// parseWindows parses the specs of the co-run track; known is false for others.
func parseWindows(spec string) (s Spec, known bool, err error) {
	if file, ok := strings.CutPrefix(spec, programsPrefix); ok {
		s, err = parseProgramsFile(file)
		return s, true, err
	}
	name, query, hasQuery := strings.Cut(spec, "?")
	for _, set := range corunSets() {
		if corunPrefix+set.name == name {
			var pairs []string
			if hasQuery {
				pairs = strings.Split(query, "&")
			}
			s, err = parseWindow(set, pairs)
			return s, true, err
		}
	}
	return nil, false, nil
}

func parseWindow(set corunSet, pairs []string) (Spec, error) {
	s := windows{corunSet: set, corunSetting: defaultSetting, w: paperWindow, draw: 1, seed: 1}
	known := s.parameters()
	if set.sized {
		least := 1
		if set.name == trainingName {
			least = len(task.Classes())
		}
		known = append(known, count("w", &s.w, least, maxWindow))
	}
	if set.random {
		known = append(known, seed(&s.seed))
	}
	if !set.fresh {
		draw := seed(&s.draw)
		draw.name = "draw"
		known = append(known, draw)
	}
	if set.chosen {
		known = append(known, parameter{"jobs", s.setJobs})
	}
	if err := setParameters(pairs, known); err != nil {
		return nil, err
	}
	if set.chosen && s.jobs == "" {
		return nil, &ParameterError{Name: "jobs", Want: wantJobs}
	}
	return s, nil
}

const wantJobs = "programs of Table IV, joined by +, as in lavaMD+stream"

func (s *windows) setJobs(value string) error {
	names := strings.Split(value, "+")
	if value == "" || len(names) > maxWindow {
		return &ParameterError{"jobs", value, wantJobs}
	}
	_, err := programsNamed(names, s.draw)
	s.jobs = value
	return err
}

// windowNames lists the datasets of the co-run track.
func windowNames() []string {
	out := []string{programsPrefix + "FILE"}
	for _, set := range corunSets() {
		out = append(out, corunPrefix+set.name)
	}
	return out
}

// windowInfos describes the datasets of the co-run track. Of the paper's queues by
// themselves it has the first.
func windowInfos() []Info {
	const setting = "cmax (4), kappa (0.25), delta (0.3), release (false|true)"
	var out []Info
	for _, set := range corunSets() {
		name, summary := corunPrefix+set.name, set.about
		switch {
		case set.queue > 1:
			continue
		case set.queue == 1:
			summary += ", and so on to " + corunPrefix + "Q" + strconv.Itoa(len(table5))
		case set.chosen:
			name += "?jobs=lavaMD+stream"
		}
		summary += "; "
		if set.sized {
			summary += "w (" + strconv.Itoa(paperWindow) + "), "
		}
		if set.random {
			summary += "seed (1), "
		}
		if !set.fresh {
			summary += "draw (1), the seed of the programs without public times, "
		}
		out = append(out, Info{Name: name, Summary: summary + setting, Source: "hierarchical paper V-A2; programs fitted on public times or drawn"})
	}
	return append(out, Info{
		Name:    programsPrefix + "FILE",
		Summary: "the programs of a CSV file with the header name,class,solo_s,serial,compute,memory,parallelism; at the end ?" + setting,
		Source:  "the file",
	})
}

func (s windows) ID() string {
	p := s.differing()
	if s.w != paperWindow {
		p = append(p, "w="+strconv.Itoa(s.w))
	}
	if s.jobs != "" {
		p = append(p, "jobs="+s.jobs)
	}
	if s.draw != 1 {
		p = append(p, "draw="+strconv.FormatUint(s.draw, 10))
	}
	if s.seed != 1 {
		p = append(p, "seed="+strconv.FormatUint(s.seed, 10))
	}
	return canonical(corunPrefix+s.name, p)
}

func (s windows) Instances() int { return s.instances }

func (s windows) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	if on := []string{"A100", "A100-80GB"}; !slices.Contains(on, g.Name) {
		return nil, &UnmeasuredError{s.ID(), g.Name, on}
	}
	jobs, err := s.programs(g, index)
	if err != nil {
		return nil, err
	}
	return s.instance(jobs), nil
}

// programs returns the jobs of an instance.
func (s *windows) programs(g *mig.GPU, index int) ([]task.Program, error) {
	switch {
	case s.chosen:
		return programsNamed(strings.Split(s.jobs, "+"), s.draw)
	case s.fresh:
		return s.drawn(g, index), nil
	case s.name == trainingName:
		return s.training(rand.New(s.stream("", g, index))), nil
	case s.random:
		return s.generated(g, index), nil
	}
	row := table5[index]
	if s.queue > 0 {
		row = table5[s.queue-1]
	}
	var names []string
	for _, printed := range strings.Split(row, ", ") {
		name, _ := unmarked(printed)
		names = append(names, name)
	}
	return programsNamed(names, s.draw)
}

// stream returns the random stream of a class in an instance. It does not depend on w.
func (s *windows) stream(class task.Class, g *mig.GPU, index int) *rand.PCG {
	return pcg(fmt.Appendf(nil, "workload=%s%s\nclass=%s", corunPrefix, s.name, class), s.seed, g, index)
}

// generated draws a queue of a category from Table IV, or from its seen or unseen programs, in
// the order of the classes.
func (s *windows) generated(g *mig.GPU, index int) []task.Program {
	all := slices.DeleteFunc(programs(s.draw), func(p task.Program) bool {
		return p.Unseen && s.name == seenName || !p.Unseen && s.name == unseenName
	})
	counts := categoryCounts(s.name, s.w)
	var out []task.Program
	for i, class := range task.Classes() {
		of := slices.DeleteFunc(slices.Clone(all), func(p task.Program) bool { return p.Class != class })
		out = append(out, sample(rand.New(s.stream(class, g, index)), of, counts[i])...)
	}
	return out
}

// sample draws n of the programs, each once before any comes again.
func sample(rng *rand.Rand, of []task.Program, n int) []task.Program {
	var out []task.Program
	for len(out) < n {
		rng.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		out = append(out, of[:min(n-len(out), len(of))]...)
	}
	return out
}

// categoryCounts returns how many of w jobs are of each class. Of an odd window, the class
// that dominates has the larger half.
func categoryCounts(category string, w int) [3]int {
	var n [3]int
	turn := []int{0, 1, 2}
	if i := slices.Index(categories[:3], category); i >= 0 {
		n[i] = (w + 1) / 2
		turn = slices.Delete(turn, i, i+1)
		w /= 2
	}
	for k := range w {
		n[turn[k%len(turn)]]++
	}
	return n
}

// training draws from the seen programs until all classes are there.
func (s *windows) training(rng *rand.Rand) []task.Program {
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

// drawn draws new programs, of the category that it is the instance's turn to have.
func (s *windows) drawn(g *mig.GPU, index int) []task.Program {
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

// AddTo implements [Varied]: other instances have other programs of Table IV.
func (s windows) AddTo(d *task.Digest) {
	for _, p := range Programs() {
		p.AddTo(d)
	}
}
