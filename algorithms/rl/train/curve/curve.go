// Package curve is the format of learning curves, and names the datasets on which their
// scores are measured. Training writes curves, figures read them.
//
// A curve is a CSV file with a line for each segment of a training run. Every field is a finite number, except that the
// return and the length of episodes are empty where no episode ended in the segment.
package curve

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// Seed is the seed of the datasets on which agents are scored while they learn. No table uses it.
const Seed = 1_000_003

// Batches is the number of batches over which a score is the mean, equally many of each workload and dataset.
const Batches = 100

// Datasets names the datasets on which agents for batches of n tasks of a workload are scored: one for each reading of
// the paper's generator, by the text and by the released training code.
func Datasets(workload string, n int) []string {
	return nearest.Names([]string{"paper", "released-train"}, func(generator string) string {
		return fmt.Sprintf("drl/%s?gen=%s&n=%d&seed=%d", workload, generator, n, Seed)
	})
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
	Steps int64 // of training so far, at least 1
	// Score is measured on the same instances every time. It is the mean p_opt in percent. For jobs with deadlines it
	// is the share of late jobs in percent, and for co-runs the relative throughput, where more is better.
	Score          float64
	Return, Length float64 // means over the episodes that ended in the segment; NaN without such an episode
	// These are means over the segment's iterations.
	Entropy, PolicyLoss, ValueLoss, ExplainedVariance float64
	LearningRate, Exploration                         float64 // values of the last iteration
}

// columns are the columns of the file: the steps and then [Point.values].
var columns = []string{
	"steps", "score", "mean_return", "mean_length", "entropy", "policy_loss", "value_loss", "explained_variance",
	"learning_rate", "exploration",
}

// values returns the values of all columns but the first.
func (p *Point) values() []*float64 {
	return []*float64{
		&p.Score, &p.Return, &p.Length, &p.Entropy, &p.PolicyLoss, &p.ValueLoss,
		&p.ExplainedVariance, &p.LearningRate, &p.Exploration,
	}
}

// mayBeEmpty reports whether the value of a column may be missing. It is then NaN.
func mayBeEmpty(column string) bool {
	return column == "mean_return" || column == "mean_length"
}

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

// Round gives the point the precision that files have, so that it equals what is read back.
func (p *Point) Round() {
	for _, v := range p.values() {
		*v, _ = strconv.ParseFloat(text(*v), 64)
	}
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }

// Write writes points, by ascending steps, the way that [Read] reads them, with six
// significant digits. A value that Read would refuse is an error.
func Write(w io.Writer, points []Point) error {
	for i := range points {
		if err := points[i].check(); err != nil {
			return fmt.Errorf("learning curve: %w", err)
		}
	}
	return strictcsv.Write(w, columns, len(points), func(i int) []string {
		line := []string{strconv.FormatInt(points[i].Steps, 10)}
		for _, v := range points[i].values() {
			field := text(*v)
			if math.IsNaN(*v) {
				field = ""
			}
			line = append(line, field)
		}
		return line
	})
}

// Read reads a curve of at least one point. The file's name is only used in errors. What
// is wrong with the text is a [*strictcsv.Error]; it passes on the errors of r.
func Read(r io.Reader, file string) ([]Point, error) {
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns: columns, Header: "the header of a learning curve",
		Empty: "there are no points; there must be a line for each segment of the run",
	})
	if err != nil {
		return nil, err
	}
	steps := strictcsv.Range{Least: math.MinInt, Most: math.MaxInt, What: "a whole number"}
	finite := strictcsv.Range{Least: -math.MaxFloat64, Most: math.MaxFloat64, What: "a finite number"}
	points := make([]Point, in.Len())
	before := int64(0)
	for i := range points {
		p := &points[i]
		p.Steps = int64(in.Whole(i, "steps", steps))
		for k, v := range p.values() {
			if column := columns[1+k]; mayBeEmpty(column) && in.Text(i, column) == "" {
				*v = math.NaN()
			} else {
				*v = in.Number(i, column, finite)
			}
		}
		if in.Err != nil {
			return nil, in.Err
		}
		if p.Steps <= before {
			return nil, in.Fail(i, "steps", fmt.Errorf("%d is not more than %d before it", p.Steps, before))
		}
		before = p.Steps
	}
	return points, nil
}
