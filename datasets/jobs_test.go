package datasets

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

func episode(t *testing.T, spec string, index int) task.Queue {
	t.Helper()
	in, err := InstanceOf[task.Queue](MustParse(spec), mig.MustLookup("A100"), index)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestReportFleetHas20Slices(t *testing.T) {
	f := episode(t, "deadline/relaxed", 0).Fleet
	var sizes []mig.Slices
	for _, p := range f.Partitions {
		for _, in := range p {
			sizes = append(sizes, in.Size())
		}
	}
	if want := []mig.Slices{7, 7, 4, 3, 4, 3, 4, 2, 1, 4, 2, 1, 2, 2, 2, 1, 2, 2, 2, 1}; !slices.Equal(sizes, want) || len(f.Partitions) != 8 {
		t.Errorf("%d GPUs with slices %v, want 8 with %v", len(f.Partitions), sizes, want)
	}
	if want := []float64{40, 120, 160, 200, 240, 250, 250, 250}; !slices.Equal(f.Watts, want) {
		t.Errorf("watts %v, want %v", f.Watts, want)
	}
}

// TestPreemptionChangesTheFleetAlone: a day with pre-emption has the same jobs and another digest.
func TestPreemptionChangesTheFleetAlone(t *testing.T) {
	for _, name := range []string{"deadline/tight", "deadline/report"} {
		without, with := episode(t, name, 1), episode(t, name+"?preemption=yes", 1)
		if without.Fleet.Preemptive || !with.Fleet.Preemptive || !slices.Equal(with.Jobs, without.Jobs) {
			t.Errorf("%s: fleet %+v, with pre-emption %+v", name, without.Fleet, with.Fleet)
		}
		a, b := task.NewDigest(), task.NewDigest()
		without.AddTo(a)
		with.AddTo(b)
		if a.String() == b.String() {
			t.Errorf("%s: pre-emption does not change the digest", name)
		}
	}
}

// kindOfJob tells the four kinds apart by their durations.
func kindOfJob(j *task.Job) string {
	for name, by := range map[string]*jobScaling{
		"BERT inference": &bertInference, "ResNet inference": &resNetInference, "BERT training": &bertTraining, "ResNet training": &resNetTraining,
	} {
		same := true
		for _, s := range mig.MustLookup("A100").Sizes() {
			same = same && math.Abs(float64(j.On(s)/j.On(1))-by[s]) < 1e-12
		}
		if same {
			return name
		}
	}
	return "none"
}

// TestJobsFollowTheReport compares the jobs of 40 days with the distributions of the
// report, within four standard errors.
func TestJobsFollowTheReport(t *testing.T) {
	const episodes = 40
	var expected float64 // jobs a day; hour by hour, a Poisson process
	for _, rate := range hourly[:24] {
		expected += 60 * arrivalScale * rate
	}
	kinds := map[string]int{}
	hours := [24]int{}
	n, small := 0, 0
	var inferenceSum, trainingLog, trainingSquares, slackSum float64
	trainings := 0
	for i := range episodes {
		for _, j := range episode(t, "deadline/relaxed", i).Jobs {
			n++
			hours[int(j.Arrival/60)]++
			kind := kindOfJob(&j)
			kinds[kind]++
			if strings.HasSuffix(kind, "inference") {
				inferenceSum += float64(j.On(1))
				if j.On(1) < 3 {
					small++
				}
			} else {
				trainings++
				l := math.Log(float64(j.On(1)))
				trainingLog += l
				trainingSquares += (l - trainingMean) * (l - trainingMean)
			}
			u := float64((j.Deadline - j.Arrival) / j.On(7))
			if u < 2-1e-6 || u > 4+1e-6 {
				t.Fatalf("slack %v, want U(2,4)", u)
			}
			slackSum += u
		}
	}
	within := func(what string, got, want, deviation float64) {
		t.Helper()
		if math.Abs(got-want) > 4*deviation {
			t.Errorf("%s: %v, want %v +- %v", what, got, want, 4*deviation)
		}
	}
	if math.Abs(expected-4148.4) > 0.1 {
		t.Errorf("%v jobs a day are expected, want 4148.4", expected)
	}
	// A gap that crosses the hour keeps the rate of the hour that it began in; that shifts
	// less than one job an hour.
	within("jobs", float64(n), episodes*expected, math.Sqrt(episodes*expected))
	for h, got := range hours {
		want := 60 * arrivalScale * hourly[h] * episodes
		within(fmt.Sprintf("jobs in hour %d", h), float64(got), want, math.Sqrt(want)+episodes/8)
	}
	near(t, "BERT inference", kinds["BERT inference"], n, 0.8*2/3)
	near(t, "ResNet inference", kinds["ResNet inference"], n, 0.8/3)
	near(t, "BERT training", kinds["BERT training"], n, 0.2*2/3)
	near(t, "ResNet training", kinds["ResNet training"], n, 0.2/3)
	inferences := n - trainings
	within("mean inference", inferenceSum/float64(inferences), 3, 3/math.Sqrt(float64(inferences)))
	near(t, "inference below its mean", small, inferences, 1-math.Exp(-1))
	within("mean log of training", trainingLog/float64(trainings), math.Log(math.Sqrt(40*60)), trainingDeviation/math.Sqrt(float64(trainings)))
	within("deviation of the log of training", math.Sqrt(trainingSquares/float64(trainings)), math.Log(1.5)/3.29, trainingDeviation/math.Sqrt(2*float64(trainings)))
	within("slack", slackSum/float64(n), 3, 2/math.Sqrt(12*float64(n)))
}

func TestDaysDifferInDeadlinesAndFleetAlone(t *testing.T) {
	want := episode(t, "deadline/relaxed", 3)
	for spec, slack := range map[string][2]float64{
		"deadline/tight":                    {1, 1.5},
		"deadline/relaxed?gpus=7&watts=1-2": {2, 4},
	} {
		got := episode(t, spec, 3)
		if len(got.Jobs) != len(want.Jobs) {
			t.Fatalf("%s: %d jobs, want %d", spec, len(got.Jobs), len(want.Jobs))
		}
		for i, j := range got.Jobs {
			u := float64((j.Deadline - j.Arrival) / j.On(7))
			if u < slack[0]-1e-6 || u > slack[1]+1e-6 {
				t.Fatalf("%s: slack %v", spec, u)
			}
			j.Deadline = want.Jobs[i].Deadline
			if j != want.Jobs[i] {
				t.Fatalf("%s: job %d is %+v, want %+v", spec, i, j, want.Jobs[i])
			}
		}
	}
	other := episode(t, "deadline/relaxed?seed=2", 3)
	if other.Jobs[0] == want.Jobs[0] || episode(t, "deadline/relaxed", 4).Jobs[0] == want.Jobs[0] {
		t.Error("another seed or index gives the same jobs")
	}
}

// TestArrivalRates: at twice the rate the first job comes after half the time, and there are about twice as many.
func TestArrivalRates(t *testing.T) {
	const days = 20
	for _, kind := range []string{"deadline/relaxed", "deadline/tight"} {
		for _, rate := range []float64{0.5, 2} {
			n, all := 0, 0
			for i := range days {
				usual, got := episode(t, kind, i).Jobs, episode(t, fmt.Sprintf("%s?rate=%v", kind, rate), i).Jobs
				n, all = n+len(got), all+len(usual)
				first, want := got[0], usual[0]
				if math.Abs(float64(first.Arrival)*rate-float64(want.Arrival)) > 1e-9 || first.On(1) != want.On(1) {
					t.Errorf("%s, rate %v, day %d: the first job is %+v, at the usual rate %+v", kind, rate, i, first, want)
				}
			}
			if sd := math.Sqrt(rate*float64(all)) + rate*math.Sqrt(float64(all)); math.Abs(float64(n)-rate*float64(all)) > 4*sd {
				t.Errorf("%s, rate %v: %d jobs, %d at the usual one", kind, rate, n, all)
			}
		}
	}
}

func TestJobsOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.csv")
	if err := os.WriteFile(path, []byte("arrival_min,deadline_min,t1,t2,t4\n1,2,4,2,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a30 := mig.MustLookup("A30")
	in, err := InstanceOf[task.Queue](MustParse("jobs:"+path+"?gpus=2-2+4&watts=1-2"), a30, 0)
	if err != nil || len(in.Jobs) != 1 || in.Jobs[0].Arrival != 1 || len(in.Fleet.Partitions) != 2 || !slices.Equal(in.Fleet.Watts, []float64{1, 2}) {
		t.Errorf("%+v, %v", in, err)
	}
	_, err = InstanceOf[task.Queue](MustParse("jobs:"+path), a30, 0)
	if unknown, ok := errors.AsType[*nearest.UnknownError](err); !ok || unknown.Name != "7" {
		t.Errorf("the report's fleet of A30: %v", err)
	}
	_, err = InstanceOf[task.Queue](MustParse("jobs:"+path), mig.MustLookup("A100"), 0)
	if _, ok := errors.AsType[*task.ParseError](err); !ok {
		t.Errorf("an A30 file for A100: %v", err)
	}
	_, err = InstanceOf[task.Queue](MustParse("jobs:"+path+"x"), mig.MustLookup("A100"), 0)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	_, err = InstanceOf[task.Queue](MustParse("jobs:"+path), a30, 1)
	if _, ok := errors.AsType[*IndexError](err); !ok {
		t.Errorf("instance 1: %v", err)
	}
	_, err = InstanceOf[task.Queue](MustParse("deadline/tight"), a30, 0)
	if _, ok := errors.AsType[*UnmeasuredError](err); !ok {
		t.Errorf("the report's jobs on A30: %v", err)
	}
}
