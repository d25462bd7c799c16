package task_test

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Whatever a writer does not refuse, in or out of order or empty, reads back as it was.
func TestWritersRefuseOrRoundTrip(t *testing.T) {
	few := rapid.IntRange(-1, 3)
	check := func(t *rapid.T, what string, want any, write func(io.Writer) error, read func(io.Reader) (any, error)) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			if b.Len() > 0 {
				t.Fatalf("%s: %v, after %q", what, err, &b)
			}
			return
		}
		text := b.String()
		if got, err := read(&b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: wrote %q, read %+v, %v; want %+v", what, text, got, err, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3).Draw(t, "n")
		jobs, tasks, requests := make([]task.Job, n), make(task.Batch, n), make([]task.Request, n)
		programs := make([]task.Program, n)
		batches := task.Batches{Tasks: tasks, Lengths: rapid.SliceOfN(few, 0, 3).Draw(t, "lengths")}
		work := rapid.Bool().Draw(t, "work")
		for i := range n {
			at := func() int { return few.Draw(t, "number") }
			jobs[i] = task.Job{Arrival: task.Minutes(at()), Deadline: task.Minutes(at() + 2)}
			tasks[i] = task.New(rapid.SampledFrom([]string{"a", "b", "c", " "}).Draw(t, "name"), nil)
			for _, s := range a30.Sizes() {
				jobs[i].Set(s, 1)
				tasks[i].Set(s, 1)
			}
			requests[i] = task.Request{Arrival: at(), Lifespan: at(), Profile: a30.Profiles[0], GPUs: min(1, at())}
			if work {
				requests[i] = task.Request{Arrival: at(), Work: at(), MemoryMB: at()}
			}
			programs[i] = task.Program{Name: tasks[i].Name, Class: task.Unscalable, Solo: mig.Seconds(at()), Serial: 1, Parallelism: 1}
		}
		if n > 0 && rapid.Bool().Draw(t, "arrivals") {
			for range rapid.IntRange(n, n).Draw(t, "arrivals of") {
				batches.Arrivals = append(batches.Arrivals, mig.Seconds(few.Draw(t, "arrival")))
			}
		}
		check(t, "jobs", jobs, func(w io.Writer) error { return task.WriteJobs(w, a30, jobs) },
			func(r io.Reader) (any, error) { return task.ReadJobs(r, "f", a30) })
		check(t, "stream", batches, func(w io.Writer) error { return task.WriteStream(w, a30, batches) },
			func(r io.Reader) (any, error) { return task.ReadStream(r, "f", a30) })
		check(t, "programs", programs, func(w io.Writer) error { return task.WritePrograms(w, programs) },
			func(r io.Reader) (any, error) { return task.ReadPrograms(r, "f") })
		check(t, "requests", len(requests), func(w io.Writer) error { return task.WriteRequests(w, requests) },
			func(r io.Reader) (any, error) {
				got, err := task.ReadRequests(r, "f", a30, task.Requests{GPUs: 8})
				for i := range min(len(got.Requests), n) {
					a, b := got.Requests[i], requests[i]
					if a.Arrival != b.Arrival || a.Instances() != b.Instances() || !work && a.Lifespan != b.Lifespan || a.Work != b.Work {
						return got, err
					}
				}
				return len(got.Requests), err
			})
	})
}
