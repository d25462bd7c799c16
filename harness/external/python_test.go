//go:build unix

package external

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/store"
)

// script returns the ID of a Python program; "" where there is no Python and there need not be.
func script(t *testing.T, text string, args ...string) string {
	t.Helper()
	id := python(t, "earliest.py")
	if id == "" {
		return ""
	}
	command, _, _ := strings.Cut(id, " ")
	path := filepath.Join(t.TempDir(), "mine.py")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return strings.Join(append([]string{command, path}, args...), " ")
}

// fixpart is FIXPART in Python. Of instances that are free at the same time, heapq decides, as in Go.
const fixpart = `import heapq, sys
import miglab


class Free(miglab.Instance):
    __lt__ = lambda self, other: self.end < other.end


@miglab.scheduler
def fixpart(problem):
    heap = [Free(i.gpu, i.size, i.slice) for i in problem.partition(sys.argv[1])]
    plan = list(heap)
    for task in problem.tasks:
        skipped = []
        while heap and heap[0].size not in task.seconds:
            skipped.append(heapq.heappop(heap))
        if not heap:
            raise miglab.Infeasible("fits no instance")
        first = heapq.heappop(heap)
        first.add(task)
        for i in [first, *skipped]:
            heapq.heappush(heap, i)
    return plan


miglab.main()
`

// earliest is the twin in Go of the example earliest.py.
func earliest(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
	var half *mig.Profile
	for _, size := range p.GPU.Sizes() {
		if own := p.GPU.Profile(size); len(own.Starts) > 1 {
			half = own
		}
	}
	var plan schedule.Plan
	for g := range p.GPUs() {
		for _, start := range half.Starts {
			plan = append(plan, schedule.Use{GPU: g, Instance: mig.Instance{Profile: half, Start: start}})
		}
	}
	order := make([]int, len(p.Tasks))
	for i := range order {
		order[i] = i
		if !p.Tasks[i].Fits(half.Size) {
			return schedule.Schedule{}, &algo.InfeasibleError{}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(p.Tasks[a].On(half.Size), p.Tasks[b].On(half.Size)) })
	ends := make([]mig.Seconds, len(plan))
	for _, i := range order {
		k := slices.Index(ends, slices.Min(ends))
		plan[k].Tasks = append(plan[k].Tasks, i)
		ends[k] = max(ends[k], p.ReleaseOf(i)) + p.Tasks[i].On(half.Size)
	}
	plan = slices.DeleteFunc(plan, func(u schedule.Use) bool { return len(u.Tasks) == 0 })
	clock := algo.NewClock(p)
	clock.Add(plan)
	return clock.Schedule(), nil
}

// TestPlansOfPythonAreThoseOfGo has Python programs answer random batches with plans, on A30, A100 and H100 and under all
// models: the makespans are those of the algorithms that do the same in Go, to the last bit.
func TestPlansOfPythonAreThoseOfGo(t *testing.T) {
	id := python(t, "earliest.py")
	if id == "" {
		t.Skip("no python3")
	}
	command, _, _ := strings.Cut(id, " ")
	for _, c := range []struct {
		python string
		goes   func(context.Context, algo.Problem) (schedule.Schedule, error)
		gpu    string
		alone  bool
	}{
		{python: id, goes: earliest},
		{python: command + " examples/wholegpu.py", goes: algo.MustParse("nomig").Schedule, alone: true},
		{python: script(t, fixpart, "2-1-1"), goes: algo.MustParse("fixpart?p=2-1-1").Schedule, gpu: "A30"},
		{python: script(t, fixpart, "3-2-1"), goes: algo.MustParse("fixpart?p=3-2-1").Schedule, gpu: "A100"},
		{python: script(t, fixpart, "1-1-2-3"), goes: algo.MustParse("fixpart?p=1-1-2-3").Schedule, gpu: "H100"},
	} {
		a, err := algo.ParseFor(c.python, algo.TrackBatch)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(45, 3))
		compared, refused := map[string]int{}, 0
		wanted := 9
		if c.gpu != "" {
			wanted = 3
		}
		each := deep.N(5, 14)
		full := func() bool {
			n := 0
			for _, k := range compared {
				n += min(k, each)
			}
			return n == wanted*each
		}
		for !full() {
			p := algotest.RandomProblem(rng, 1+rng.IntN(12))
			if !slices.Contains([]string{"A30", "A100", "H100"}, p.GPU.Name) || c.gpu != "" && p.GPU.Name != c.gpu {
				continue
			}
			p.Model = mig.Reconfiguration(rng.IntN(3))
			if !c.alone {
				p.Count = rng.IntN(3)
			}
			if rng.IntN(3) == 0 {
				algotest.AddRelease(&p, rng)
			}
			want, impossible := c.goes(t.Context(), p)
			if impossible != nil && refused >= 3 {
				continue
			}
			got, err := a.Schedule(t.Context(), p)
			if impossible != nil {
				refused++
				if kind := kindOf(err); kind != run.KindInfeasible && kind != run.KindInvalid {
					t.Fatalf("%s: %v, in Go %v", a.ID, err, impossible)
				}
				continue
			}
			if err != nil || got.Makespan() != want.Makespan() || schedule.Check(p, got) != nil {
				t.Fatalf("%s on %v, %v: %v s, in Go %v s; %v", a.ID, p.GPU, p.Model, got.Makespan(), want.Makespan(), err)
			}
			compared[fmt.Sprint(p.GPU, p.Model)]++
		}
	}
}

