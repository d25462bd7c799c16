package drl

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
)

// What training wrote down, a file for each agent and seed.
//
//go:embed curves/*.csv
var curveFiles embed.FS

// A curve is how an agent scored while it learned.
type curve struct {
	// steps of training, ascending.
	steps []float64
	// scores are means over batches that are always the same: p_opt in percent, of an
	// agent of the deadline report late jobs in percent.
	scores []float64
}

// A trained is one run of an agent's training.
type trained struct {
	seed int
	curve
}

// curves are the runs by the agent's name, by ascending seed.
type curves map[string][]trained

// A curveError says where a learning curve is wrong.
type curveError struct {
	File string
	// Line counts from 1; 0 means the file as a whole.
	Line   int
	Reason string
}

func (e *curveError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// curveColumns are those of a learning curve; the first two are read.
var curveColumns = []string{
	"steps", "score", "mean_return", "mean_length", "entropy", "policy_loss", "value_loss",
	"explained_variance", "learning_rate", "exploration",
}

// curveName is the name of a file: the agent's and the seed.
var curveName = regexp.MustCompile(`^(.+)-seed([1-9][0-9]*)\.csv$`)

// loadCurves reads all learning curves. The runs of an agent have the same steps.
// Errors are a [*curveError], or the file system's.
func loadCurves(files fs.FS) (curves, error) {
	names, err := fs.Glob(files, "curves/*.csv")
	if err != nil {
		return nil, err
	}
	all := curves{}
	for _, file := range names {
		parts := curveName.FindStringSubmatch(path.Base(file))
		if parts == nil {
			return nil, &curveError{file, 0, "the name is not AGENT-seedK.csv"}
		}
		seed, err := strconv.Atoi(parts[2])
		if err != nil {
			return nil, &curveError{file, 0, "the seed is too large"}
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		c, err := readCurve(file, text)
		if err != nil {
			return nil, err
		}
		others := all[parts[1]]
		if len(others) > 0 && !slices.Equal(others[0].steps, c.steps) {
			return nil, &curveError{file, 0, fmt.Sprintf("its steps differ from those of seed %d; train all seeds alike", others[0].seed)}
		}
		all[parts[1]] = append(others, trained{seed, c})
	}
	for _, runs := range all {
		slices.SortFunc(runs, func(a, b trained) int { return cmp.Compare(a.seed, b.seed) })
	}
	return all, nil
}

// readCurve reads a learning curve. The error is a [*curveError].
func readCurve(file string, text []byte) (curve, error) {
	var c curve
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = len(curveColumns)
	for first := true; ; first = false {
		record, err := in.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF) && len(c.steps) == 0:
			return curve{}, &curveError{file, 0, "it has no points"}
		case errors.Is(err, io.EOF):
			return c, nil
		case errors.As(err, &bad):
			return curve{}, &curveError{file, bad.Line, bad.Err.Error()}
		case err != nil:
			return curve{}, &curveError{file, 0, err.Error()}
		}
		line, _ := in.FieldPos(0)
		wrong := func(column int, want string) (curve, error) {
			return curve{}, &curveError{file, line, fmt.Sprintf("%s %q is not %s", curveColumns[column], record[column], want)}
		}
		if first {
			if !slices.Equal(record, curveColumns) {
				return curve{}, &curveError{file, line, fmt.Sprintf("the columns are %q, want %q", record, curveColumns)}
			}
			continue
		}
		steps, err := strconv.ParseInt(record[0], 10, 64)
		if err != nil || steps < 1 {
			return wrong(0, "a number of steps from 1 on")
		}
		if n := len(c.steps); n > 0 && float64(steps) <= c.steps[n-1] {
			return wrong(0, fmt.Sprintf("above %v, the line before", c.steps[n-1]))
		}
		var values []float64
		for i, field := range record[1:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return wrong(1+i, "a finite number")
			}
			values = append(values, v)
		}
		c.steps, c.scores = append(c.steps, float64(steps)), append(c.scores, values[0])
	}
}

// at returns the score after a share of the training: that of the last point by then, or
// of the first if there is none yet.
func (c *curve) at(share float64) float64 {
	limit := share * c.steps[len(c.steps)-1]
	i := 0
	for i+1 < len(c.steps) && c.steps[i+1] <= limit {
		i++
	}
	return c.scores[i]
}

// final is the score at the end of training.
func (c *curve) final() float64 { return c.scores[len(c.scores)-1] }

// least is the best score.
func (c *curve) least() float64 { return slices.Min(c.scores) }

// near is by what share a score may exceed another and count as reaching it: curves
// waver.
const near = 0.1

// reaches returns the steps until a score comes [near] one that the curve has.
func (c *curve) reaches(score float64) float64 {
	i := slices.IndexFunc(c.scores, func(v float64) bool { return v <= score+near*math.Abs(score) })
	if i < 0 {
		panic(fmt.Sprintf("drl: a curve whose best is %v never comes near %v", c.least(), score))
	}
	return c.steps[i]
}

// converges returns the steps until the score comes [near] the best.
func (c *curve) converges() float64 { return c.reaches(c.least()) }

// slower returns the steps that a takes to what both reach, over those of b.
func slower(a, b *curve) float64 {
	both := max(a.least(), b.least())
	return a.reaches(both) / b.reaches(both)
}

// together returns the curves of agents by seed, of the seeds that all have.
func (all curves) together(agents ...string) [][]*curve {
	var out [][]*curve
	for _, first := range all[agents[0]] {
		var own []*curve
		for _, a := range agents {
			i := slices.IndexFunc(all[a], func(t trained) bool { return t.seed == first.seed })
			if i < 0 {
				break
			}
			own = append(own, &all[a][i].curve)
		}
		if len(own) == len(agents) {
			out = append(out, own)
		}
	}
	return out
}

// millions are the steps in the unit that is drawn.
func (c *curve) millions() []float64 {
	out := make([]float64, len(c.steps))
	for i, s := range c.steps {
		out[i] = s / 1e6
	}
	return out
}
