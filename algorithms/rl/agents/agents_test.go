package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// reading lets agents read their weights otherwise until the test ends.
func reading(t *testing.T, otherwise func(file string) ([]byte, error)) {
	t.Helper()
	before := readFile
	readFile = otherwise
	forget()
	t.Cleanup(func() {
		readFile = before
		forget()
	})
}

// forget lets agents read their weights anew.
func forget() {
	runners = mig.Derived(func(*mig.GPU) *sync.Map { return new(sync.Map) })
	policies.Clear()
	files.Clear()
}

// specs are the agents of a track.
func specs(track string) []algo.Spec {
	return slices.DeleteFunc(algo.All(track), func(s algo.Spec) bool {
		return s.Name != "agent" && !strings.HasPrefix(s.Name, "d3qn") && !strings.HasPrefix(s.Name, "agent-") && !strings.HasPrefix(s.Name, "rl-")
	})
}

// variants lists an agent with each value of what it was trained on, its default
// first. Further training runs are left out: they differ in their weights alone.
func variants(s algo.Spec) []string {
	ids := []string{s.Name}
	for _, p := range s.Params {
		for _, v := range p.Values {
			switch {
			case v == p.Default || p.Name == "seed":
			case p.Name == "recipe":
				// Not every workload has every recipe. A test of recipes says which.
				for _, w := range Workloads {
					if id := s.Name + "?workload=" + w + "&recipe=" + v; slices.Contains(embeddedNames(), described(id).weights) {
						ids = append(ids, id)
					}
				}
			default:
				ids = append(ids, s.Name+"?"+p.Name+"="+v)
			}
		}
	}
	return ids
}

// embeddedNames lists the names of the embedded weights.
func embeddedNames() (names []string) {
	files, _ := weights.ReadDir("weights")
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), Extension); ok {
			names = append(names, name)
		}
	}
	return names
}

// described returns an agent of the batch or the stream track.
func described(id string) *agent {
	a := algo.MustParse(id)
	made := func(x any, err error) *agent {
		if err != nil {
			panic(err)
		}
		return x.(*agent)
	}
	if a.Spec.Track == algo.TrackStream {
		return made(algo.Make[algo.Stream](a))
	}
	return made(algo.Make[algo.Batch](a))
}

// networks returns every network that some registered agent loads, by the name of its
// weights.
func networks() map[string]nn.Policy {
	out := map[string]nn.Policy{}
	for _, s := range slices.Concat(specs(algo.TrackBatch), specs(algo.TrackStream)) {
		for _, id := range variants(s) {
			d := described(id)
			for name, gpu := range map[string]string{d.weights: "A100", d.small: "A30"} {
				out[name] = d.network(d.lane(mig.MustLookup(gpu), mig.Sequential))
			}
			delete(out, "")
		}
	}
	for i := range DeadlineAgents {
		a := &DeadlineAgents[i]
		s := a.Shape()
		out[a.WeightsName()] = nn.NewActor(s.Observation, a.Hidden(), s.Actions, nn.Portable())
	}
	for i := range CorunAgents {
		a := &CorunAgents[i]
		out[a.Name] = a.NewPolicy(nn.Portable(), rand.New(rand.NewPCG(0, 0)))
	}
	return out
}

// This fails until `make train` has put all weights where they are built into the
// program.
func TestEveryAgentIsTrained(t *testing.T) {
	have := embeddedNames()
	want := slices.Sorted(maps.Keys(networks()))
	for _, name := range want {
		if !slices.Contains(have, name) {
			t.Errorf("%s has no weights", name)
		}
	}
	for _, name := range have {
		agent, seed, further := strings.Cut(name, seedInName)
		if !slices.Contains(want, agent) {
			t.Errorf("%s%s is of no agent", name, Extension)
		}
		if n, err := strconv.Atoi(seed); further && (err != nil || n < 2 || !strings.HasPrefix(name, "rl-") && !strings.HasPrefix(name, "d3qn")) {
			t.Errorf("%s%s is not a further training run of one of the paper's agents", name, Extension)
		}
	}
}