// TestStreamsOfPython: a program sees in start what its plans have left.
func TestStreamsOfPython(t *testing.T) {
	seen := script(t, `import miglab


@miglab.scheduler(name="mine", version=7)
def whole(problem):
    size = problem.gpu.profiles[-1].size
    left = [(i.gpu, i.size, i.slice, round(i.busy_until_s, 9)) for i in problem.start]
    i = miglab.Instance(0, size, 0, problem.tasks)
    if problem.tasks[0].name == "task 2":
        raise RuntimeError(str(left))
    return [i]


miglab.main()
`)
	if seen == "" {
		t.Skip("no python3")
	}
	a, err := algo.ParseFor(seen, algo.TrackStream)
	if err != nil || a.Spec.Version != 7 {
		t.Fatalf("%+v, %v", a.Spec, err)
	}
	p := problem(3)
	whole := p.GPU.Profile(7)
	busy := whole.Create + p.Tasks[0].On(7) + p.Tasks[1].On(7)
	_, err = algotest.ScheduleStream(t.Context(), a, p, []int{2, 1})
	if want := fmt.Sprintf(`reports a crash: "RuntimeError: [(0, 7, 0, %.9g)]"`, float64(busy)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	for _, name := range []string{"firstfree.py", "earliest.py"} {
		for _, gpu := range []string{"A30", "A100"} {
			for _, row := range engine(t, store.Series{Track: algo.TrackStream, Dataset: "drl/WIDETIMES?batches=4&n=5&rho=0.8", GPU: gpu, Count: 2, Algorithm: python(t, name)}, 2, 2) {
				if row.Kind != "" {
					t.Errorf("%s on %s: %v", name, gpu, row)
				}
			}
		}
	}
}

// TestMistakesInPython: a mistake in a function is the row of its instance, with the last line of the traceback. One
// process makes all of them; the number of tasks says which.
func TestMistakesInPython(t *testing.T) {
	const begin = "import miglab\n\n@miglab.scheduler\ndef mine(problem):\n    print('text on standard output')\n    "
	cases := []struct{ body, want string }{
		{"return problem.instances(5)", `reports a crash: "ValueError: A100 has no instances of size 5; sizes: 1 2 3 4 7"`},
		{"return sorted(problem.tasks, key=lambda t: t.on(5))", `reports a crash: "ValueError: A100 has no instances of size 5; sizes: 1 2 3 4 7"`},
		{"return problem.partition('4-4')", fmt.Sprintf(`reports a crash: "ValueError: A100 has no partition 4-4; partitions: %s"`,
			strings.Join(nearest.Names(mig.MustLookup("A100").Partitions(), mig.Partition.String), " "))},
		{"raise miglab.Infeasible('none\\nat all')", `declines: "none\nat all"`},
		{"return problem.nothing", `reports a crash: "AttributeError: 'Problem' object has no attribute 'nothing'; it has gpu, gpus, instances, partition, partitions, reconfiguration, start, tasks"`},
		{"raise ValueError('a\\nb')", `reports a crash: "b"`},
		{"return [miglab.Instance(0, 7, 0, problem.tasks[1:])]", `gives no plan: task "task 0" is missing`},
		{"return [miglab.Instance(0, 7, 1, problem.tasks)]", `[0].size: A100 cannot place size 7 at slice 1`},
		{"return {'placements': [], 'reconfigurations': []}", `missing task`},
		{"return 5", `reports a crash: "TypeError: mine returned 5; it must return a plan, a list of miglab.Instance, or a schedule, a dict"`},
		{"return [1]", `reports a crash: "TypeError: mine returned [1]; it must return a plan`},
		{"return [miglab.Instance(0, 7, 0, problem.tasks, not_before_s=float('nan'))]", `reports a crash: "ValueError: Out of range float values are not JSON compliant`},
		{"import os; os.system('echo more'); return [miglab.Instance(0, 7, 0, problem.tasks)]", ``},
	}
	text := begin
	for k, c := range cases {
		text += fmt.Sprintf("if len(problem.tasks) == %d:\n        %s\n    ", 2+k, c.body)
	}
	id := script(t, text+"\n\nmiglab.main()\n")
	if id == "" {
		t.Skip("no python3")
	}
	a, err := algo.ParseFor(id, algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range cases {
		p := problem(2 + k)
		s, err := a.Schedule(t.Context(), p)
		if err == nil {
			_, err = schedule.Measure(p, s)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), strings.ReplaceAll(c.want, "\n", `\n`))) {
			t.Errorf("%s: %v, want %s", c.body, err, c.want)
		}
		if crashed := strings.HasPrefix(c.want, "reports a crash"); crashed != (kindOf(err) == KindCrashed) {
			t.Errorf("%s: kind %q", c.body, kindOf(err))
		}
	}
	err = settle(t, script(t, begin+"return problem.tasks[99]\n\n\nmiglab.main()\n"), problem(2))
	if err == nil || !strings.Contains(err.Error(), ", line 6, in mine\n    return problem.tasks[99]") {
		t.Errorf("the place of a mistake: %v", err)
	}
	_, err = algo.ParseFor(script(t, begin+"return []\n"), algo.TrackBatch)
	if err == nil || !strings.Contains(err.Error(), "the last line must be miglab.main()") {
		t.Errorf("without main: %v", err)
	}
	_, err = algo.ParseFor(script(t, "print('hello')\n"+begin+"return []\n\n\nmiglab.main()\n"), algo.TrackBatch)
	if err == nil || !strings.Contains(err.Error(), "in Python, print in the decorated function, not outside") {
		t.Errorf("print outside the function: %v", err)
	}
}

