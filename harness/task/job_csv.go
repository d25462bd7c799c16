package task

import (
	"fmt"
	"io"
	"math"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// ReadJobs reads jobs for a GPU model: one line for each job, with the columns arrival_min (ascending), deadline_min,
// and its duration on instances of each of the model's sizes, t1 to t7 (A30: t1,t2,t4), in any order. All are
// minutes; times count from the beginning of the day. Lines that begin with # are
// comments. Spaces, line ends, quotes and errors are treated as by [ReadCSV].
func ReadJobs(r io.Reader, file string, g *mig.GPU) ([]Job, error) {
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns:  jobHeader(g),
		Header:   fmt.Sprintf("the header of a jobs file for %s (sizes %v)", g, g.Sizes()),
		Empty:    "there are no jobs; write one line a job below the header",
		Comments: true,
	})
	if err != nil {
		return nil, err
	}
	out := make([]Job, in.Len())
	for i := range out {
		j := &out[i]
		j.Arrival = Minutes(in.Number(i, "arrival_min", minuteMarks))
		j.Deadline = Minutes(in.Number(i, "deadline_min", minuteMarks))
		for _, s := range g.Sizes() {
			j.Set(s, Minutes(in.Number(i, column(s), minuteSpans)))
		}
		if in.Err != nil {
			return nil, in.Err
		}
		if j.Deadline < j.Arrival {
			return nil, in.Fail(i, "deadline_min",
				fmt.Errorf("%v is before the arrival at %v; write an instant, not how long the job may take",
					j.Deadline, j.Arrival))
		}
		if i > 0 && j.Arrival < out[i-1].Arrival {
			return nil, in.Fail(i, "arrival_min",
				fmt.Errorf("%v comes after %v on line %d; sort the jobs by arrival", j.Arrival, out[i-1].Arrival,
					in.Lines[i-1]))
		}
	}
	return out, nil
}

// The times and durations that files may hold.
var (
	minuteMarks = strictcsv.Range{
		Least: 0, Most: float64(MaxMinutes), What: fmt.Sprintf("an instant; write minutes from 0 to %v", MaxMinutes),
	}
	minuteSpans = strictcsv.Range{
		Least: above0, Most: float64(MaxMinutes),
		What: fmt.Sprintf("a duration; write minutes, more than 0 and at most %v, for every size", MaxMinutes),
	}
)

// above0 is the least number above 0.
const above0 = math.SmallestNonzeroFloat64

// WriteJobs writes a file for [ReadJobs]. Reading it back gives the same jobs, to the last bit of every number on the
// sizes that the GPU has. WriteJobs returns an error for an empty list, for jobs that are not in order of arrival,
// and for a job that does not run on all sizes. It passes on the errors of w.
func WriteJobs(w io.Writer, g *mig.GPU, jobs []Job) error {
	if err := checkOrder("job", len(jobs), func(i int) Minutes { return jobs[i].Arrival }); err != nil {
		return err
	}
	for i := range jobs {
		if err := jobs[i].Validate(g.Sizes()); err != nil {
			return fmt.Errorf("job %d %w", i, err)
		}
	}
	return strictcsv.Write(w, jobHeader(g), len(jobs), func(i int) []string {
		minutes := nearest.Names(g.Sizes(), func(s mig.Slices) string { return shortest(jobs[i].On(s)) })
		return append([]string{shortest(jobs[i].Arrival), shortest(jobs[i].Deadline)}, minutes...)
	})
}

func jobHeader(g *mig.GPU) []string {
	return append([]string{"arrival_min", "deadline_min"}, header(g)[1:]...)
}