// TestFurtherTrainingRun: a second run is an agent with other weights, which name the recipe.
func TestFurtherTrainingRun(t *testing.T) {
	const file = "weights/rl-float-WIDETIMES-seed2" + Extension
	if got := RunName("rl-float-WIDETIMES", 2); "weights/"+got+Extension != file {
		t.Errorf("the weights of seed 2 are called %s", got)
	}
	var asked []string
	first := readFile
	reading(t, func(name string) ([]byte, error) {
		asked = append(asked, name)
		if name == file {
			name = "weights/rl-float-WIDETIMES" + Extension
		}
		return first(name)
	})
	a := PaperAgents[slices.IndexFunc(PaperAgents, func(a PaperAgent) bool { return a.Name == "rl-float" })]
	args := maps.Clone(algo.MustParse("rl-float").Args)
	args["seed"] = "2"
	made, err := a.newAgent(args)
	if err != nil {
		t.Fatal(err)
	}
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{task.New("t", map[mig.Slices]mig.Seconds{1: 2, 2: 1, 3: 1, 4: 1, 7: 1})}}
	if _, err := made.Schedule(context.Background(), p); err != nil {
		t.Error(err)
	}
	if !slices.Contains(asked, file) || slices.Contains(asked, "weights/rl-float-WIDETIMES"+Extension) {
		t.Errorf("it read %v", asked)
	}
	if _, err := algo.Parse("rl-float?seed=99"); err == nil {
		t.Error("a run that is not shipped is accepted")
	}
}

// randomProblem is a batch of n tasks on one GPU for which agents are trained, perhaps with
// releases and a GPU at work.
func randomProblem(rng *rand.Rand, n int) algo.Problem {
	p := algotest.RandomProblem(rng, n)
	for !samePartitions(p.GPU, trainedGPU) {
		p = algotest.RandomProblem(rng, n)
	}
	p.Model, p.Count = mig.Reconfiguration(rng.IntN(3)), rng.IntN(2)
	if rng.IntN(3) == 0 {
		algotest.AddRelease(&p, rng)
	}
	if rng.IntN(2) == 0 {
		algotest.AddStart(&p, rng)
	}
	return p
}

// answer lets an agent schedule a problem, cut into batches where it takes streams.
func answer(a algo.Algorithm, p algo.Problem) (schedule.Schedule, error) {
	if a.Spec.Track == algo.TrackStream {
		n := len(p.Tasks)
		return algotest.ScheduleStream(context.Background(), a, p, []int{n / 2, 0, n - n/2})
	}
	return a.Schedule(context.Background(), p)
}

// conform runs the agents of a track through the suite: on each problem, each with its defaults and in another
// variant.
func conform[P, A any](t *testing.T, track algotest.Track[P, A], problems int, draw func(*rand.Rand) P) {
	suite := algotest.Suite[P, A]{
		Track: track, Specs: specs(track.Name), Problems: problems, Draw: draw,
		Algorithms: func(_ P, rng *rand.Rand) (ids []string) {
			for _, s := range specs(track.Name) {
				all := variants(s)
				ids = append(ids, all[0], all[rng.IntN(len(all))])
			}
			return ids
		},
	}
	suite.Test(t)
}

func TestAgents(t *testing.T) {
	t.Run("batch", func(t *testing.T) {
		conform(t, algotest.Batch, deep.N(16, 100), func(rng *rand.Rand) algo.Problem { return randomProblem(rng, 1+rng.IntN(60)) })
	})
	t.Run("stream", func(t *testing.T) {
		conform(t, algotest.Stream, deep.N(16, 100), func(rng *rand.Rand) algotest.StreamProblem {
			n := 1 + rng.IntN(60)
			return algotest.StreamProblem{Problem: randomProblem(rng, n), Lengths: []int{n / 2, 0, n - n/2}}
		})
	})
	t.Run("dispatch", func(t *testing.T) {
		conform(t, algotest.Dispatch, deep.N(8, 30), func(rng *rand.Rand) algotest.DispatchProblem {
			jobs, fleet := dayOf(t, rng.Uint64(), 300)
			return algotest.DispatchProblem{Queue: task.Queue{Jobs: jobs, Fleet: fleet}}
		})
	})
	t.Run("corun", func(t *testing.T) {
		conform(t, algotest.Corun, deep.N(16, 100), func(rng *rand.Rand) corun.Window {
			spec := fmt.Sprintf("corun/drawn?w=%d&cmax=%d", 1+rng.IntN(30), 1+rng.IntN(corun.MaxConcurrency))
			w := corunWindow(t, spec, rng.IntN(4))
			if rng.IntN(4) == 0 {
				w.Concurrency = corun.MaxSlots
			}
			return w
		})
	})
}

