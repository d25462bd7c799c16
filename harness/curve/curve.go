// Package curve is the format of learning curves, and what their scores are measured
// on: training writes them, figures read them.
//
// A curve is a CSV file with a line for each segment of a training run. Every field is
// a finite number, but for the return and the length of episodes, which are empty where
// no episode ended in the segment.
package curve

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Seed is that of the datasets on which agents are scored while they learn: no table
// uses it.
const Seed = 1_000_003

// Batches is how many batches a score is the mean over, equally many of each workload
// and dataset.
const Batches = 100

// Datasets names the datasets on which agents that schedule batches of n tasks of a
// workload are scored: one for each reading of the paper's generator, the text's and the
// one that the released code trains with.
func Datasets(workload string, n int) []string {
	var names []string
	for _, generator := range []string{"paper", "released-train"} {
		names = append(names, fmt.Sprintf("drl/%s?gen=%s&n=%d&seed=%d", workload, generator, n, Seed))
	}
	return names
}

// A Point is a line of a curve: how an agent did at the end of a segment.
type Point struct {
	// Steps of training so far, at least 1.
	Steps int64
	// Score is what the agent achieves on instances that are always the same: the mean
	// p_opt in percent; of an agent for jobs with deadlines the share of late ones in
	// percent; of one for co-runs the relative throughput, of which more is better.
	Score float64
	// Return and Length are means over the episodes that ended in the segment; NaN where
	// none did.
	Return, Length float64
	// What follows are means over the segment's iterations.
	Entropy, PolicyLoss, ValueLoss, ExplainedVariance float64
	// LearningRate and Exploration are those of the last iteration.
	LearningRate, Exploration float64
}

// columns are those of the file.
var columns = []string{
	"steps", "score", "mean_return", "mean_length", "entropy", "policy_loss", "value_loss",
	"explained_variance", "learning_rate", "exploration",
}

// Header returns the first line of a curve's file, without its end.
func Header() string { return strings.Join(columns, ",") }

// values returns those of all columns but the first.
func (p *Point) values() []*float64 {
	return []*float64{
		&p.Score, &p.Return, &p.Length, &p.Entropy, &p.PolicyLoss, &p.ValueLoss,
		&p.ExplainedVariance, &p.LearningRate, &p.Exploration,
	}
}

// mayBeEmpty reports whether the value of a column may be missing, which is NaN.
func mayBeEmpty(column string) bool { return column == "mean_return" || column == "mean_length" }

// digits are the significant ones of a file's values.
const digits = 6

// Round gives the point the precision that files have, so that it equals what is read
// back.
func (p *Point) Round() {
	for _, v := range p.values() {
		*v, _ = strconv.ParseFloat(text(*v), 64)
	}
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }

// Write writes points by ascending steps as [Read] reads them, with six significant
// digits. A value that Read would refuse is an error.
func Write(w io.Writer, points []Point) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i := range points {
		p := &points[i]
		line := []string{strconv.FormatInt(p.Steps, 10)}
		for j, v := range p.values() {
			column := columns[1+j]
			switch {
			case math.IsNaN(*v) && mayBeEmpty(column):
				line = append(line, "")
			case math.IsNaN(*v) || math.IsInf(*v, 0):
				return fmt.Errorf("learning curve: %s is %v at step %d; it has to be finite", column, *v, p.Steps)
			default:
				line = append(line, text(*v))
			}
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// A ParseError says where a file is no learning curve.
type ParseError struct {
	File string
	// Line counts from 1.
	Line   int
	Reason string
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason) }

// Read reads a curve of at least one point. The file's name serves for errors only. What
// is wrong with the text is a [*ParseError]; other errors are those of r.
func Read(r io.Reader, file string) ([]Point, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(columns)
	in.ReuseRecord = true
	var points []Point
	line := 0 // of the last record
	for {
		record, err := in.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && line == 0:
			return nil, &ParseError{file, 1, fmt.Sprintf("it is empty; it has to begin with %s", Header())}
		case errors.Is(err, io.EOF) && len(points) == 0:
			return nil, &ParseError{file, line + 1, "there are no points; there has to be a line for each segment of the run"}
		case errors.Is(err, io.EOF):
			return points, nil
		case errors.As(err, &bad):
			return nil, &ParseError{file, bad.Line, bad.Err.Error()}
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		first := line == 0
		line, _ = in.FieldPos(0)
		if first {
			if !slices.Equal(record, columns) {
				return nil, &ParseError{file, line, fmt.Sprintf("the columns are %q; they have to be %q", record, columns)}
			}
			continue
		}
		p, reason := parse(record)
		if n := len(points); reason == "" && n > 0 && p.Steps <= points[n-1].Steps {
			reason = fmt.Sprintf("steps %d do not exceed %d, those of the line before", p.Steps, points[n-1].Steps)
		}
		if reason != "" {
			return nil, &ParseError{file, line, reason}
		}
		points = append(points, p)
	}
}

// parse returns a line's point, or what is wrong with it.
func parse(record []string) (p Point, reason string) {
	var err error
	if p.Steps, err = strconv.ParseInt(record[0], 10, 64); err != nil || p.Steps < 1 {
		return p, fmt.Sprintf("steps %q is no whole number from 1 on", record[0])
	}
	for i, v := range p.values() {
		column, field := columns[1+i], record[1+i]
		if field == "" && mayBeEmpty(column) {
			*v = math.NaN()
			continue
		}
		if *v, err = strconv.ParseFloat(field, 64); err != nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
			return p, fmt.Sprintf("%s %q is no finite number", column, field)
		}
	}
	return p, ""
}
