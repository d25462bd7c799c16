// Package curve is the format of learning curves, and names the datasets on which their
// scores are measured. Training writes curves, figures read them.
//
// A curve is a CSV file with a line for each segment of a training run. Every field is a
// finite number, except that the return and the length of episodes are empty where no
// episode ended in the segment.
package curve

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"miglab/harness/strictcsv"
)

// Seed is the seed of the datasets on which agents are scored while they learn. No table
// uses it.
const Seed = 1_000_003

// Batches is the number of batches over which a score is the mean, equally many of each
// workload and dataset.
const Batches = 100

// Datasets names the datasets on which agents for batches of n tasks of a workload are
// scored: one for each reading of the paper's generator, that of the text and that of the
// released training code.
func Datasets(workload string, n int) []string {
	var names []string
	for _, generator := range []string{"paper", "released-train"} {
		names = append(names, fmt.Sprintf("drl/%s?gen=%s&n=%d&seed=%d", workload, generator, n, Seed))
	}
	return names
}

// DataSets is the number of data sets of each of the batches of [ClassOrdered].
const DataSets = 14

// ClassOrdered names the 7 full batches of a workload's data sets as create_dataset.py of the DRL
// paper makes them: 100 tasks, class by class.
func ClassOrdered(workload string) []string {
	var names []string
	for part := range 7 {
		names = append(names, fmt.Sprintf("drl/%s?gen=released&order=classes&total=100&part=%d&seed=%d", workload,
			part+1, Seed))
	}
	return names
}

// A Point is a line of a curve: what an agent achieved at the end of a segment.
type Point struct {
	// Steps of training so far, at least 1.
	Steps int64
	// Score is measured on the same instances every time. It is the mean p_opt in percent.
	// For jobs with deadlines it is the share of late jobs in percent, and for co-runs the
	// relative throughput, where more is better.
	Score float64
	// Return and Length are means over the episodes that ended in the segment; NaN if none
	// did.
	Return, Length float64
	// These are means over the segment's iterations.
	Entropy, PolicyLoss, ValueLoss, ExplainedVariance float64
	// LearningRate and Exploration are those of the last iteration.
	LearningRate, Exploration float64
}

// columns are the columns of the file.
var columns = strictcsv.Columns[row]()

// Header returns the first line of a curve's file, without its end.
func Header() string { return strings.Join(columns, ",") }

// values returns the values of all columns but the first.
func (p *Point) values() []*float64 {
	return []*float64{
		&p.Score, &p.Return, &p.Length, &p.Entropy, &p.PolicyLoss, &p.ValueLoss,
		&p.ExplainedVariance, &p.LearningRate, &p.Exploration,
	}
}

// mayBeEmpty reports whether the value of a column may be missing. It is then NaN.
func mayBeEmpty(column string) bool { return column == "mean_return" || column == "mean_length" }

// check returns an error about the first value that is neither finite nor rightly missing.
func (p *Point) check() error {
	for i, v := range p.values() {
		if column := columns[1+i]; math.IsInf(*v, 0) || math.IsNaN(*v) && !mayBeEmpty(column) {
			return fmt.Errorf("%s is %v at step %d; it must be finite", column, *v, p.Steps)
		}
	}
	return nil
}

// digits is the number of significant digits of a file's values.
const digits = 6

// Round gives the point the precision that files have, so that it equals what is read
// back.
func (p *Point) Round() {
	for _, v := range p.values() {
		*v, _ = strconv.ParseFloat(text(*v), 64)
	}
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }

// Write writes points, by ascending steps, the way that [Read] reads them, with six
// significant digits. A value that Read would refuse is an error.
func Write(w io.Writer, points []Point) error {
	c := csv.NewWriter(w)
	if err := c.Write(columns); err != nil {
		return err
	}
	for i := range points {
		p := &points[i]
		line := []string{strconv.FormatInt(p.Steps, 10)}
		if err := p.check(); err != nil {
			return fmt.Errorf("learning curve: %w", err)
		}
		for _, v := range p.values() {
			field := text(*v)
			if math.IsNaN(*v) {
				field = ""
			}
			line = append(line, field)
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// ParseError says where a file is not a learning curve.
type ParseError = strictcsv.Error

// A row is a line of the file.
type row struct {
	Steps             int     `csv:"steps"`
	Score             float64 `csv:"score"`
	Return            maybe   `csv:"mean_return"`
	Length            maybe   `csv:"mean_length"`
	Entropy           float64 `csv:"entropy"`
	PolicyLoss        float64 `csv:"policy_loss"`
	ValueLoss         float64 `csv:"value_loss"`
	ExplainedVariance float64 `csv:"explained_variance"`
	LearningRate      float64 `csv:"learning_rate"`
	Exploration       float64 `csv:"exploration"`
}

// Read reads a curve of at least one point. The file's name is only used in errors. What
// is wrong with the text is a [*ParseError]; other errors are those of r.
func Read(r io.Reader, file string) ([]Point, error) {
	t, err := strictcsv.Read[row](r, file, strictcsv.Format{
		Columns: columns, Exact: true,
		Empty: "there are no points; there must be a line for each segment of the run",
	})
	if err != nil {
		return nil, err
	}
	points := make([]Point, len(t.Rows))
	before := 0
	for i, row := range t.Rows {
		if row.Steps <= before {
			return nil, t.Fail(i, "steps", fmt.Errorf("%d is not more than %d before it", row.Steps, before))
		}
		before = row.Steps
		points[i] = Point{
			Steps: int64(row.Steps), Score: row.Score, Return: float64(row.Return), Length: float64(row.Length),
			Entropy: row.Entropy, PolicyLoss: row.PolicyLoss, ValueLoss: row.ValueLoss,
			ExplainedVariance: row.ExplainedVariance, LearningRate: row.LearningRate, Exploration: row.Exploration,
		}
		if err := points[i].check(); err != nil {
			return nil, t.Fail(i, "", err)
		}
	}
	return points, nil
}

// maybe is a value that may be missing.
type maybe float64

// UnmarshalCSV reads a number, or NaN from an empty field.
func (x *maybe) UnmarshalCSV(s string) error {
	if s == "" {
		*x = maybe(math.NaN())
		return nil
	}
	v, err := strictcsv.Float(s)
	if err != nil {
		return fmt.Errorf("%q is not a finite number", s)
	}
	*x = maybe(v)
	return nil
}