// Problems that an agent decides for together have the schedules that they have alone, whichever
// problems are together, and also with several tries that draw.
func TestSchedulesTogether(t *testing.T) {
	for _, s := range slices.Concat(specs(algo.TrackBatch), specs(algo.TrackStream)) {
		ids := []string{s.Name, s.Name + "?k=3"}
		if s.Together > 1 {
			ids = append(ids, s.Name+"?actions=sampled&k=2")
		}
		for _, id := range ids {
			agent := described(id)
			for _, count := range []int{7, 3, 8}[:deep.N(2, 3)] { // a runner is used again for fewer and for more
				rng := rand.New(rand.NewPCG(uint64(count), 21))
				var problems []algo.Problem
				var lengths [][]int
				var want []schedule.Schedule
				for i := range count {
					n := 1 + rng.IntN([]int{3, 14, 40}[i%3])
					p := randomProblem(rng, n)
					p.GPU, p.Model, p.Start, p.Count = mig.MustLookup("A100"), mig.Sequential, nil, 1
					cut := []int{n / 3, 0, n - n/3}
					alone, err := agent.ScheduleStream(context.Background(), p, cut)
					if err != nil {
						t.Fatal(err)
					}
					problems, lengths, want = append(problems, p), append(lengths, cut), append(want, alone)
				}
				got, err := agent.ScheduleTogether(context.Background(), problems, lengths)
				if err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if !reflect.DeepEqual(got[i], want[i]) {
						t.Errorf("%s: problem %d of %d is\n%v\ntogether and\n%v\nalone", id, i, count, got[i], want[i])
					}
				}
			}
		}
	}
}

// In our own formulation tasks are a set: neither names nor order matter, but for
// which of two equal tasks goes first.
func TestOrderAndNamesDoNotMatter(t *testing.T) {
	type run struct {
		in         mig.Instance
		start, end mig.Seconds
		times      [mig.MaxSize]mig.Seconds
	}
	runs := func(p algo.Problem, s schedule.Schedule) map[run]int {
		out := map[run]int{}
		for _, pl := range s.Placements {
			r := run{pl.Instance, pl.Start, pl.End, [mig.MaxSize]mig.Seconds{}}
			for size := range mig.MaxSize {
				r.times[size] = p.Tasks[pl.Task].On(size + 1)
			}
			out[r]++
		}
		return out
	}
	a := algo.MustParse("agent")
	for seed := range uint64(deep.N(12, 60)) {
		rng := rand.New(rand.NewPCG(seed, 20))
		p := randomProblem(rng, 1+rng.IntN(OwnCapacity))
		distinct := map[task.Task]bool{}
		for _, task := range p.Tasks {
			task.Name = ""
			distinct[task] = true
		}
		if len(distinct) < len(p.Tasks) {
			p.Release = nil // it would matter which of two equal tasks is there first
		}
		q := p
		q.Tasks, q.Release = nil, nil
		for i, from := range rng.Perm(len(p.Tasks)) {
			other := p.Tasks[from]
			other.Name = fmt.Sprint("other", i)
			q.Tasks = append(q.Tasks, other)
			if p.Release != nil {
				q.Release = append(q.Release, p.Release[from])
			}
		}
		first, err := answer(a, p)
		if err != nil {
			t.Fatal(err)
		}
		second, err := answer(a, q)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(runs(p, first), runs(q, second)) {
			t.Fatalf("seed %d:\n%v\nand, permuted,\n%v", seed, first.Placements, second.Placements)
		}
	}
}

func TestBestOfEightIsNoWorse(t *testing.T) {
	for _, s := range specs(algo.TrackBatch) {
		greedy, best := algo.MustParse(s.Name), algo.MustParse(s.Name+"?k=8")
		better := 0
		for i := range deep.N(4, 8) {
			p := evaluation(t, i)
			one, err := answer(greedy, p)
			if err != nil {
				t.Fatal(err)
			}
			eight, err := answer(best, p)
			if err != nil {
				t.Fatal(err)
			}
			if v := schedule.Check(p, eight); len(v) > 0 {
				t.Fatalf("%s?k=8, instance %d: %v", s.Name, i, v)
			}
			switch m := eight.Makespan(); {
			case m > one.Makespan():
				t.Errorf("%s, instance %d: best of 8 takes %v s, greedy %v", s.Name, i, m, one.Makespan())
			case m < one.Makespan():
				better++
			}
		}
		if better == 0 {
			t.Errorf("%s: best of 8 is never better than greedy", s.Name)
		}
	}
}