// firstFit places gangs in Python as the engine composes them from the decisions of ff.
const firstFit = `import miglab


def places(cluster, members, one_gpu, first=None):
    if not members:
        return []
    member, rest = members[0], members[1:]
    for gpu, start in list(cluster.spots(member.profile)):
        if one_gpu and first not in (None, gpu) or member.media and cluster.media[gpu]:
            continue
        before = cluster.masks[gpu], cluster.media[gpu]
        cluster.masks[gpu] |= dict(member.profile.windows)[start]
        cluster.media[gpu] |= member.media
        found = places(cluster, rest, one_gpu, gpu)
        cluster.masks[gpu], cluster.media[gpu] = before
        if found is not None or not one_gpu:
            return None if found is None else [(gpu, start), *found]
    return None


@miglab.placer(gangs=places)
def first_fit(cluster, profile):
    return next(cluster.spots(profile), None)


miglab.main()
`

// TestGangsOfPythonAreThoseOfFirstFit: a program gets gangs and answers them; its results are those of ff.
func TestGangsOfPythonAreThoseOfFirstFit(t *testing.T) {
	id := script(t, firstFit)
	if id == "" {
		t.Skip("no python3")
	}
	rng := rand.New(rand.NewPCG(1, 3))
	profiles := []string{"1g.10gb", "1g.10gb+me", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb"}
	text := "arrival_slot,lifespan,profiles,gang\n"
	for i := range 200 {
		var names []string
		for range 1 + rng.IntN(3) {
			names = append(names, profiles[rng.IntN(len(profiles))])
		}
		where := "any"
		if all := strings.Join(names, "+"); rng.IntN(2) == 0 && strings.Count(all, "me") < 2 && !strings.Contains(all, "3g") && strings.Count(all, "4g")+strings.Count(all, "2g") < 2 {
			where = "gpu"
		}
		text += fmt.Sprintf("%d,%d,%s,%s\n", i/2, 1+rng.IntN(20), strings.Join(names, "+"), where)
	}
	path := filepath.Join(t.TempDir(), "gangs.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, queue := range []string{"reject", "retry", "fifo"} {
		series := store.Series{Track: algo.TrackPlacement, Dataset: "requests:" + path + "?gpus=3&queue=" + queue, GPU: "A100-80GB", Algorithm: id}
		got := engine(t, series, 1, 1)[0]
		series.Algorithm = "ff"
		want := engine(t, series, 1, 1)[0]
		if got.Kind != "" || want.Kind != "" || fmt.Sprint(got.Metrics) != fmt.Sprint(want.Metrics) {
			t.Errorf("queue=%s: %v, %v; ff has %v, %v", queue, got.Error, got.Metrics, want.Error, want.Metrics)
		}
	}
}
