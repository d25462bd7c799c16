package algorithms

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// The tests of this file hold the parameters that stand for the FAR authors' scripts
// against those scripts.

// permutedMISO is miso?order=permute on one GPU without reconfiguration times and with
// tasks that fit every size, written as the script compare_size_test proceeds: it lists
// all orders of the next tasks for every partition. It returns the makespan.
func permutedMISO(p algo.Problem) float64 {
	busy := make([]float64, p.GPU.MemorySlices)
	for left := numbered[int32](len(p.Tasks)); len(left) > 0; {
		var order []int32
		var best mig.Partition
		most := 0.0
		for _, part := range p.GPU.Partitions() {
			for _, o := range ordersOf(left[:min(len(part), len(left))]) {
				sum := 0.0
				for i, k := range o {
					sum += float64(p.Tasks[k].On(1) / p.Tasks[k].On(part[i].Size()))
				}
				if sum > most {
					most, best, order = sum, part, o
				}
			}
		}
		for i, k := range order {
			own := busy[best[i].Start : best[i].Start+best[i].Profile.Length]
			end := slices.Max(own) + float64(p.Tasks[k].On(best[i].Size()))
			for s := range own {
				own[s] = end
			}
		}
		left = left[len(order):]
	}
	return slices.Max(busy)
}

// ordersOf lists all orders of some tasks in lexicographic order.
func ordersOf(tasks []int32) [][]int32 {
	if len(tasks) == 0 {
		return [][]int32{nil}
	}
	var out [][]int32
	for i, first := range tasks {
		for _, rest := range ordersOf(slices.Concat(tasks[:i], tasks[i+1:])) {
			out = append(out, append([]int32{first}, rest...))
		}
	}
	return out
}

// released returns an instance of a workload from the released generator for an A100.
func released(t *testing.T, workload, parameters string, index int) (algo.Problem, []int) {
	t.Helper()
	g := mig.MustLookup("A100")
	in, err := datasets.InstanceOf[task.Batches](datasets.MustParse("far/"+workload+"?gen=released&"+parameters), g, index)
	if err != nil {
		t.Fatal(err)
	}
	return algo.Problem{GPU: g, Tasks: in.Tasks}, in.Lengths
}

func TestPermutingMISOIsThatOfTheScript(t *testing.T) {
	differ := 0
	for i := range deep.N(4, 20) {
		p, _ := released(t, "MIXEDSCALING+WIDETIMES", "n=15&psup=50&leave=0.3", i)
		p.Model = mig.Free
		got, want := makespanOf(t, "miso?order=permute", p), permutedMISO(p)
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("instance %d: %v s, the script's rule gives %v", i, got, want)
		}
		if arrived := makespanOf(t, "miso", p); math.Abs(arrived-want) > 1e-9*want {
			differ++
		}
	}
	if differ == 0 {
		t.Error("order=permute never differs from the order of arrival")
	}
}

// TestPermutingMISOLeavesOutTasksThatDoNotFit has a task that fits size 7 only. In order of
// arrival it holds up the tasks after it. Permuted, they go first.
func TestPermutingMISOLeavesOutTasksThatDoNotFit(t *testing.T) {
	p := algo.Problem{GPU: mig.MustLookup("A100"), Model: mig.Free, Tasks: task.Batch{
		task.New("large", map[mig.Slices]mig.Seconds{7: 10}),
	}}
	for i := range 7 {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprintf("small%d", i), map[mig.Slices]mig.Seconds{1: 5, 2: 5, 3: 5, 4: 5, 7: 5}))
	}
	if got := makespanOf(t, "miso?order=permute", p); got != 15+5 {
		t.Errorf("permuted: %v s, want 20: six small tasks, the large one and the last small one", got)
	}
	if got := makespanOf(t, "miso", p); got != 10+5 {
		t.Errorf("in order of arrival: %v s, want 15: the large task and all small ones", got)
	}
}

// makespanOf returns the makespan of an algorithm's schedule in seconds.
func makespanOf(t *testing.T, id string, p algo.Problem) float64 {
	t.Helper()
	s := mustSchedule(t, id, p)
	return float64(s.Makespan())
}

