package main

import (
	"cmp"
	"fmt"
	"io"

	"miglab/datasets/suite"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports"
)

// suiteEntries are algorithms on the instances of the suite.
type suiteEntries struct {
	archive    *suite.Archive
	algorithms []string
	// spans has the cells of each algorithm, one for each instance of its track.
	spans [][]run.Span
}

// entries lists the cells. The closed division refuses what may have learned from the suite.
func (f *suiteFlags) entries() (*suiteEntries, error) {
	a, err := suite.Frozen()
	if err != nil {
		return nil, err
	}
	e := &suiteEntries{archive: a}
	for _, id := range f.algorithms {
		parsed, err := algo.Parse(id)
		if err != nil {
			return nil, err
		}
		if learned := parsed.Weights() != "" || parsed.Spec.Open != nil; f.closed && learned && !f.declared {
			return nil, fmt.Errorf("%s may have learned from the suite; if it has not, --declare that, "+
				"and otherwise run --division open", parsed.ID)
		}
		spans := make([]run.Span, 0, len(a.Instances))
		for _, in := range a.Instances {
			if parsed.Spec.Track != "" && parsed.Spec.Track != in.Track {
				continue
			}
			t, err := run.Resolve(store.Series{
				Track: in.Track, Dataset: in.Dataset, GPU: in.GPU, Count: in.GPUs, Model: in.Model, Algorithm: id,
			})
			if err != nil {
				return nil, err
			}
			span, err := t.Span(in.Index, in.Index+1)
			if err != nil {
				return nil, err
			}
			spans = append(spans, span)
		}
		if len(spans) == 0 {
			return nil, fmt.Errorf("the suite has no instances for %s, which is of the %s track", id, parsed.Spec.Track)
		}
		e.algorithms, e.spans = append(e.algorithms, parsed.ID), append(e.spans, spans)
	}
	return e, nil
}

// board prints the mean gaps of each algorithm by class. An instance without a result is an error.
func (e *suiteEntries) board(w io.Writer, engine *run.Engine) error {
	t := reports.Table{
		Title: "Suite " + suite.Version,
		Columns: reports.Left("algorithm", "class").
			Right("instances", "solved", "above the bound (%)", "above the best known (%)", "as good as the best known"),
		Notes: []string{"The gaps are means over the solved instances."},
	}
	for i, spans := range e.spans {
		makespans := make([]float64, len(spans))
		for k, s := range spans {
			rows, err := engine.Store.Rows(s.Series, s.From, s.To)
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				return fmt.Errorf("%v, instance %d, has no result; miglab suite run computes it", s.Series, s.From)
			}
			makespans[k], _ = rows[0].Metrics.Get(track.MetricMakespan)
		}
		for _, g := range e.archive.Gaps(makespans) {
			solved := float64(cmp.Or(g.Solved, 1))
			t.Rows = append(t.Rows, []string{
				e.algorithms[i], g.Class, fmt.Sprint(g.Instances), fmt.Sprint(g.Solved),
				fmt.Sprintf("%.4f", g.Bound/solved), fmt.Sprintf("%.4f", g.Best/solved), fmt.Sprint(g.Equal),
			})
		}
	}
	return t.Text(w)
}
