package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/numpy"
	"miglab/harness/task"
)

// numbersOf returns the numbers of some jobs as the report's code stores them: rows of float32
// with the arrival, the deadline and the durations on 1, 2, 3, 4 and 7.
func numbersOf(t *testing.T, jobs []task.Job) []byte {
	var out []byte
	for i := range jobs {
		j := &jobs[i]
		row := []task.Minutes{j.Arrival, j.Deadline, j.On(1), j.On(2), j.On(3), j.On(4), j.On(7)}
		for _, v := range row {
			if task.Minutes(float32(v)) != v {
				t.Fatalf("job %d: %v is not a float32 number", i, v)
			}
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
	}
	return out
}

// TestReportDaysAreThoseOfNumPy compares with SHA-256 sums of days that NumPy 1 itself drew.
func TestReportDaysAreThoseOfNumPy(t *testing.T) {
	for deadlines, want := range map[string][]string{
		"relaxed": {
			"a5011cf29ab79dee", "90ccb961baeaa1d2", "16723b8fc1e58a13", "8aa3fcc33f89d560", "beb4bd98ba90455c",
			"1483844e2ff02016", "674973d237b76cb0", "81344811d2faf377", "d0e2667ae24ccb5e", "3f143d34b001a6d2",
		},
		"tight": {
			"3d28ee116eb864dc", "4ef8c5a9fda2a6bf", "2955ba1aa671758d", "94dfd2695dcbb562", "df9897bba86ff403",
			"efa7a7104f9b5810", "836d5a58c34040c4", "86a6e3c24f534842", "f81cf1a521831df7", "b9fa5d9fe4ea5826",
		},
	} {
		for i := range want {
			in := episode(t, "deadline/report?numpy=1&deadlines="+deadlines, i)
			sum := sha256.Sum256(numbersOf(t, in.Jobs))
			if got := hex.EncodeToString(sum[:8]); got != want[i] {
				t.Errorf("%s, day %d: the numbers hash to %s, want %s", deadlines, i, got, want[i])
			}
		}
	}
}

// TestNumPy2RoundsArrivals compares the two versions of NumPy: the same draws, and arrivals that
// differ by rounding alone.
func TestNumPy2RoundsArrivals(t *testing.T) {
	differ := 0
	for i := range 10 {
		one, two := episode(t, "deadline/report?numpy=1", i), episode(t, "deadline/report", i)
		if *one.NumPy != *two.NumPy || len(one.Jobs) != len(two.Jobs) {
			t.Fatalf("day %d: %+v with %d jobs and %+v with %d", i, one.NumPy, len(one.Jobs), two.NumPy, len(two.Jobs))
		}
		for k := range one.Jobs {
			a, b := &one.Jobs[k], &two.Jobs[k]
			if a.On(1) != b.On(1) || a.On(7) != b.On(7) || math.Abs(float64(a.Arrival-b.Arrival)) > 1e-3 {
				t.Fatalf("day %d, job %d: %+v and %+v", i, k, a, b)
			}
			if a.Arrival != b.Arrival {
				differ++
			}
		}
	}
	if differ < 1000 {
		t.Errorf("%d arrivals differ", differ)
	}
}

// TestReportDays looks at the parts of an instance that are not its jobs.
func TestReportDays(t *testing.T) {
	s := MustParse("deadline/report")
	if s.Instances() != 10 {
		t.Errorf("%d days", s.Instances())
	}
	relaxed, tight := episode(t, "deadline/report", 1), episode(t, "deadline/report?deadlines=tight", 1)
	if relaxed.NumPy.Seed != 860 || *relaxed.NumPy != *tight.NumPy {
		t.Errorf("the streams stand at %+v and %+v", relaxed.NumPy, tight.NumPy)
	}
	for i := range relaxed.Jobs {
		if a, b := &relaxed.Jobs[i], &tight.Jobs[i]; a.Arrival != b.Arrival || a.On(7) != b.On(7) || a.Deadline <= b.Deadline {
			t.Fatalf("job %d: %+v relaxed and %+v tight", i, a, b)
		}
	}
	// A day with the same random numbers can be continued.
	day := numpy.New(860)
	(&reportDays{}).jobs(day)
	if day.Used() != relaxed.NumPy.Used {
		t.Errorf("%d numbers drawn, want %d", day.Used(), relaxed.NumPy.Used)
	}
	if !relaxed.Fleet.Float32 || episode(t, "deadline/report?clock=float64", 1).Fleet.Float32 {
		t.Error("the clock is not that of the parameter")
	}
	var index *IndexError
	if _, err := s.Instance(mig.MustLookup("A100"), 10); !errors.As(err, &index) || err.Error() != `dataset "deadline/report" has no instance 10; it has 10, counted from 0` {
		t.Errorf("day 10: %v", err)
	}
	var unmeasured *UnmeasuredError
	if _, err := s.Instance(mig.MustLookup("A30"), 0); !errors.As(err, &unmeasured) {
		t.Errorf("on A30: %v", err)
	}
}
