package traces

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// A Rejected row is a row from which no job can be made.
type Rejected struct {
	Line   int // the line in which the row begins, from 1
	Reason string
	Part   Part
}

// A Part says what a rejected row is in the demand for GPUs.
type Part int

// The parts of the demand.
const (
	Lost    Part = iota // a job that needs GPUs and cannot be used
	Running             // a job that has no end yet
	Waiting             // a job that was not started
	Past                // a job that holds no GPU when a snapshot is taken
	NoJob               // a step of a job, or a job without GPUs
)

// A partError is a reason for which a row that is not [Lost] is rejected.
type partError struct {
	part Part
	text string
}

func (e *partError) Error() string { return e.text }

// neverStarted rejects a job that was never started. The text continues a sentence that begins with the job.
func neverStarted(text string) error { return &partError{Waiting, text + ": it was never started"} }

// reject returns a rejected row.
func reject(line int, reason error) Rejected {
	out := Rejected{Line: line, Reason: reason.Error()}
	var e *partError
	if errors.As(reason, &e) {
		out.Part = e.part
	}
	return out
}

// A Reason is a reason for which rows are rejected.
type Reason struct {
	Text       string
	Rows, Line int // Rows is the number of the rows, and Line is the line of the first
}

// Reasons counts the rejected rows by reason. It returns the most frequent reason first.
func Reasons(rejected []Rejected) (out []Reason) {
	for _, r := range rejected {
		i := slices.IndexFunc(out, func(q Reason) bool { return q.Text == r.Reason })
		if i < 0 {
			i, out = len(out), append(out, Reason{Text: r.Reason, Line: r.Line})
		}
		out[i].Rows++
		out[i].Line = min(out[i].Line, r.Line)
	}
	slices.SortStableFunc(out, func(a, b Reason) int { return cmp.Or(b.Rows-a.Rows, a.Line-b.Line) })
	return out
}

// A Census counts the jobs of a trace.
type Census struct {
	// Used is the number of jobs that became requests. Jobs also has those of the parts Lost, Running and Waiting.
	Used, Jobs int
	Of         map[Part]int // the number of rejected rows of each part
	Lost       string       // continues a sentence with the most frequent reason for which jobs are lost
}

// Count counts the jobs of a trace from the number that became requests and the rejected rows.
func Count(used int, rejected []Rejected) Census {
	n := Census{Used: used, Of: map[Part]int{}}
	var lost []Rejected
	for _, r := range rejected {
		if n.Of[r.Part]++; r.Part == Lost {
			lost = append(lost, r)
		}
	}
	n.Jobs = used + n.Of[Lost] + n.Of[Running] + n.Of[Waiting]
	if len(lost) > 0 {
		most := Reasons(lost)[0]
		n.Lost = fmt.Sprintf("; most frequent reason (%d of them): %s", most.Rows, most.Text)
	}
	return n
}

// mostReasons is the largest number of reasons that [LeftOut] says.
const mostReasons = 6

// LeftOut returns a sentence for each of the most frequent reasons for rejected rows, and one for the others.
func LeftOut(rejected []Rejected) (out []string) {
	others := len(rejected)
	for i, r := range Reasons(rejected) {
		if i == mostReasons {
			return append(out, fmt.Sprintf("Left out for other reasons: %s.", countRows(others)))
		}
		others -= r.Rows
		where := fmt.Sprintf("line %d", r.Line)
		if r.Rows > 1 {
			where = fmt.Sprintf("%s, the first in line %d", countRows(r.Rows), r.Line)
		}
		out = append(out, fmt.Sprintf("Left out: %s: %s.", where, r.Text))
	}
	return out
}

func countRows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// family returns the name of a model without its memory, in lower case.
func family(g *mig.GPU) string {
	name, _, _ := strings.Cut(strings.ToLower(g.Name), "-")
	return name
}

// IsModel reports whether a name in a file, such as nvidia_h100_80gb_hbm3, is of a model. A name need not have the
// memory.
func IsModel(g *mig.GPU, name string) bool {
	words := strings.Fields(strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(name)))
	_, memory, _ := strings.Cut(Compute.Profile(g, WholeGPU).String(), ".")
	return slices.Contains(words, family(g)) && !slices.ContainsFunc(words, func(word string) bool {
		return strings.HasSuffix(word, "gb") && word != memory
	})
}

// OtherModels returns a sentence that lists the GPU models other than g that jobs ask for, each with its number of
// jobs, by name; "" if there is none.
func OtherModels(g *mig.GPU, jobs []Job) string {
	counts := countModels(jobs, func(j Job) bool { return !IsModel(g, j.Model) })
	if len(counts) == 0 {
		return ""
	}
	models := nearest.Names(slices.Sorted(maps.Keys(counts)), func(model string) string {
		return fmt.Sprintf("%s (%d)", model, counts[model])
	})
	return fmt.Sprintf("GPU models that jobs ask for and do not get here: %s. All GPUs are %s.",
		strings.Join(models, ", "), g)
}

// Type returns the most frequent type of GPU of model g that jobs ask for, with or without a profile. If there is none,
// it is "" with a profile, and otherwise the first word of the model: Slurm refuses a node on which only some GPUs have
// a type.
func Type(g *mig.GPU, jobs []Job, profile bool) string {
	counts := countModels(jobs, func(j Job) bool { return (j.Profile != "") == profile && IsModel(g, j.Model) })
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return counts[b] - counts[a] })
	if !profile {
		names = append(names, family(g))
	}
	return append(names, "")[0]
}

// countModels counts some of the jobs that ask for a model, by its name.
func countModels(jobs []Job, keep func(Job) bool) map[string]int {
	counts := map[string]int{}
	for _, j := range jobs {
		if j.Model != "" && keep(j) {
			counts[j.Model]++
		}
	}
	return counts
}

// DoubtUnit returns a fact that suggests that lifetimes were read in a wrong unit: most are below a second, or more
// than one in twenty exceeds the time that the trace covers. It returns "" if neither is so. The jobs are in the order
// of their submission.
func DoubtUnit(jobs []Job) string {
	if len(jobs) == 0 {
		return ""
	}
	span := jobs[len(jobs)-1].Submit - jobs[0].Submit
	short, long := 0, 0
	for i := range jobs {
		switch {
		case jobs[i].Lifetime < 1:
			short++
		case jobs[i].Lifetime > span:
			long++
		}
	}
	switch {
	case 2*short > len(jobs):
		return fmt.Sprintf("%d of %d jobs run for less than a second", short, len(jobs))
	case 20*long > len(jobs):
		return fmt.Sprintf("%d of %d jobs run for longer than the %.0f s from the first submission to the last", long,
			len(jobs), span)
	}
	return ""
}

// WriteRejected writes rejected rows, sorted by line, as CSV with the columns line and reason. It passes on the errors
// of w.
func WriteRejected(w io.Writer, rejected []Rejected) error {
	rejected = slices.Clone(rejected)
	slices.SortStableFunc(rejected, func(a, b Rejected) int { return a.Line - b.Line })
	return strictcsv.Write(w, []string{"line", "reason"}, len(rejected), func(i int) []string {
		return []string{strconv.Itoa(rejected[i].Line), rejected[i].Reason}
	})
}
