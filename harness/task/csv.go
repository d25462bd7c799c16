package task

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

// ParseError says where a file is wrong and what would be right.
type ParseError = strictcsv.Error

// ReadCSV reads a batch for a GPU: one line a task, with the header
// task,t1,t2,t3,t4,t7 (one column for each instance size of the GPU, in any order).
// A field is the task's duration in seconds on instances of that size, or inf where it
// does not fit. Lines may end in CRLF, the file may begin with a UTF-8 byte order mark,
// fields may have spaces around them (but none after a closing quote), and empty lines
// are skipped.
//
// The file's name is only used in errors. What is wrong with the text is a
// [*ParseError]; other errors are those of r. A stream of several batches is an error,
// too; [ReadStream] reads it.
func ReadCSV(r io.Reader, file string, g *mig.GPU) (Batch, error) {
	b, _, err := ReadCSVLines(r, file, g)
	return b, err
}

// ReadCSVLines reads what [ReadCSV] does and also returns the line of each task.
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

// ReadStream reads what [ReadCSV] does, and the division into batches: the column batch, if
// it is there, holds the number of each task's batch. Numbers count from 1 and never fall.
// Without the column, the tasks are one batch. The column arrival_s, if it is there, holds when
// each task arrives, in seconds from 0, which never falls.
func ReadStream(r io.Reader, file string, g *mig.GPU) (Batches, error) {
	b, _, err := readStream(r, file, g)
	return b, err
}

func readStream(r io.Reader, file string, g *mig.GPU) (Batches, []int, error) {
	t, err := strictcsv.Read[row](r, file, strictcsv.Format{
		Columns:  header(g),
		Optional: []string{batchColumn, arrivalColumn},
		Header:   fmt.Sprintf("the header for %s (sizes %v)", g, g.Sizes()),
		Empty:    "there are no tasks; write one line a task below the header",
	})
	if err != nil {
		return Batches{}, nil, err
	}
	lengths, err := lengths(t)
	if err != nil {
		return Batches{}, nil, err
	}
	arrivals, err := arrivals(t)
	if err != nil {
		return Batches{}, nil, err
	}
	b, err := batch(g, t)
	return Batches{Tasks: b, Lengths: lengths, Arrivals: arrivals}, t.Lines, err
}

// arrivals returns when the tasks arrive; nil in a file without the column.
func arrivals(file *strictcsv.Table[row]) ([]mig.Seconds, error) {
	if !file.Rows[0].Arrival.given {
		return nil, nil
	}
	out := make([]mig.Seconds, len(file.Rows))
	for i := range file.Rows {
		out[i] = file.Rows[i].Arrival.at
		if i > 0 && out[i] < out[i-1] {
			return nil, file.Fail(i, arrivalColumn,
				fmt.Errorf("%v s is before %v s of the line above; write the tasks in the order in which they arrive",
					out[i], out[i-1]))
		}
	}
	return out, nil
}

// lengths returns the number of tasks of each batch.
func lengths(file *strictcsv.Table[row]) ([]int, error) {
	if file.Rows[0].Batch == 0 {
		return []int{len(file.Rows)}, nil
	}
	var lengths []int
	for i := range file.Rows {
		switch n := int(file.Rows[i].Batch); n {
		case len(lengths):
			lengths[n-1]++
		case len(lengths) + 1:
			lengths = append(lengths, 1)
		default:
			want := fmt.Sprintf("%d or %d", len(lengths), len(lengths)+1)
			if i == 0 {
				want = "1"
			}
			return nil, file.Fail(i, batchColumn,
				fmt.Errorf("%d cannot stand here; batches are numbered in the order of their tasks, so write %s", n, want))
		}
	}
	return lengths, nil
}

// WriteCSV writes what [ReadCSV] reads: reading it back gives the same batch, to
// the last bit of every duration on the sizes that the GPU has. A batch that the
// GPU cannot run, or with a name that files cannot hold, is an error; other errors are
// those of w.
func WriteCSV(w io.Writer, g *mig.GPU, b Batch) error { return WriteStream(w, g, OneBatch(b)) }

// WriteStream writes what [ReadStream] reads, as [WriteCSV] does. The column batch is left
// out for a single batch.
func WriteStream(w io.Writer, g *mig.GPU, stream Batches) error {
	b, names := stream.Tasks, header(g)
	if len(stream.Lengths) > 1 {
		names = append(names, batchColumn)
	}
	if stream.Arrivals != nil {
		names = append(names, arrivalColumn)
	}
	if err := b.Validate(g); err != nil {
		return err
	}
	rows := make([]row, len(b))
	for i := range b {
		if problem := nameProblem(b[i].Name); problem != "" {
			return fmt.Errorf("task %q (number %d) has a name that %s", b[i].Name, i+1, problem)
		}
		rows[i].Task = b[i].Name
		cells := rows[i].cells()
		for _, s := range g.Sizes() {
			*cells[s] = cell(b[i].On(s))
		}
		if stream.Arrivals != nil {
			rows[i].Arrival = instant{true, stream.Arrivals[i]}
		}
	}
	next := 0
	for i, n := range stream.Lengths {
		for range n {
			rows[next].Batch = integer[batchNumbers](i + 1)
			next++
		}
	}
	return gocsv.MarshalCSV(rows, &columns{Writer: csv.NewWriter(w), names: names})
}

// batchColumn is the column of a stream's file that holds the number of each task's batch.
const batchColumn = "batch"

// arrivalColumn is the column of a stream's file that holds when each task arrives.
const arrivalColumn = "arrival_s"

func header(g *mig.GPU) []string {
	names := []string{"task"}
	for _, s := range g.Sizes() {
		names = append(names, fmt.Sprintf("t%d", s))
	}
	return names
}

