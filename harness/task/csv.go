package task

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// ParseError names the place of a mistake in a file and says how to correct it.
type ParseError = strictcsv.Error

// ReadCSV reads a batch for a GPU: one line for each task, with the header task,t1,t2,t3,t4,t7 (one column for each
// instance size of the GPU, in any order). A field is the task's duration in seconds on instances of that size, or
// inf if it does not fit. Lines may end in CRLF, the file may begin with a UTF-8 byte order mark, fields may have
// spaces around them (but not after a closing quote), and empty lines are skipped.
//
// The file's name is only used in errors. A mistake in the text is a [*ParseError]. ReadCSV passes on the errors of
// r. A stream of several batches is an error, too; [ReadStream] reads it.
func ReadCSV(r io.Reader, file string, g *mig.GPU) (Batch, error) {
	b, _, err := ReadCSVLines(r, file, g)
	return b, err
}

// ReadCSVLines reads a batch as [ReadCSV] does and also returns the line of each task.
func ReadCSVLines(r io.Reader, file string, g *mig.GPU) (Batch, []int, error) {
	b, lines, err := readStream(r, file, g)
	if err == nil && len(b.Lengths) > 1 {
		err = &ParseError{File: file, Line: 1, Column: batchColumn, Err: fmt.Errorf(
			"the tasks are divided into %d batches, and one is wanted here; "+
				"leave the column out for a single batch", len(b.Lengths))}
	}
	if err == nil && b.Arrivals != nil {
		err = &ParseError{File: file, Line: 1, Column: arrivalColumn, Err: errors.New(
			"the tasks arrive one after the other, and a batch that is there from the beginning is wanted here; " +
				"leave the column out")}
	}
	return b.Tasks, lines, err
}

// ReadStream reads the columns of [ReadCSV] and two optional ones. The column batch holds the number of each task's
// batch, ascending from 1 without gaps. Without it the tasks are one batch. The column arrival_s holds the time at
// which each task arrives, in seconds from 0; times never fall.
func ReadStream(r io.Reader, file string, g *mig.GPU) (Batches, error) {
	b, _, err := readStream(r, file, g)
	return b, err
}

// readStream implements [ReadStream] and also returns the line of each task.
func readStream(r io.Reader, file string, g *mig.GPU) (Batches, []int, error) {
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns:  header(g),
		Optional: []string{batchColumn, arrivalColumn},
		Header:   fmt.Sprintf("the header for %s (sizes %v)", g, g.Sizes()),
		Empty:    "there are no tasks; write one line a task below the header",
	})
	if err != nil {
		return Batches{}, nil, err
	}
	out := Batches{Tasks: make(Batch, in.Len())}
	seen := make(map[string]int, in.Len())
	for i := range out.Tasks {
		if out.Tasks[i], err = readTask(in, i, g, seen); err != nil {
			return Batches{}, nil, err
		}
	}
	if out.Lengths, err = lengths(in); err != nil {
		return Batches{}, nil, err
	}
	if out.Arrivals, err = arrivals(in); err != nil {
		return Batches{}, nil, err
	}
	return out, in.Lines, nil
}

// readTask reads the task of a row. seen has the rows of the tasks before it, by name.
func readTask(in *strictcsv.Sheet, row int, g *mig.GPU, seen map[string]int) (Task, error) {
	t := Task{Name: in.Text(row, "task")}
	problem := nameProblem(t.Name)
	if problem != "" {
		return t, in.Fail(row, "task", fmt.Errorf("the name %s; write one that identifies the task", problem))
	}
	first, repeated := seen[t.Name]
	if repeated {
		return t, in.Fail(row, "task",
			fmt.Errorf("%q is the name of the task on line %d, too; names must differ", t.Name,
				in.Lines[first]))
	}
	seen[t.Name] = row
	fits := false
	for _, s := range g.Sizes() {
		d, err := duration(in.Text(row, column(s)))
		if err != nil {
			return t, in.Fail(row, column(s), err)
		}
		t.Set(s, d)
		fits = fits || t.Fits(s)
	}
	if !fits {
		return t, in.Fail(row, "",
			fmt.Errorf("task %q fits no instance of %s (sizes %v); write its seconds for at least one", t.Name, g,
				g.Sizes()))
	}
	return t, nil
}

// arrivals returns the arrival times of the tasks; nil for a file without the column.
func arrivals(in *strictcsv.Sheet) ([]mig.Seconds, error) {
	if !in.Has(arrivalColumn) {
		return nil, nil
	}
	instant := strictcsv.Range{
		Least: 0, Most: MaxSeconds, What: fmt.Sprintf("an instant; write seconds from 0 to %g", MaxSeconds),
	}
	out := make([]mig.Seconds, in.Len())
	for i := range out {
		out[i] = mig.Seconds(in.Number(i, arrivalColumn, instant))
		if in.Err != nil {
			return nil, in.Err
		}
		if i > 0 && out[i] < out[i-1] {
			return nil, in.Fail(i, arrivalColumn,
				fmt.Errorf("%v s is before %v s of the line above; write the tasks in the order in which they arrive",
					out[i], out[i-1]))
		}
	}
	return out, nil
}

// lengths returns the number of tasks of each batch.
func lengths(in *strictcsv.Sheet) ([]int, error) {
	if !in.Has(batchColumn) {
		return []int{in.Len()}, nil
	}
	number := strictcsv.Range{Least: 1, Most: math.MaxInt, What: "the number of a batch; write a whole number from 1"}
	var out []int
	for i := range in.Len() {
		n := in.Whole(i, batchColumn, number)
		switch {
		case in.Err != nil:
			return nil, in.Err
		case n == len(out):
			out[n-1]++
		case n == len(out)+1:
			out = append(out, 1)
		default:
			want := fmt.Sprintf("%d or %d", len(out), len(out)+1)
			if i == 0 {
				want = "1"
			}
			return nil, in.Fail(i, batchColumn,
				fmt.Errorf("%d cannot stand here; batches are numbered in the order of their tasks, so write %s", n,
					want))
		}
	}
	return out, nil
}

