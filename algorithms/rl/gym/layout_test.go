package gym

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A documentedPart is a line of the Python package's table of observations.
type documentedPart struct {
	row        bool // of a task
	begin, end int  // with the default options
	count      string
	low, high  string
	value      string
}

// readLayout returns the documented layout of an environment, and the text before its table.
func readLayout(t *testing.T, name string) (text string, parts []documentedPart) {
	t.Helper()
	doc, err := os.ReadFile("../python/miglab_gym/__init__.py")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(doc), "\n"+name+": its ")
	text, table, more := strings.Cut(rest, "value\n")
	table, _, end := strings.Cut(table, "\n\n")
	if !found || !more || !end {
		t.Fatalf("no table of %s", name)
	}
	for line := range strings.Lines(table + "\n") {
		var d documentedPart
		line, d.row = strings.CutPrefix(strings.TrimSpace(line), "row ")
		words := strings.Fields(line)
		first, last, isRange := strings.Cut(words[0], ":")
		if first != "-" { // a part that the default options lack
			d.begin, err = strconv.Atoi(first)
			if d.end = d.begin + 1; isRange {
				d.end, err = strconv.Atoi(last)
			}
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		d.count, d.low, d.high, d.value = words[1], words[2], words[3], strings.Join(words[4:], " ")
		parts = append(parts, d)
	}
	return strings.Join(strings.Fields(text), " "), parts
}