// A row is one line, with the columns of every model.
type row struct {
	Task string `csv:"task"`
	T1   cell   `csv:"t1"`
	T2   cell   `csv:"t2"`
	T3   cell   `csv:"t3"`
	T4   cell   `csv:"t4"`
	T7   cell   `csv:"t7"`
	// Batch is 0 in a file without the column.
	Batch integer[batchNumbers] `csv:"batch"`
	// Arrival is the zero value in a file without the column.
	Arrival instant `csv:"arrival_s"`
}

// An instant is a time in seconds from 0.
type instant struct {
	given bool
	at    mig.Seconds
}

func (t *instant) UnmarshalCSV(s string) error {
	v, err := strictcsv.Float(s)
	if err != nil || !(v >= 0 && v <= MaxSeconds) {
		return fmt.Errorf("%q is not an instant; write seconds from 0 to %g", s, MaxSeconds)
	}
	*t = instant{true, mig.Seconds(v + 0)} // -0 becomes 0
	return nil
}

func (t instant) MarshalCSV() (string, error) { return shortest(t.at), nil }

// cells returns the cells by instance size.
func (r *row) cells() [mig.MaxSize + 1]*cell {
	return [...]*cell{1: &r.T1, 2: &r.T2, 3: &r.T3, 4: &r.T4, 7: &r.T7}
}

// A cell is a duration as files write it.
type cell mig.Seconds

// inf is how files write that a task does not fit.
const inf = "inf"

func (c *cell) UnmarshalCSV(s string) error {
	if s == inf {
		*c = cell(never)
		return nil
	}
	d, err := strictcsv.Float(s)
	switch {
	case errors.Is(err, strconv.ErrRange) && d > 0:
		return fmt.Errorf("%q is too large for a duration; write inf where the task does not fit", s)
	case err != nil || !(d > 0):
		return fmt.Errorf("%q is not a duration; write a positive number of seconds, or inf", s)
	case d < MinSeconds:
		return fmt.Errorf("%q is too small for a duration; the shortest is %g s", s, MinSeconds)
	case d > MaxSeconds:
		return fmt.Errorf("%q is too large for a duration, at most %g s; write inf where the task does not fit", s,
			MaxSeconds)
	}
	*c = cell(d)
	return nil
}

func (c cell) MarshalCSV() (string, error) {
	if mig.Seconds(c) == never {
		return inf, nil
	}
	return shortest(c), nil
}

// shortest writes a number as the shortest text that reads back as the same number.
func shortest[T ~float64](v T) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }

// A decimal is a number as files write it, one of those that B limits.
type decimal[B interface {
	// limits are the least and the most. what completes the sentence "... is not".
	limits() (least, most float64, what string)
}] float64

func (d *decimal[B]) UnmarshalCSV(s string) error {
	var all B
	least, most, what := all.limits()
	v, err := strictcsv.Float(s)
	if err != nil || !(v >= least && v <= most) {
		return fmt.Errorf("%q is not %s", s, what)
	}
	*d = decimal[B](v + 0) // -0 becomes 0
	return nil
}

func (d decimal[B]) MarshalCSV() (string, error) { return shortest(d), nil }

// An integer is a whole number as files write it, one of those that B limits.
type integer[B interface {
	// limits are the least and the most. what completes the sentence "... is not".
	limits() (least, most int, what string)
}] int

func (n *integer[B]) UnmarshalCSV(s string) error {
	var all B
	least, most, what := all.limits()
	v, err := strictcsv.Int(s)
	if err != nil || v < least || v > most {
		return fmt.Errorf("%q is not %s", s, what)
	}
	*n = integer[B](v)
	return nil
}

type batchNumbers struct{}

func (batchNumbers) limits() (least, most int, what string) {
	return 1, math.MaxInt, "the number of a batch; write a whole number from 1"
}

// MaxName is the length in bytes of the longest name that files may hold.
const MaxName = 200

// nameProblem returns what keeps a name out of files, as the end of a sentence, or "" if
// it can be written and reads back as it was.
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

// batch makes tasks of the rows and makes the checks that need more than one field.
func batch(g *mig.GPU, file *strictcsv.Table[row]) (Batch, error) {
	b := make(Batch, len(file.Rows))
	seen := make(map[string]int, len(b))
	for i := range b {
		t := &b[i]
		t.Name = file.Rows[i].Task
		if problem := nameProblem(t.Name); problem != "" {
			return nil, file.Fail(i, "task", fmt.Errorf("the name %s; write one that identifies the task", problem))
		}
		if first, ok := seen[t.Name]; ok {
			return nil, file.Fail(i, "task", fmt.Errorf("%q is the name of the task on line %d, too; names must differ", t.Name,
				file.Lines[first]))
		}
		seen[t.Name] = i
		fits := false
		cells := file.Rows[i].cells()
		for _, s := range g.Sizes() {
			t.Set(s, mig.Seconds(*cells[s]))
			fits = fits || t.Fits(s)
		}
		if !fits {
			return nil, file.Fail(i, "",
				fmt.Errorf("task %q fits no instance of %s (sizes %v); write its seconds for at least one", t.Name, g, g.Sizes()))
		}
	}
	return b, nil
}

// columns writes the columns that the GPU has and leaves the others out.
type columns struct {
	*csv.Writer
	names []string
	keep  []int
}

// Write writes a line. The first line is gocsv's header.
func (c *columns) Write(fields []string) error {
	if c.keep == nil {
		for _, name := range c.names {
			c.keep = append(c.keep, slices.Index(fields, name))
		}
	}
	kept := make([]string, len(c.keep))
	for i, j := range c.keep {
		kept[i] = fields[j]
	}
	return c.Writer.Write(kept)
}
