package task_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

const goodJobs = `arrival_min,deadline_min,t1,t2,t3,t4,t7
0.5,10,8,4,3,2.25,1
0.5,0.5,1e-3,1,1,1,1
`

func newJob(arrival, deadline task.Minutes, minutes map[mig.Slices]task.Minutes) task.Job {
	j := task.Job{Arrival: arrival, Deadline: deadline}
	for s, d := range minutes {
		j.Set(s, d)
	}
	return j
}

func readJobs(text string) ([]task.Job, error) {
	return task.ReadJobs(strings.NewReader(text), "jobs.csv", a100)
}

func TestReadJobs(t *testing.T) {
	want := []task.Job{
		newJob(0.5, 10, map[mig.Slices]task.Minutes{1: 8, 2: 4, 3: 3, 4: 2.25, 7: 1}),
		newJob(0.5, 0.5, map[mig.Slices]task.Minutes{1: 1e-3, 2: 1, 3: 1, 4: 1, 7: 1}),
	}
	for name, text := range map[string]string{
		"plain":       goodJobs,
		"CRLF":        strings.ReplaceAll(goodJobs, "\n", "\r\n"),
		"other order": "t7,t4,t3,t2,t1,deadline_min,arrival_min\n1,2.25,3,4,8,10,.5\n1,1,1,1,.001,.5,.5\n",
	} {
		got, err := readJobs(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	got, err := task.ReadJobs(strings.NewReader("arrival_min,deadline_min,t1,t2,t4\n-0,2,4,2,1\n"), "f", a30)
	if want := newJob(0, 2, map[mig.Slices]task.Minutes{1: 4, 2: 2, 4: 1}); err != nil || !reflect.DeepEqual(got, []task.Job{want}) {
		t.Errorf("A30: %v, %v", got, err)
	}
}

func TestReadJobsSaysWhereAndWhatWouldBeRight(t *testing.T) {
	const (
		instant  = " is not an instant; write minutes from 0 to 1e+09"
		duration = " is not a duration; write minutes, more than 0 and at most 1e+09, for every size"
		columns  = "the header of a jobs file for A100 (sizes [1 2 3 4 7]) is arrival_min,deadline_min,t1,t2,t3,t4,t7"
	)
	for _, c := range []struct{ name, old, new, want string }{
		{"negative instant", "0.5,10", "-0.5,10", `jobs.csv:2: arrival_min: "-0.5"` + instant},
		{"endless", "0.5,10", "0.5,inf", `jobs.csv:2: deadline_min: "inf"` + instant},
		{"NaN", "0.5,10", "NaN,10", `jobs.csv:2: arrival_min: "NaN"` + instant},
		{"words", "0.5,10", "0.5,10 min", `jobs.csv:2: deadline_min: "10 min"` + instant},
		{"far", "0.5,10", "0.5,1e10", `jobs.csv:2: deadline_min: "1e10"` + instant},
		{"zero duration", "2.25", "0", `jobs.csv:2: t4: "0"` + duration},
		{"does not fit", "1e-3", "inf", `jobs.csv:3: t1: "inf"` + duration},
		{"empty cell", "2.25", "", `jobs.csv:2: t4: ""` + duration},
		{"deadline first", "0.5,0.5", "0.75,0.5", "jobs.csv:3: deadline_min: 0.5 is before the arrival at 0.75; write an instant, not how long the job may take"},
		{"unsorted", "0.5,0.5", "\n0.25,0.5", "jobs.csv:4: arrival_min: 0.25 comes after 0.5 on line 2; sort the jobs by arrival"},
		{"missing column", goodJobs, "arrival_min,t1,t2,t3,t4,t7\n", "jobs.csv:1: deadline_min: the column is missing; " + columns},
		{"unknown column", "t7", "t8", "jobs.csv:1: t8: unknown column; " + columns},
		{"column on two lines", "t7", "\"t\n7\"", `jobs.csv:1: "t\n7": unknown column; ` + columns},
		{"no jobs", goodJobs, "arrival_min,deadline_min,t1,t2,t3,t4,t7\n", "jobs.csv:1: there are no jobs; write one line a job below the header"},
		{"empty file", goodJobs, "", "jobs.csv:1: the file is empty; begin with the header arrival_min,deadline_min,t1,t2,t3,t4,t7"},
		{"field missing", "2.25,1", "2.25", "jobs.csv:2: the line has 6 fields, the header 7 (arrival_min,deadline_min,t1,t2,t3,t4,t7)"},
	} {
		text := strings.Replace(goodJobs, c.old, c.new, 1)
		jobs, err := readJobs(text)
		if _, ok := errors.AsType[*task.ParseError](err); !ok || err.Error() != c.want || jobs != nil {
			t.Errorf("%s: %v, %v\nwant %s", c.name, jobs, err, c.want)
		}
	}
}

func TestWriteJobsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom([]*mig.GPU{a100, a30}).Draw(t, "gpu")
		jobs := make([]task.Job, rapid.IntRange(1, 5).Draw(t, "jobs"))
		var arrival float64
		for i := range jobs {
			arrival = rapid.Float64Range(arrival, 1e9).Draw(t, "arrival")
			jobs[i] = task.Job{Arrival: task.Minutes(arrival), Deadline: task.Minutes(rapid.Float64Range(arrival, 1e9).Draw(t, "deadline"))}
			for _, s := range g.Sizes() {
				jobs[i].Set(s, task.Minutes(rapid.Float64Range(1e-300, 1e9).Draw(t, "minutes")))
			}
		}
		var w bytes.Buffer
		if err := task.WriteJobs(&w, g, jobs); err != nil {
			t.Fatal(err)
		}
		if again, err := task.ReadJobs(&w, "f", g); err != nil || !slices.Equal(again, jobs) {
			t.Fatalf("%v, %v; want %v", again, err, jobs)
		}
	})
}

func TestWriteJobsRefusesWhatCannotBeReadBack(t *testing.T) {
	var w bytes.Buffer
	bad := newJob(0, 1, map[mig.Slices]task.Minutes{1: 1})
	if err := task.WriteJobs(&w, a30, []task.Job{bad}); err == nil || !strings.HasPrefix(err.Error(), "job 0 takes +Inf min on size 2") || w.Len() > 0 {
		t.Errorf("%v", err)
	}
}

func FuzzReadJobs(f *testing.F) {
	for _, text := range []string{goodJobs, "", "arrival_min\n1\n", strings.ReplaceAll(goodJobs, "1", "\"1\""), strings.Replace(goodJobs, "10", "1e309", 1), "\"\"\"\n\"\"\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := readJobs(text)
		if err != nil {
			if _, ok := errors.AsType[*task.ParseError](err); !ok || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		for i := range jobs {
			if err := jobs[i].Validate(a100.Sizes()); err != nil {
				t.Fatalf("job %d %v", i, err)
			}
		}
		var w bytes.Buffer
		if err := task.WriteJobs(&w, a100, jobs); err != nil {
			t.Fatal(err)
		}
		if again, err := readJobs(w.String()); err != nil || !slices.Equal(again, jobs) {
			t.Fatalf("%v, %v; want %v", again, err, jobs)
		}
	})
}