// WriteStream writes a file for [ReadStream]. Reading it back gives the same stream, to the last bit of every duration
// on the sizes that the GPU has. A single batch has no column batch. WriteStream returns an error for a task that the
// GPU cannot run, a name that files cannot hold, and impossible lengths or arrivals. It passes on the errors of w.
func WriteStream(w io.Writer, g *mig.GPU, stream Batches) error {
	b, names := stream.Tasks, header(g)
	if err := b.Validate(g); err != nil {
		return err
	}
	numbers, err := batchNumbers(stream.Lengths, len(b))
	if err != nil {
		return err
	}
	several := len(stream.Lengths) > 1
	if several {
		names = append(names, batchColumn)
	}
	if stream.Arrivals != nil {
		names = append(names, arrivalColumn)
		if err := checkArrivals(stream.Arrivals, len(b)); err != nil {
			return err
		}
	}
	for i := range b {
		problem := nameProblem(b[i].Name)
		if problem != "" {
			return fmt.Errorf("task %q (number %d) has a name that %s", b[i].Name, i+1, problem)
		}
	}
	return strictcsv.Write(w, names, len(b), func(i int) []string {
		line := []string{b[i].Name}
		for _, s := range g.Sizes() {
			line = append(line, shortest(b[i].On(s)))
		}
		if several {
			line = append(line, numbers[i])
		}
		if stream.Arrivals != nil {
			line = append(line, shortest(stream.Arrivals[i]))
		}
		return line
	})
}

// batchNumbers returns the number of each task's batch, for batches of the given lengths that together have n tasks.
func batchNumbers(lengths []int, n int) (numbers []string, err error) {
	for i, length := range lengths {
		if length < 1 {
			return nil, fmt.Errorf("batch %d has %d tasks; each has at least one", i+1, length)
		}
		length = min(length, n+1) // enough to be refused below
		numbers = append(numbers, slices.Repeat([]string{strconv.Itoa(i + 1)}, length)...)
	}
	if len(numbers) != n {
		return nil, fmt.Errorf("the lengths of the batches are %v, and there are %d tasks", lengths, n)
	}
	return numbers, nil
}

// checkArrivals returns an error unless n tasks arrive in order, at times that files may hold.
func checkArrivals(arrivals []mig.Seconds, n int) error {
	if len(arrivals) != n {
		return fmt.Errorf("there are %d arrivals of %d tasks", len(arrivals), n)
	}
	for i, at := range arrivals {
		if !(at >= 0 && at <= MaxSeconds) {
			return fmt.Errorf("task number %d arrives at %v s; instants are from 0 to %g", i+1, at, MaxSeconds)
		}
	}
	return checkOrder("task", n, func(i int) mig.Seconds { return arrivals[i] })
}

// checkOrder returns an error unless there are rows, in ascending order of their arrivals.
func checkOrder[T cmp.Ordered](row string, n int, arrival func(i int) T) error {
	if n == 0 {
		return fmt.Errorf("there is no %s to write", row)
	}
	for i := 1; i < n; i++ {
		if arrival(i) < arrival(i-1) {
			return fmt.Errorf("%s number %d arrives at %v, before the one above, at %v; sort them by arrival", row, i+1,
				arrival(i), arrival(i-1))
		}
	}
	return nil
}

// batchColumn is the column of a stream's file that holds the number of each task's batch.
const batchColumn = "batch"

// arrivalColumn is the column of a stream's file that holds each task's arrival time.
const arrivalColumn = "arrival_s"

// header returns the columns that every tasks file has.
func header(g *mig.GPU) []string {
	return append([]string{"task"}, nearest.Names(g.Sizes(), column)...)
}

// column returns the name of the column of the durations on a size.
func column(s mig.Slices) string { return "t" + strconv.Itoa(int(s)) }

// inf is the duration in files for a size that a task does not fit.
const inf = "inf"

// duration reads a duration.
func duration(text string) (mig.Seconds, error) {
	if text == inf {
		return never, nil
	}
	d, err := strictcsv.Float(text)
	switch {
	case errors.Is(err, strconv.ErrRange) && d > 0:
		err = fmt.Errorf("%q is too large for a duration; write inf where the task does not fit", text)
	case err != nil || !(d > 0):
		err = fmt.Errorf("%q is not a duration; write a positive number of seconds, or inf", text)
	case d < MinSeconds:
		err = fmt.Errorf("%q is too small for a duration; the shortest is %g s", text, MinSeconds)
	case d > MaxSeconds:
		err = fmt.Errorf("%q is too large for a duration, at most %g s; write inf where the task does not fit", text,
			MaxSeconds)
	}
	return mig.Seconds(d), err
}

// shortest writes a number as the shortest text that reads back as the same number.
func shortest[T ~float64](v T) string {
	if math.IsInf(float64(v), 1) {
		return inf
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 64)
}

// MaxName is the length in bytes of the longest name that files may hold.
const MaxName = 200

// nameProblem returns the reason why files cannot hold a name, as the end of a sentence. It
// returns "" if the name can be written and reads back unchanged.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxName:
		return fmt.Sprintf("is longer than %d bytes", MaxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a line break or another control character"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space"
	}
	return ""
}
