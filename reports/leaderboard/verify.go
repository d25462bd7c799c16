package leaderboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
)

// A Verification computes results of a database again and compares them.
type Verification struct {
	// Algorithm is the only one that is verified; "" means all.
	Algorithm string
	// Instances is how many of each series are computed, drawn with Seed; 0 means all.
	Instances int
	Seed      uint64
	// Partial accepts series that lack instances which others have of their dataset.
	Partial bool
	// Models has the GPU models of the database.
	Models mig.Catalog
	// Workers and Progress are passed to [run.Engine].
	Workers  int
	Progress func(done, total int)
}

// Verified is the outcome of a verification.
type Verified struct {
	// Series and Total count the series and cells to verify, and Computed the cells that were computed again.
	Series, Total, Computed int
	// Different lists the cells whose results differ, Unknown the series that this program cannot compute, and Lacking
	// the series that lack instances. Each entry is a sentence without its full stop.
	Different, Unknown, Lacking []string

	cells []run.Span // of one instance each
	rows  []store.Row
}

// Run verifies the results of a database and does not change it. It returns the errors of the database and of
// [run.Engine.Run].
func (v *Verification) Run(ctx context.Context, db *store.DB) (*Verified, error) {
	found := &Verified{}
	if err := v.draw(db, found); err != nil || found.Series == 0 {
		return found, err
	}
	dir, err := os.MkdirTemp("", "miglab-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fresh, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	defer fresh.Close()
	e := run.Engine{Store: fresh, Workers: v.Workers, Progress: v.Progress}
	if err := e.Run(ctx, found.cells); err != nil {
		return nil, err
	}
	computed := map[int]store.Row{} // the rows of a series, by instance
	for i, cell := range found.cells {
		if i == 0 || cell.Series != found.cells[i-1].Series {
			rows, err := fresh.Rows(cell.Series, 0, math.MaxInt)
			if err != nil {
				return nil, err
			}
			clear(computed)
			for _, r := range rows {
				computed[r.Instance] = r
			}
		}
		was, now := &found.rows[i], computed[cell.From]
		if now.Kind != was.Kind || now.Metrics != was.Metrics {
			found.Different = append(found.Different,
				fmt.Sprintf("%v, instance %d: %s in the results, %s when computed again",
					cell.Series, cell.From, outcome(was), outcome(&now)))
		}
	}
	return found, nil
}

// A storedSeries is a series of the database.
type storedSeries struct {
	store.Series
	// instances are ascending, and sample has the rows to verify.
	instances []int
	sample    []store.Row
}

// draw chooses the cells to compute, and finds the series that cannot be computed or lack instances.
func (v *Verification) draw(db *store.DB, found *Verified) error {
	all, err := v.read(db)
	if err != nil {
		return err
	}
	ends := map[store.Series]int{} // the number after the last instance
	for _, s := range all {
		shared := sharedConditions(s.Series)
		ends[shared] = max(ends[shared], s.instances[len(s.instances)-1]+1)
	}
	for i := range all {
		s := &all[i]
		if v.Algorithm == "" || s.Algorithm == v.Algorithm {
			found.Series++
			found.Total += len(s.instances)
			v.judge(s, ends[sharedConditions(s.Series)], found)
		}
	}
	found.Computed = len(found.cells)
	return nil
}

// read reads all series and draws their samples.
func (v *Verification) read(db *store.DB) ([]storedSeries, error) {
	all, err := db.Series(store.Filter{})
	if err := cmp.Or(err, db.Check()); err != nil {
		return nil, err
	}
	out := make([]storedSeries, len(all))
	for i, s := range all {
		rows, err := db.Rows(s, math.MinInt, math.MaxInt)
		if err != nil {
			return nil, err
		}
		out[i].Series = s
		for _, r := range rows {
			out[i].instances = append(out[i].instances, r.Instance)
		}
		out[i].sample = slices.Clone(v.sample(s, rows))
	}
	return out, nil
}

// judge adds a series to the cells to compute, or says why that is impossible. It also reports a series of a ranked
// track that lacks some of the instances 0 to end-1. Bounds may be of some instances only.
func (v *Verification) judge(s *storedSeries, end int, found *Verified) {
	if s.instances[0] < 0 {
		found.Unknown = append(found.Unknown,
			fmt.Sprintf("%v: it has instance %d; instances count from 0, so miglab run did not write it", s.Series,
				s.instances[0]))
		return
	}
	missing := end - len(s.instances)
	if missing > 0 && slices.Contains(track.Names(), s.Track) && !v.Partial {
		found.Lacking = append(found.Lacking,
			fmt.Sprintf("%v lacks %d of the instances 0 to %d that the results have "+
				"of this dataset: %s; miglab run computes them", s.Series, missing, end-1,
				missingInstances(s.instances, end)))
	}
	trial, err := v.presentTrial(s.Series)
	if err != nil {
		found.Unknown = append(found.Unknown, fmt.Sprintf("%v: %v", s.Series, err))
		return
	}
	for _, r := range s.sample {
		found.cells = append(found.cells, run.Span{Trial: trial, From: r.Instance, To: r.Instance + 1})
		found.rows = append(found.rows, r)
	}
}

// sharedConditions returns what the series of a dataset under the same conditions have in common.
func sharedConditions(s store.Series) store.Series {
	s.Algorithm, s.Version, s.Weights = "", 0, ""
	return s
}

// sample draws rows of a series, in order.
func (v *Verification) sample(s store.Series, rows []store.Row) []store.Row {
	if v.Instances == 0 || v.Instances >= len(rows) {
		return rows
	}
	name := fnv.New64a()
	fmt.Fprintf(name, "%+v", s)
	r := rand.New(rand.NewPCG(v.Seed, name.Sum64()))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:v.Instances]
	slices.SortFunc(rows, func(a, b store.Row) int { return a.Instance - b.Instance })
	return rows
}

// missingInstances lists the numbers from 0 to end-1 that are not among ascending ones: 0, 3-4, 7.
func missingInstances(have []int, end int) string {
	var out []string
	next := 0
	for _, n := range append(have, end) {
		switch n - next {
		case 0:
		case 1:
			out = append(out, strconv.Itoa(next))
		default:
			out = append(out, fmt.Sprintf("%d-%d", next, n-1))
		}
		next = n + 1
	}
	return strings.Join(out, ", ")
}

// presentTrial returns the series as this program has it, or says how it differs.
func (v *Verification) presentTrial(s store.Series) (*run.Trial, error) {
	t, err := run.Resolve(&v.Models, s)
	switch {
	case err != nil:
		return nil, err
	case t.Series.Version != s.Version:
		return nil, fmt.Errorf("the algorithm has version %d here", t.Series.Version)
	case t.Series.Weights != s.Weights:
		return nil, fmt.Errorf("these results are of other contents of the program or its weights: %q in column "+
			"weights of miglab export, and %q here. If you changed it, boards show the newest results; run again "+
			"with another --results folder, and hand in that one, which has no old ones", s.Weights, t.Series.Weights)
	case t.Series != s:
		return nil, errors.New("the dataset or the GPU's model is different here")
	}
	return t, nil
}

// outcome says what a row has.
func outcome(r *store.Row) string {
	if r.Kind != "" {
		return r.Kind + " (" + r.Error + ")"
	}
	return r.Metrics.String()
}