// operations are moves and swaps.
type operations struct{ moves, swaps int }

// scriptOperations are what an independent implementation of the scripts refinement_test
// and concat_test counts on the first instances of a workload.
var scriptOperations = []struct {
	workload, parameters string
	refinement, concat   []operations
}{
	{
		"POORSCALING+NARROWTIMES", "n=10",
		[]operations{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
		[]operations{{20, 0}, {0, 0}, {20, 0}, {19, 1}, {1, 0}, {2, 1}, {2, 1}, {2, 2}, {0, 0}, {20, 0}, {3, 0}, {19, 1}, {2, 2}, {20, 0}, {20, 0}},
	},
	{
		"POORSCALING+NARROWTIMES", "n=30",
		[]operations{{0, 1}, {0, 4}, {0, 6}, {0, 4}, {0, 2}, {0, 5}, {0, 6}, {0, 2}, {0, 2}, {0, 4}, {0, 4}, {0, 4}, {0, 1}, {0, 2}, {0, 5}},
		[]operations{{2, 3}, {1, 3}, {1, 0}, {2, 6}, {1, 4}, {4, 7}, {1, 0}, {2, 2}, {2, 3}, {3, 2}, {2, 3}, {3, 3}, {3, 3}, {1, 1}, {2, 2}},
	},
	{
		"GOODSCALING+WIDETIMES", "n=30",
		[]operations{{0, 2}, {0, 2}, {0, 0}, {0, 1}, {0, 0}, {0, 3}, {0, 1}, {0, 4}, {0, 0}, {0, 2}, {0, 0}, {0, 4}, {0, 5}, {0, 1}, {0, 5}},
		[]operations{{2, 2}, {0, 0}, {0, 0}, {0, 1}, {1, 0}, {0, 0}, {1, 2}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 3}, {0, 0}, {0, 3}},
	},
}

func TestKeepLastCountsAsTheScripts(t *testing.T) {
	for _, c := range scriptOperations {
		for i, want := range c.refinement {
			p, _ := released(t, c.workload, c.parameters, i)
			s := mustSchedule(t, "far?keep=last", p)
			if got := (operations{s.Counters["moves"], s.Counters["swaps"]}); got != want {
				t.Errorf("%s?%s, instance %d: refinement with %v, the script has %v", c.workload, c.parameters, i, got, want)
			}
		}
		for i, want := range c.concat {
			if got := joined(t, c.workload, c.parameters, "iterations=20&keep=last&margin=shifted", i); got != want {
				t.Errorf("%s?%s, instance %d: a batch and its copy are joined with %v, the script has %v", c.workload, c.parameters, i, got, want)
			}
		}
	}
}

// TestKeepLastEndsAsTheScript has what refinement_test counts on batches in which a task is as long as the margin but for
// rounding, or leaves size 3 at slice 0, which keeps slice 3 from others: artecs-group/RL_MIG_scheduler, commit 244dcd45,
// float/MIG_scheduler/algorithm.py, run on these batches. In the last one it swaps two tasks to and fro.
func TestKeepLastEndsAsTheScript(t *testing.T) {
	for i, want := range map[int]operations{
		390: {1, 0}, 932: {1, 0}, 1690: {1, 0}, 1804: {1, 1}, 2943: {1, 0}, 3803: {1, 1}, 4840: {1, 1}, 5536: {1, 99},
	} {
		p, _ := released(t, "GOODSCALING+WIDETIMES", "n=10", i)
		s := mustSchedule(t, "far?keep=last", p)
		if got := (operations{s.Counters["moves"], s.Counters["swaps"]}); got != want {
			t.Errorf("instance %d: %v, the script has %v", i, got, want)
		}
	}
}

// joined returns the moves and swaps between a batch and its copy.
func joined(t *testing.T, workload, parameters, concat string, index int) operations {
	t.Helper()
	s := join(t, workload, parameters, concat, index)
	return operations{s.Counters["moves"], s.Counters["swaps"]}
}

