package datasets_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var mfiNames = []string{"mfi/uniform", "mfi/skew-small", "mfi/skew-big", "mfi/bimodal"}

func requestsOf(t *testing.T, text string, g *mig.GPU, index int) task.Requests {
	t.Helper()
	in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(text), g, index)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return in
}

func TestRequestsAreDrawnFromTableII(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for i, want := range [][]float64{
		{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6},
		{.30, .25, .20, .10, .10, .05},
		{.05, .10, .10, .20, .25, .30},
		{.30, .15, .05, .05, .15, .30},
	} {
		in := requestsOf(t, mfiNames[i]+"?gpus=20000", g, 0)
		counts := map[*mig.Profile]float64{}
		for _, q := range in.Requests {
			counts[q.Profile]++
		}
		n := float64(len(in.Requests))
		for k, p := range task.RequestProfiles(g) {
			if math.Abs(in.Demand[k]-want[k]) > 1e-12 {
				t.Errorf("%s: P(%v) = %v, want %v", mfiNames[i], p, in.Demand[k], want[k])
			}
			if z := (counts[p]/n - want[k]) / math.Sqrt(want[k]*(1-want[k])/n); math.Abs(z) > 4.5 {
				t.Errorf("%s: %v is drawn with %.4f, want %.4f (z = %.1f)", mfiNames[i], p, counts[p]/n, want[k], z)
			}
		}
	}
	// A30 has no 1g with double memory, 3g and 7g.
	in := requestsOf(t, "mfi/bimodal", mig.MustLookup("A30"), 0)
	if want := []float64{.6, .1, .3}; math.Abs(in.Demand[0]-want[0])+math.Abs(in.Demand[1]-want[1])+math.Abs(in.Demand[2]-want[2]) > 1e-12 {
		t.Errorf("A30: demand %v, want %v", in.Demand, want)
	}
}

// TestRequestedSlices checks where streams end and that nothing arrives twice at once.
func TestRequestedSlices(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for text, want := range map[string]int{
		"mfi/uniform": 680, "mfi/uniform?load=100": 800, "mfi/uniform?load=130&T=expected": 1040, "mfi/uniform?load=33&gpus=7": 19,
		"mfi/bimodal?lifespan=steady": 4000,
	} {
		in := requestsOf(t, text, g, 3)
		sum := 0
		for i, q := range in.Requests {
			if q.Arrival != i || q.Lifespan < 1 || sum >= want {
				t.Fatalf("%s: request %d is %+v after %d slices, want one a slot up to %d", text, i, q, sum, want)
			}
			sum += int(q.Profile.Length)
		}
		if sum < want || in.GPUs == 0 {
			t.Errorf("%s: %d slices are requested of %d GPUs, want %d", text, sum, in.GPUs, want)
		}
	}
}

// TestShorterStreamsArePrefixes: a lower load sees the beginning of the same stream,
// and so does a smaller cluster but for its lifespans.
func TestShorterStreamsArePrefixes(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, saturation := range []string{"realised", "expected"} {
		long := requestsOf(t, "mfi/skew-small?load=200&T="+saturation, g, 5).Requests
		for _, load := range []string{"1", "50", "85", "100", "130"} {
			short := requestsOf(t, "mfi/skew-small?load="+load+"&T="+saturation, g, 5).Requests
			if len(short) >= len(long) || !reflect.DeepEqual(short, long[:len(short)]) {
				t.Errorf("T=%s: load %s is no prefix of load 200", saturation, load)
			}
		}
	}
	long := requestsOf(t, "mfi/uniform?lifespan=forever", g, 0).Requests
	short := requestsOf(t, "mfi/uniform?lifespan=forever&gpus=10", g, 0).Requests
	if !reflect.DeepEqual(short, long[:len(short)]) {
		t.Error("the stream for 10 GPUs is no prefix of that for 100")
	}
	for _, other := range []string{"mfi/uniform?lifespan=forever&seed=2", "mfi/bimodal?lifespan=forever"} {
		if reflect.DeepEqual(requestsOf(t, other, g, 0).Requests[:20], long[:20]) {
			t.Errorf("%s is the same stream as another", other)
		}
	}
	if reflect.DeepEqual(requestsOf(t, "mfi/uniform?lifespan=forever", g, 1).Requests[:20], long[:20]) {
		t.Error("two instances are the same")
	}
}

// TestLifespans checks U[1,T] and U[1,2 rho T] and that both readings of T agree with
// their words.
func TestLifespans(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	const gpus = "&gpus=5000"
	saturates := float64(len(requestsOf(t, "mfi/uniform?lifespan=forever&load=100"+gpus, g, 0).Requests))
	expected := 5000 * 8 / 3.5
	for text, longest := range map[string]float64{
		"mfi/uniform?load=100" + gpus:                            saturates,
		"mfi/uniform?load=100&T=expected" + gpus:                 expected,
		"mfi/uniform?lifespan=steady" + gpus:                     2 * saturates,
		"mfi/uniform?lifespan=steady&T=expected&rho=1.3" + gpus:  2.6 * expected,
		"mfi/uniform?lifespan=steady&T=expected&rho=0.85" + gpus: 1.7 * expected,
	} {
		requests := requestsOf(t, text, g, 0).Requests
		var sum, most float64
		for _, q := range requests {
			sum += float64(q.Lifespan)
			most = max(most, float64(q.Lifespan))
		}
		n := float64(len(requests))
		mean, half := sum/n, 4.5*longest/math.Sqrt(12*n)
		if math.Abs(mean-(1+longest)/2) > half+1 || most > longest+0.5 || most < 0.99*longest {
			t.Errorf("%s: mean lifespan %.1f, longest %.0f; want U[1,%.1f]", text, mean, most, longest)
		}
	}
}

func TestRequestFiles(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g)
	in := requestsOf(t, "requests:testdata/requests.csv?gpus=2", g, 0)
	want := task.Requests{GPUs: 2, Requests: []task.Request{{Lifespan: 3, Profile: p[0]}, {Lifespan: task.Forever, Profile: p[5]}, {Arrival: 4, Lifespan: 2, Profile: p[3]}}}
	if !reflect.DeepEqual(in, want) {
		t.Errorf("%+v, want %+v", in, want)
	}
	_, err := datasets.InstanceOf[task.Requests](datasets.MustParse("requests:testdata/requests.csv"), mig.MustLookup("A30"), 0)
	if bad, ok := errors.AsType[*task.ParseError](err); !ok || bad.Line != 2 || bad.Column != "profile" {
		t.Errorf("on A30: %v", err)
	}
	if _, err := datasets.InstanceOf[task.Requests](datasets.MustParse("requests:testdata/none.csv"), g, 0); err == nil {
		t.Error("no such file: no error")
	}
	if _, err := datasets.InstanceOf[task.Requests](datasets.MustParse("requests:testdata/requests.csv"), g, 1); err == nil {
		t.Error("no such instance: no error")
	}
}
