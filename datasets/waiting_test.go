package datasets_test

import (
	"math"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestMIGBench: as many requests for 1g as there are slices at first, then the shares of the profiles, a mean of 15 s and
// lognormal durations. A slot is a millisecond.
func TestMIGBench(t *testing.T) {
	g := mig.MustLookup("H100")
	in := requestsOf(t, "migbench?requests=20056&pernode=4&queue=retry", g, 0)
	if in.GPUs != 8 || in.PerNode != 4 || in.Waiting != task.Retry || in.SlotSeconds != 0.001 {
		t.Errorf("%d GPUs, %d in a node, %s, slots of %v s", in.GPUs, in.PerNode, in.Waiting, in.SlotSeconds)
	}
	counts := map[string]float64{}
	var logs []float64
	for i, q := range in.Requests {
		if i < 56 && (q.Arrival != 0 || q.Profile.String() != "1g.10gb") {
			t.Fatalf("request %d is for %v in slot %d", i, q.Profile, q.Arrival)
		}
		if i >= 56 {
			counts[q.Profile.String()]++
		}
		logs = append(logs, math.Log(float64(q.Lifespan)/1000))
		if long := 100 * float64(q.Work) / float64(task.Share(g, q.Profile)); q.MemoryMB != q.Profile.MemoryMB() || float64(q.Lifespan) != math.Ceil(long) {
			t.Fatalf("%+v lasts %v of %v ms", q, q.Lifespan, long)
		}
	}
	n := 20000.0
	for name, weight := range map[string]float64{"1g.10gb": 35. / 90, "2g.20gb": 25. / 90, "3g.40gb": 25. / 90, "7g.80gb": 5. / 90} {
		if z := (counts[name]/n - weight) / math.Sqrt(weight*(1-weight)/n); math.Abs(z) > 4.5 {
			t.Errorf("%s: %.4f of the requests, want %.4f", name, counts[name]/n, weight)
		}
	}
	if gap := float64(in.Requests[len(in.Requests)-1].Arrival) / 1000 / n; math.Abs(gap-15) > 4.5*15/math.Sqrt(n) {
		t.Errorf("a mean of %.2f s between arrivals, want 15", gap)
	}
	var mean, square float64
	for _, v := range logs {
		mean += v / float64(len(logs))
	}
	for _, v := range logs {
		square += (v - mean) * (v - mean) / float64(len(logs))
	}
	if math.Abs(mean-math.Log(600)) > 0.03 || math.Abs(math.Sqrt(square)-0.8) > 0.03 {
		t.Errorf("the logarithms have the mean %.3f and the deviation %.3f, want %.3f and 0.8", mean, math.Sqrt(square), math.Log(600))
	}
}

// TestMovesInSeconds: a cluster with times in seconds has a downtime in seconds, and moves change no request.
func TestMovesInSeconds(t *testing.T) {
	g := mig.MustLookup("H100")
	still, moving := requestsOf(t, "migbench?queue=retry", g, 1), requestsOf(t, "migbench?queue=retry&moves=0.5&downtime=2.5", g, 1)
	sum := 0
	for i, q := range moving.Requests {
		sum += q.Lifespan
		if q != still.Requests[i] {
			t.Fatalf("request %d is %+v, without moves %+v", i, q, still.Requests[i])
		}
	}
	want := task.Migration{Moves: 4, Window: int(math.Round(float64(sum) / float64(len(moving.Requests)))), Downtime: 2500}
	if still.Migration != (task.Migration{}) || moving.Migration != want {
		t.Errorf("%+v and %+v, want none and %+v", still.Migration, moving.Migration, want)
	}
}

// TestQueueDrawsTheSameRequests: whether requests wait changes the content, but none of the requests.
func TestQueueDrawsTheSameRequests(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	a, b := requestsOf(t, "mfi/uniform?lifespan=steady", g, 3), requestsOf(t, "mfi/uniform?lifespan=steady&queue=fifo", g, 3)
	if len(a.Requests) != len(b.Requests) || a.Requests[100] != b.Requests[100] || b.Waiting != task.FIFO {
		t.Error("the streams differ")
	}
	digests := map[string]bool{}
	for _, in := range []task.Requests{a, b, {Requests: a.Requests, GPUs: a.GPUs, Demand: a.Demand, Waiting: task.Retry}, {Requests: a.Requests, GPUs: a.GPUs, Demand: a.Demand, PerNode: 4}} {
		d := task.NewDigest()
		in.AddTo(d)
		digests[d.String()] = true
	}
	if len(digests) != 4 {
		t.Errorf("%d digests of four clusters", len(digests))
	}
	for text, want := range map[string]task.Regime{
		"mfi/uniform?lifespan=steady&queue=fifo": task.Queued, "openb?queue=retry": task.Queued, "migbench?queue=retry": task.Queued,
		"requests:r.csv?queue=retry": task.Queued, "migbench": task.Whole, "mfi/uniform?lifespan=steady": task.Steady,
	} {
		if got := datasets.RegimeOf(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"mfi/uniform?queue=retry&moves=1&geometry=7": `parameter "moves" cannot be "1"; give none with a geometry`,
		"migbench?queue=retry&downtime=10":           `parameter "downtime" cannot be "10"; give it only with moves`,
		"mfi/uniform?geometry=4-2-1":                 `parameter "geometry" cannot be "4-2-1"; give it with queue=retry or queue=fifo`,
		"migbench?queue=retry&geometry=4-2-1+8":      `parameter "geometry" cannot be "4-2-1+8"; give partitions joined by +`,
		"mfi/uniform?turnover=20":                    `parameter "turnover" cannot be "20"; give it only with lifespan=steady`,
		"mfi/uniform?queue=retry&lifespan=forever":   `parameter "queue" cannot be "retry"; give none with lifespan=forever`,
		"mfi/uniform?queue=wait":                     `parameter "queue": unknown value "wait" (known: fifo, reject, retry)`,
	} {
		if _, err := datasets.Parse(text); err == nil || !contains(err, want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

// TestGeometryOfDatasets: all datasets of requests take it, and the requests ask for what exists.
func TestGeometryOfDatasets(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, name := range []string{"migbench?", "openb?pods=shared&", "mfi/uniform?gpus=8&"} {
		in := requestsOf(t, name+"queue=retry&geometry=7+4-2-1", g, 0)
		if len(in.Geometry) != in.GPUs || in.Geometry[1].String() != "4-2-1" || in.Geometry[2].String() != "7" {
			t.Errorf("%s: %v", name, in.Geometry)
		}
		for i, q := range in.Requests {
			if s := q.Profile.Size; q.Profile.DoubleMemory || s == 3 {
				t.Fatalf("%s: request %d asks for %v, which does not exist", name, i, q.Profile)
			}
		}
		double := requestsOf(t, name+"queue=retry&geometry=7+1g.20gb-1g.20gb-3g.40gb", g, 0)
		if double.Geometry[1].String() != "1g.20gb-1g.20gb-3" {
			t.Errorf("%s: %v", name, double.Geometry[1])
		}
	}
}

// TestStreamsThatCannotEnd: a stream with a request that would wait forever is refused with the dataset, before any
// scheduler sees it; and one that has no profile to draw.
func TestStreamsThatCannotEnd(t *testing.T) {
	whole, err := new(mig.Catalog).Parse([]byte(`{"gpu": "OnlyWhole", "compute_slices": 4, "memory_slices": 4, "profiles": [
		{"size": 4, "length": 4, "starts": [0], "max": 1, "memory_gb": 10, "create_s": 1, "destroy_s": 1}]}`), "a test")
	if err != nil {
		t.Fatal(err)
	}
	for text, c := range map[string]struct {
		gpu  *mig.GPU
		want string
	}{
		"openb?gpus=4&queue=retry":                 {mig.MustLookup("A100-80GB"), "request 15 needs 8 GPUs of 4 and would wait forever"},
		"openb?gpus=8&queue=fifo&geometry=7+4-2-1": {mig.MustLookup("A100-80GB"), "request 15 needs 8 of 7g.80gb and would wait forever; the geometry has 4"},
		"migbench?queue=retry":                     {whole, "OnlyWhole has no profile of 1, 2, 3 or 7 slices"},
	} {
		if _, err := datasets.MustParse(text).Instance(c.gpu, 0); err == nil || !contains(err, c.want) {
			t.Errorf("%s: %v, want %s", text, err, c.want)
		}
	}
}

// TestTurnover: a longer stream begins with the shorter one.
func TestTurnover(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	a, b := requestsOf(t, "mfi/uniform?lifespan=steady&gpus=10", g, 3), requestsOf(t, "mfi/uniform?lifespan=steady&gpus=10&turnover=20", g, 3)
	slices := 0
	for i, q := range b.Requests {
		if i < len(a.Requests) && q != a.Requests[i] {
			t.Fatalf("request %d is %+v, not %+v", i, q, a.Requests[i])
		}
		slices += q.Slices()
	}
	if capacity := 10 * int(g.MemorySlices); slices < 20*capacity || slices > 20*capacity+8 {
		t.Errorf("%d slices are requested, want 20 times %d", slices, capacity)
	}
}
