package task

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

// A jobRow is one line of a jobs file, with the columns of every model.
type jobRow struct {
	Arrival  minuteMark `csv:"arrival_min"`
	Deadline minuteMark `csv:"deadline_min"`
	T1       minuteSpan `csv:"t1"`
	T2       minuteSpan `csv:"t2"`
	T3       minuteSpan `csv:"t3"`
	T4       minuteSpan `csv:"t4"`
	T7       minuteSpan `csv:"t7"`
}

// cells returns the durations by instance size.
func (r *jobRow) cells() [mig.MaxSize + 1]*minuteSpan {
	return [...]*minuteSpan{1: &r.T1, 2: &r.T2, 3: &r.T3, 4: &r.T4, 7: &r.T7}
}

// ReadJobs reads jobs for a GPU model: one line a job, with the columns
// arrival_min (ascending), deadline_min, and its duration on instances of each of
// the model's sizes, t1 to t7 (A30: t1,t2,t4), in any order. All are minutes;
// instants count from the beginning of the day. Spaces, line ends and quotes are
// treated as by [ReadCSV].
//
// The file's name is only used in errors. What is wrong with the text is a
// [*ParseError]; other errors are those of r.
func ReadJobs(r io.Reader, file string, g *mig.GPU) ([]Job, error) {
	t, err := strictcsv.Read[jobRow](r, file, strictcsv.Format{
		Columns: jobHeader(g),
		Header:  fmt.Sprintf("the header of a jobs file for %s (sizes %v)", g, g.Sizes()),
		Empty:   "there are no jobs; write one line a job below the header",
	})
	if err != nil {
		return nil, err
	}
	out := make([]Job, len(t.Rows))
	for i := range out {
		j, row := &out[i], &t.Rows[i]
		j.Arrival, j.Deadline = Minutes(row.Arrival), Minutes(row.Deadline)
		if j.Deadline < j.Arrival {
			return nil, t.Fail(i, "deadline_min",
				fmt.Errorf("%v is before the arrival at %v; write an instant, not how long the job may take", j.Deadline,
					j.Arrival))
		}
		if i > 0 && j.Arrival < out[i-1].Arrival {
			return nil, t.Fail(i, "arrival_min",
				fmt.Errorf("%v comes after %v on line %d; sort the jobs by arrival", j.Arrival, out[i-1].Arrival, t.Lines[i-1]))
		}
		cells := row.cells()
		for _, s := range g.Sizes() {
			j.Set(s, Minutes(*cells[s]))
		}
	}
	return out, nil
}

// WriteJobs writes what [ReadJobs] reads: reading it back gives the same jobs, to the
// last bit of every number on the sizes that the GPU has. A job that does not run on
// all of them is an error. Other errors are those of w.
func WriteJobs(w io.Writer, g *mig.GPU, jobs []Job) error {
	rows := make([]jobRow, len(jobs))
	for i := range jobs {
		if err := jobs[i].Validate(g.Sizes()); err != nil {
			return fmt.Errorf("job %d %w", i, err)
		}
		rows[i].Arrival, rows[i].Deadline = minuteMark(jobs[i].Arrival), minuteMark(jobs[i].Deadline)
		cells := rows[i].cells()
		for _, s := range g.Sizes() {
			*cells[s] = minuteSpan(jobs[i].On(s))
		}
	}
	return gocsv.MarshalCSV(rows, &columns{Writer: csv.NewWriter(w), names: jobHeader(g)})
}

func jobHeader(g *mig.GPU) []string {
	return append([]string{"arrival_min", "deadline_min"}, header(g)[1:]...)
}

// A minuteMark is an instant, and a minuteSpan a duration, as files write them.
type (
	minuteMark = decimal[instants]
	minuteSpan = decimal[durations]
	instants   struct{}
	durations  struct{}
)

func (instants) limits() (least, most float64, what string) {
	return 0, float64(MaxMinutes), fmt.Sprintf("an instant; write minutes from 0 to %v", MaxMinutes)
}

func (durations) limits() (least, most float64, what string) {
	return above0, float64(MaxMinutes),
		fmt.Sprintf("a duration; write minutes, more than 0 and at most %v, for every size", MaxMinutes)
}

// above0 is the least number above 0.
const above0 = math.SmallestNonzeroFloat64