// checkRanges compares indices, counts and bounds with the environment of default options.
func checkRanges(t *testing.T, v *vector, parts []documentedPart, symbols map[string]int) {
	t.Helper()
	number := func(s string) float64 {
		if n, ok := symbols[s]; ok {
			return float64(n)
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	var bounds []env.Range
	for _, b := range v.envs[0].Bounds() {
		for range b.Count {
			bounds = append(bounds, b)
		}
	}
	at, rows := 0, 0
	for _, d := range parts {
		begin := at
		if d.row {
			begin = rows
		}
		n := d.end - d.begin
		if n > 0 && (d.begin != begin || float64(n) != number(d.count)) {
			t.Errorf("%q begins at %d with %d values, want %d with %s", d.value, d.begin, n, begin, d.count)
		}
		if d.row {
			rows += n
			continue
		}
		for _, b := range bounds[at : at+n] {
			if b.Low != number(d.low) || b.High != number(d.high) {
				t.Errorf("%q is from %s to %s, want %v", d.value, d.low, d.high, b)
			}
		}
		at += n
	}
	if at != v.shape.Observation || rows != symbols["R"] {
		t.Errorf("%d values, and %d in a row; want %d and %d", at, rows, v.shape.Observation, symbols["R"])
	}
}

// tasksByTime returns the tasks that an environment has drawn, the longest on size 1 first.
func tasksByTime(b *batch) []env.Times {
	tasks := slices.Clone(b.times)
	slices.SortStableFunc(tasks, func(x, y env.Times) int { return slices.Compare(y[:], x[:]) })
	return tasks
}

// near reports whether two slices agree but for rounding to float32.
func near(got []float32, want []float64) bool {
	return slices.EqualFunc(got, want, func(x float32, y float64) bool { return math.Abs(float64(x)-y) <= 2e-6*(1+math.Abs(y)) })
}

// ownState computes the documented values of own from the state of the device.
type ownState struct {
	*batch
	tasks       []env.Times // left
	unit, first float64
	free        []float64 // by real slice
	sizes       []mig.Slices
}

func leastOf(x *env.Times) (area, least float64) {
	area, least = math.Inf(1), math.Inf(1)
	for _, s := range mig.MustLookup("A100").Sizes() {
		area, least = min(area, float64(s)*x[s]), min(least, x[s])
	}
	return area, least
}

func (o *ownState) look() (area float64) {
	o.free = nil
	for s := range int(o.gpu.ComputeSlices) {
		_, free := o.Device().Here(s)
		o.free = append(o.free, free)
	}
	o.first = slices.Min(o.free)
	for i := range o.tasks {
		a, _ := leastOf(&o.tasks[i])
		area += a
	}
	return area
}

// values returns what a line of the table says, and whether the order is left open, because slices are renamed.
func (o *ownState) values(t *testing.T, d documentedPart, seen []float32, row int) (want []float64, anyOrder bool) {
	area, k, n := o.look(), float64(o.gpu.ComputeSlices), float64(len(o.tasks))
	small := o.gpu.Profile(1)
	instant := func(x float64) float64 { return (max(x, o.first) - o.first) / o.unit }
	bound := area
	for _, f := range o.free {
		bound += f
	}
	bound = max(o.Device().Makespan(), bound/k)
	switch d.value {
	case "n, the number of tasks left":
		return []float64{n}, false
	case "when each slice is free":
		for _, f := range o.free {
			want = append(want, instant(f))
		}
		anyOrder = true
	case "1 for each instance that exists, else 0":
		return nil, true // checked by sizes
	case "when a task could start on each instance":
		return nil, true // checked by each step
	case "a lower bound of the makespan":
		want = []float64{(bound - o.first) / o.unit}
	case "the makespan so far":
		want = []float64{instant(o.Device().Makespan())}
	case "the least area (size times time) of the tasks left, over K":
		want = []float64{area / k / o.unit}
	case "n / 14":
		want = []float64{n / 14}
	case "ten times the time to create and destroy an instance of the smallest size":
		want = []float64{10 * float64(small.Create+small.Destroy) / o.unit}
	case "when the last operation ends, if reconfiguration is sequential":
		want = []float64{instant(o.Device().Busy())}
	case "1 / (n + 1)":
		want = []float64{1 / (n + 1)}
	default:
		want = o.rowValues(t, d, seen, &o.tasks[row], bound)
	}
	for i := range want {
		want[i] = min(8, max(-8, want[i]))
	}
	return want, anyOrder
}

// rowValues returns what a line of the table says about the row of a task.
func (o *ownState) rowValues(
	t *testing.T, d documentedPart, seen []float32, task *env.Times, bound float64,
) (want []float64) {
	least, shortest := leastOf(task)
	switch d.value {
	case "the time on each size":
		for _, s := range o.gpu.Sizes() {
			want = append(want, task[s]/o.unit)
		}
	case "the area on each size over the least area, minus 1":
		for _, s := range o.gpu.Sizes() {
			want = append(want, float64(s)*task[s]/least-1)
		}
	case "the earliest end on each size, minus the lower bound of the makespan":
		for _, s := range o.gpu.Sizes() {
			earliest := math.Inf(1)
			for i, size := range o.sizes {
				if size == s {
					earliest = min(earliest, float64(seen[21+i]))
				}
			}
			want = append(want, earliest+(task[s]+o.first-bound)/o.unit)
		}
	case "the least area over K":
		want = []float64{least / float64(o.gpu.ComputeSlices) / o.unit}
	case "the least time":
		want = []float64{shortest / o.unit}
	default:
		t.Fatalf("the table says %q", d.value)
	}
	return want
}

// check compares an observation with the table.
func (o *ownState) check(t *testing.T, parts []documentedPart, seen []float32) {
	t.Helper()
	const header, width = 41, 17
	for _, d := range parts {
		if strings.HasPrefix(d.value, "a row of ") {
			continue
		}
		for j := range o.tasks {
			got := seen[d.begin:d.end]
			if d.row {
				got = seen[header+width*j+d.begin : header+width*j+d.end]
			}
			want, anyOrder := o.values(t, d, seen, j)
			if want == nil {
				break
			}
			if anyOrder {
				got = slices.Sorted(slices.Values(got))
				slices.Sort(want)
			}
			if !near(got, want) {
				t.Fatalf("%d tasks left, row %d: %q is %v, want %v", len(o.tasks), j, d.value, got, want)
			}
			if !d.row {
				break
			}
		}
	}
	for _, x := range seen[header+width*len(o.tasks):] {
		if x != 0 {
			t.Fatalf("a row without a task has %v", x)
		}
	}
	var shown, there []mig.Slices
	for i, x := range seen[8:21] {
		if x == 1 {
			shown = append(shown, o.sizes[i])
		}
	}
	last := -1
	for s := range int(o.gpu.MemorySlices) {
		if here, _ := o.Device().Here(s); here >= 0 && here != last {
			there, last = append(there, o.Device().Instances()[here].Size()), here
		}
	}
	slices.Sort(shown)
	slices.Sort(there)
	if !slices.Equal(shown, there) {
		t.Fatalf("instances of sizes %v are shown, and %v exist", shown, there)
	}
}

// TestLayoutOfOwn holds the documentation of own's observations and actions against the state of the device, step by
// step.
func TestLayoutOfOwn(t *testing.T) {
	text, parts := readLayout(t, "own")
	sizesOf := func(gpu string) (out []mig.Slices) {
		for _, n := range mig.MustLookup(gpu).FullTree() {
			out = append(out, n.Size())
		}
		return out
	}
	a100 := sizesOf("A100")
	list := func(gpu string, sizes []mig.Slices) string {
		return fmt.Sprintf("%s, I = %d: %s", gpu, len(sizes), strings.Trim(fmt.Sprint(sizes), "[]"))
	}
	for _, want := range []string{
		list("A100", a100), list("A30", sizesOf("A30")), "a runs the task of row a // I on instance a % I",
		"The rewards of an episode add up to -10 times the makespan beyond the lower bound of the first observation",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	for _, model := range []string{"free", "sequential"} {
		v := begun(t, "own", fmt.Sprintf(`{"reconfiguration":%q}`, model), 1, 3)
		checkRanges(t, v, parts, map[string]int{"K": 7, "I": 13, "S": 5, "N": 14, "R": 17, "N*R": 14 * 17})
		b := v.envs[0].(*batch)
		rng := rand.New(rand.NewPCG(1, 1))
		for range 20 {
			o := &ownState{batch: b, tasks: tasksByTime(b), sizes: a100}
			for i := range o.tasks {
				_, least := leastOf(&o.tasks[i])
				o.unit = max(o.unit, least)
			}
			o.unit = max(o.unit, o.look()/float64(b.gpu.ComputeSlices))
			sum, lowest := 0.0, float64(v.observations[34])
			for len(o.tasks) > 0 {
				o.check(t, parts, v.observations)
				v.choose(rng)
				row, instance := int(v.values[0])/13, int(v.values[0])%13
				starts := o.first + float64(v.observations[21+instance])*o.unit
				clipped := v.observations[21+instance] == 8
				v.must(t, orderStep)
				placements := b.Device().Schedule().Placements
				got := placements[len(placements)-1]
				if got.Instance.Size() != a100[instance] ||
					float64(got.End-got.Start)-o.tasks[row][got.Instance.Size()] > 1e-9*float64(got.End) {
					t.Fatalf("action %d runs %+v, want size %d and %v s", v.values[0], got, a100[instance], o.tasks[row])
				}
				if model == "free" && !clipped && math.Abs(float64(got.Start)-starts) > 1e-5*(1+starts) {
					t.Fatalf("action %d starts at %v, want %v", v.values[0], got.Start, starts)
				}
				o.tasks = slices.Delete(o.tasks, row, row+1)
				sum += float64(v.rewards[0])
			}
			if want := -10 * (b.Device().Makespan()/o.unit - lowest); math.Abs(sum-want) > 1e-4*(1-want) {
				t.Fatalf("the rewards add up to %v, want %v", sum, want)
			}
			v.must(t, orderBegin)
		}
	}
}

// TestLayoutOfBatch does the same for batch, by one execution after a change of the partition.
func TestLayoutOfBatch(t *testing.T) {
	text, parts := readLayout(t, "batch")
	for _, gpu := range []string{"A100", "A30"} {
		var names []string
		for _, class := range mig.MustLookup(gpu).Classes() {
			names = append(names, class[0].String())
		}
		want := fmt.Sprintf("%s, 0 to %d: %s", gpu, len(names)-1, strings.Join(names, " "))
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	for _, want := range []string{
		"Action 0 lets time pass, action 1 + c changes to partition c, and action 1 + P + K*j + m runs a task of row j on",
		"Times are over the longest time of the episode's tasks.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	const k, p, n, sizes = 7, 13, 14, 5
	v := begun(t, "batch", `{}`, 1, 3)
	checkRanges(t, v, parts, map[string]int{"K": k, "S": sizes, "N": n, "R": sizes, "N*R": n * sizes})
	b := v.envs[0].(*batch)
	tasks := tasksByTime(b)
	longest := 0.0
	for i := range tasks {
		for _, s := range b.gpu.Sizes() {
			if !math.IsInf(tasks[i][s], 1) {
				longest = max(longest, tasks[i][s])
			}
		}
	}
	rows := func(tasks []env.Times) (want []float64) {
		for i := range tasks {
			for _, s := range b.gpu.Sizes() {
				x := tasks[i][s] / longest
				if math.IsInf(x, 1) {
					x = -1
				}
				want = append(want, x)
			}
		}
		return append(want, make([]float64, sizes*(n-len(tasks)))...)
	}
	act := func(action int) {
		v.values[0] = int64(action)
		v.must(t, orderStep)
	}
	expect := func(what string, begin int, want ...float64) {
		t.Helper()
		if got := v.observations[begin : begin+len(want)]; !near(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("at the start", 0, append(make([]float64, 1+k), rows(tasks)...)...)
	const partition, instance, row = 2, 1, 3 // 4-2-1, the instance of size 2
	act(1 + partition)
	expect("the partition", 0, float64(partition)/p)
	old, four := b.gpu.Profile(7), b.gpu.Profile(4)
	expect("a changed slice", 1, float64(old.Destroy+four.Create)/longest)
	for slices.ContainsFunc(v.observations[1:1+k], func(x float32) bool { return x > 0 }) {
		act(0)
	}
	act(1 + p + k*row + instance)
	placements := b.Device().Schedule().Placements
	got := placements[len(placements)-1]
	if got.Instance.Size() != 2 || tasks[row] != b.times[got.Task] {
		t.Errorf("the action runs %+v, want the task of row %d on size 2", got, row)
	}
	busy := tasks[row][2] / longest
	expect("after an execution", 0, append([]float64{float64(partition) / p, 0, 0, 0, 0, busy, busy, 0},
		rows(slices.Delete(tasks, row, row+1))...)...)
}

// TestLayoutWithOptions counts the values that options of batch add.
func TestLayoutWithOptions(t *testing.T) {
	_, parts := readLayout(t, "batch")
	says := func(value string) {
		t.Helper()
		if !slices.ContainsFunc(parts, func(d documentedPart) bool { return d.value == value }) {
			t.Errorf("the table lacks %q", value)
		}
	}
	says("the partition over P; one-hot: P values")
	says("only if direct: 1 while no reconfiguration is allowed, else 0")
	says("the time on each size, or -1 if the task does not fit; one-hot: M values for each")
	says("only with levels: the number of tasks over N")
	const k, p, s, n, m = 7, 13, 5, 3, 9
	for options, want := range map[string]int{
		`{"tasks":3}`:                                 1 + k + n*s,
		`{"tasks":3,"direct":true}`:                   1 + k + 1 + n*s,
		`{"tasks":3,"levels":9}`:                      1 + k + n*(s+1),
		`{"tasks":3,"levels":9,"encoding":"one-hot"}`: p + k + n*(s*m+1),
	} {
		v := openVector(t, "batch", options, 1, 1)
		if got := v.shape.Observation; got != want || v.shape.Actions != 1+p+k*n {
			t.Errorf("%s: %d values and %d actions, want %d and %d", options, got, v.shape.Actions, want, 1+p+k*n)
		}
	}
	v := begun(t, "batch", `{"tasks":3,"levels":9,"encoding":"one-hot","direct":true}`, 1, 1)
	v.values[0] = 1 + 4
	v.must(t, orderStep)
	seen := v.observations
	if i := slices.Index(seen[:p], 1); i != 4 || seen[p+k] != 1 || cmp.Compare(seen[p+k+1+s*m], float32(1)/n) < 0 {
		t.Errorf("after a reconfiguration to partition 4: %v", seen)
	}
}

// deadlineValues returns what a line of deadline's table says about a queue.
func deadlineValues(t *testing.T, what string, q *sim.Queue) (want []float64) {
	t.Helper()
	minutes := func(j *task.Job) [3]float64 {
		return [3]float64{float64(j.On(1)+j.On(2)) / 2, float64(j.On(3)+j.On(4)) / 2, float64(j.On(7))}
	}
	head, left := q.Head(), float64(q.Head().Deadline-q.Now())
	shares := func(begins []float64, x func(j *task.Job) float64) {
		bins := make([]float64, len(begins))
		for j := range q.All() {
			last := 0
			for i, begin := range begins {
				if x(j) >= begin {
					last = i
				}
			}
			bins[last] += 1 / float64(q.Waiting())
		}
		want = append(want, bins...)
	}
	largest := mig.Slices(0)
	for _, s := range q.Slices() {
		if !s.Busy {
			largest = max(largest, s.Size)
		}
	}
	switch what {
	case "the time to the deadline of the job":
		want = []float64{left / (math.Abs(left) + 3)}
	case "its times on small slices, medium slices and size 7":
		for _, x := range minutes(head) {
			want = append(want, x/(x+3))
		}
	case "its time on size 7 over the time to its deadline, which counts as at least 0.01; at most 1":
		want = []float64{min(1, minutes(head)[2]/max(left, 0.01))}
	case "the shares of the waiting jobs by bins of the time to the deadline":
		shares([]float64{math.Inf(-1), -8, -2, 0, 0.5, 1, 2, 4, 8, 16},
			func(j *task.Job) float64 { return float64(j.Deadline - q.Now()) })
	case "the same by bins of the times on small slices, medium slices and size 7":
		for i := range 3 {
			shares([]float64{0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64}, func(j *task.Job) float64 { return minutes(j)[i] })
		}
	case "1 for each busy slice, else 0":
		for _, s := range q.Slices() {
			x := 0.
			if s.Busy {
				x = 1
			}
			want = append(want, x)
		}
	case "the size of each slice over 7":
		for _, s := range q.Slices() {
			want = append(want, float64(s.Size)/7)
		}
	case "w / (w + 16) for w jobs that wait":
		want = []float64{float64(q.Waiting()) / float64(q.Waiting()+16)}
	case "the share of free slices":
		want = []float64{float64(q.Free()) / float64(len(q.Slices()))}
	case "the size of the largest free slice over 7":
		want = []float64{float64(largest) / 7}
	default:
		t.Fatalf("the table says %q", what)
	}
	return want
}

// TestLayoutOfDeadline holds the documentation of deadline against a day that is simulated a second time.
func TestLayoutOfDeadline(t *testing.T) {
	text, parts := readLayout(t, "deadline")
	for _, want := range []string{
		"Action a puts the waiting job with the earliest deadline on the free slice a of n = 20.",
		"A reward is 0.01 * size / 7, plus 0.05 if the job will end in time, plus, for each job that ends before the next " +
			"decision, 0.1 if it is in time, else -0.2 a minute of tardiness. " +
			"The last one adds 10 * (1 - late / jobs) - tardiness / jobs.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	v := begun(t, "deadline", `{}`, 1, 3)
	checkRanges(t, v, parts, map[string]int{"n": 20})
	fleet, draw, err := datasets.DaySampler("deadline/relaxed", mig.MustLookup("A100"))
	if err != nil {
		t.Fatal(err)
	}
	jobs := draw(newStream(3), nil)
	twin, err := sim.NewDispatch(jobs, fleet)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	deadlines := map[int]task.Minutes{} // of the jobs whose completion has not been rewarded, by slice
	steps, late, tardiness := 0, 0, 0.0
	for q := twin.Next(); q != nil; steps++ {
		for _, d := range parts {
			if got, want := v.observations[d.begin:d.end], deadlineValues(t, d.value, q); !near(got, want) {
				t.Fatalf("decision %d: %q is %v, want %v", steps, d.value, got, want)
			}
		}
		v.choose(rng)
		slice, job := int(v.values[0]), *q.Head()
		if err := twin.Place(slice); err != nil {
			t.Fatal(err)
		}
		placed := q.Slices()[slice]
		want := 0.01 * float64(placed.Size) / 7
		if placed.FreeAt <= job.Deadline {
			want += 0.05
		} else {
			late++
			tardiness += float64(placed.FreeAt - job.Deadline)
		}
		deadlines[slice] = job.Deadline
		all := q.Slices()
		q = twin.Next()
		for slice, deadline := range deadlines {
			switch s := all[slice]; {
			case s.Busy:
				continue
			case s.FreeAt <= deadline:
				want += 0.1
			default:
				want -= 0.2 * float64(s.FreeAt-deadline)
			}
			delete(deadlines, slice)
		}
		if q == nil {
			n := float64(len(jobs))
			want += 10*(1-float64(late)/n) - tardiness/n
		}
		v.must(t, orderStep)
		if got := float64(v.rewards[0]); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) || v.done[0] != (q == nil) {
			t.Fatalf("decision %d: reward %v, want %v; done %t", steps, got, want, v.done[0])
		}
	}
	if steps != len(jobs) || steps < 3500 || steps > 4500 {
		t.Errorf("%d decisions for %d jobs", steps, len(jobs))
	}
}