func TestWhatAgentsCannotSchedule(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 9, 7: 2})}}
	media, err := p.GPU.ProfileByName("1g.5gb+me")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range slices.Concat(specs(algo.TrackBatch), specs(algo.TrackStream)) {
		a := algo.MustParse(s.Name)
		small, two, odd := p, p, p
		small.GPU, two.Count = mig.MustLookup("A30"), 2
		small.Tasks = task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 9, 4: 2})}
		odd.Start = []schedule.Existing{{Instance: mig.Instance{Profile: media, Start: 0}}}
		cases := map[string]algo.Problem{"2 GPUs": two, "instance 1@0": odd}
		if described(s.Name).small == "" {
			cases["model A30"] = small
		}
		for what, q := range cases {
			_, err := answer(a, q)
			var unsupported *algo.UnsupportedError
			if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v, want an *UnsupportedError for %s", s.Name, err, what)
			}
		}
		for _, k := range []string{"0", "-1", "x", "", "70000"} {
			if _, err := algo.Parse(s.Name + "?k=" + k); err == nil || !strings.Contains(err.Error(), "whole number from 1") {
				t.Errorf("%s?k=%s: %v", s.Name, k, err)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if a.Spec.Track == algo.TrackBatch {
			if _, err := a.Schedule(ended, p); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v once the context has ended", s.Name, err)
			}
		}
		// Nothing of that is left over.
		if got, err := answer(a, p); err != nil || len(schedule.Check(p, got)) > 0 {
			t.Errorf("%s: %v, %v", s.Name, err, got)
		}
	}
	deadline := algo.MustParse("rl-deadline")
	_, err = deadline.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices + 1})
	var unsupported *algo.UnsupportedError
	if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "21 slices") {
		t.Errorf("a fleet of 21 slices: %v", err)
	}
}

// Weights that are missing, damaged or another agent's are errors that say so.
func TestWrongWeights(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 9})}}
	attempts := func(id string) error {
		a, err := algo.Parse(id)
		if err != nil {
			return err
		}
		if a.Spec.Track == algo.TrackDispatch {
			_, err := a.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices})
			return err
		}
		_, err = answer(a, p)
		return err
	}
	have := readFile
	for _, id := range []string{"agent", "agent-stream?workload=POORSCALING", "rl-onehot", "rl-online", "rl-deadline?training=tight", "d3qn"} {
		reading(t, func(string) ([]byte, error) { return nil, fs.ErrNotExist })
		var missing *NotTrainedError
		if err := attempts(id); !errors.As(err, &missing) || !strings.Contains(err.Error(), missing.Name) {
			t.Errorf("%s without weights: %v", id, err)
		}
		reading(t, func(file string) ([]byte, error) {
			text, err := have(file)
			return text[:len(text)/2], err
		})
		if err := attempts(id); !errors.Is(err, nn.ErrDamaged) || !strings.Contains(err.Error(), missing.Name+Extension) {
			t.Errorf("%s with half its weights: %v", id, err)
		}
		// That of rl-direct is like that of rl-online, but for what it has learned.
		reading(t, func(string) ([]byte, error) { return have("weights/rl-direct-WIDETIMES" + Extension) })
		if err := attempts(id); !errors.Is(err, nn.ErrNetwork) || !strings.Contains(err.Error(), missing.Name+Extension) {
			t.Errorf("%s with another's weights: %v", id, err)
		}
	}
}

func TestEmptyBatch(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100")}
	for _, spec := range slices.Concat(specs(algo.TrackBatch), specs(algo.TrackStream)) {
		s, err := answer(algo.MustParse(spec.Name), p)
		if err != nil || len(s.Placements)+len(s.Operations) > 0 {
			t.Errorf("%s without tasks: %+v, %v; want an empty schedule", spec.Name, s, err)
		}
	}
}