// join joins a batch and its copy.
func join(t *testing.T, workload, parameters, concat string, index int) schedule.Schedule {
	t.Helper()
	p, lengths := released(t, workload, parameters+"&repeat=2", index)
	s, err := algotest.ScheduleStream(t.Context(), algo.MustParse("far-concat?"+concat), p, lengths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestShiftedMakespansAreTheScripts has the makespans, in seconds, that concat_test printed when it was run on the
// first pairs of a workload: artecs-group/RL_MIG_scheduler, commit 244dcd45, float/MIG_scheduler/main.py.
func TestShiftedMakespansAreTheScripts(t *testing.T) {
	modes := []string{"trivial", "reverse", "moveswap"}
	for _, c := range []struct {
		workload, parameters string
		want                 [][3]float64
	}{
		{"POORSCALING+NARROWTIMES", "n=10", [][3]float64{
			{348.713400, 348.543400, 348.427896},
			{380.433958, 380.233958, 380.233958},
			{336.499713, 336.329713, 335.918404},
			{361.315421, 361.145421, 327.050128},
			{297.472819, 297.302819, 296.556104},
			{337.962714, 337.792714, 331.511976},
		}},
		{"GOODSCALING+WIDETIMES", "n=30", [][3]float64{
			{400.841124, 400.671124, 397.548627},
			{478.182062, 478.022062, 478.022062},
			{475.728997, 475.528997, 475.528997},
			{452.309514, 452.139514, 449.123480},
			{371.870427, 371.710427, 370.101154},
			{377.594852, 377.424852, 377.424852},
			{401.779494, 401.619494, 396.714549},
			{486.432630, 486.262630, 486.262630},
		}},
	} {
		for i, want := range c.want {
			for k, mode := range modes {
				s := join(t, c.workload, c.parameters, "iterations=20&keep=last&margin=shifted&mode="+mode, i)
				if got := float64(s.Counters["shifted_us"]) / 1e6; math.Abs(got-want[k]) > 2e-6 {
					t.Errorf("%s?%s, pair %d: %s ends at %v s, in the script at %v", c.workload, c.parameters, i, mode, got, want[k])
				}
			}
		}
	}
}

// TestShiftedMakespanOfAnEmptyBatch: behind a batch, one without tasks ends when that one does, which is before two end.
func TestShiftedMakespanOfAnEmptyBatch(t *testing.T) {
	p, lengths := released(t, "POORSCALING+NARROWTIMES", "n=10&repeat=2", 0)
	for _, mode := range []string{"trivial", "reverse", "moveswap"} {
		s, err := algotest.ScheduleStream(t.Context(), algo.MustParse("far-concat?margin=shifted&mode="+mode), p, append(lengths, 0))
		two := join(t, "POORSCALING+NARROWTIMES", "n=10", "margin=shifted&mode="+mode, 0)
		if got, before := s.Counters["shifted_us"], two.Counters["shifted_us"]; err != nil || got <= before/3 || got >= before {
			t.Errorf("%s: %d us, %v; want less than the %d of two batches", mode, got, err, before)
		}
	}
}

// TestEachParameterOfTheConcatenationCounts has an instance in which the script moves one
// task to and fro until its iterations are used up.
func TestEachParameterOfTheConcatenationCounts(t *testing.T) {
	for _, c := range []struct {
		concat string
		want   operations
	}{
		{"iterations=20&keep=last&margin=shifted", operations{20, 0}},
		{"iterations=7&keep=last&margin=shifted", operations{7, 0}},
		{"keep=last&margin=shifted", operations{100, 0}},
	} {
		if got := joined(t, "POORSCALING+NARROWTIMES", "n=10", c.concat, 0); got != c.want {
			t.Errorf("%s: %v, want %v", c.concat, got, c.want)
		}
	}
	for _, concat := range []string{"iterations=20&keep=last", "iterations=20&margin=shifted"} {
		if got := joined(t, "POORSCALING+NARROWTIMES", "n=10", concat, 0); got.moves >= 20 {
			t.Errorf("%s: %v, want fewer than 20 moves", concat, got)
		}
	}
}
