package figures_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

// reproduction is one artefact in a folder of its own.
func reproduction(t *testing.T, a figures.Artefact) *figures.Reproduction {
	dir := t.TempDir()
	return &figures.Reproduction{
		Engine: func() (*run.Engine, error) {
			st, err := store.Open(filepath.Join(dir, "store"))
			return &run.Engine{Store: st}, err
		},
		Papers: []figures.Paper{{Name: "test", Artefacts: []figures.Artefact{a}}}, Dir: dir,
	}
}

// TestDataKeepsTheFirstError: Build goes on with zeros, as many as there are instances, and
// with an empty schedule on the series' GPU. Its output is discarded.
func TestDataKeepsTheFirstError(t *testing.T) {
	s := run.Series{Track: algo.TrackBatch, Dataset: figures.Dataset("rodinia"), GPU: "A100", Count: 1, Algorithm: "far"}
	_, _, err := reproduction(t, figures.Artefact{
		Name:  "a",
		Needs: func(figures.Scale) []figures.Need { return figures.NeedFirst(1, s) },
		Build: func(d *figures.Data) (*figures.Output, error) {
			if v := d.Values(s, track.MetricMakespan); len(v) != 1 || v[0] <= 0 || d.Err() != nil {
				t.Errorf("makespans %v, %v", v, d.Err())
			}
			if v := d.Values(s, "no such metric"); len(v) != 1 || v[0] != 0 {
				t.Errorf("values %v after an error, want a zero", v)
			}
			if p, plan := d.Schedule(s, 0); p.GPU.Name != "A100" || len(plan.Placements) != 0 {
				t.Errorf("%v after an error", plan)
			}
			d.MeanOf(nil, 1)
			return nil, errors.New("not the first error")
		},
	}).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `has no metric "no such metric"`) {
		t.Errorf("error %v, want the one of the metric", err)
	}
}

func TestDataRefusesSeriesThatAreNotListed(t *testing.T) {
	_, _, err := reproduction(t, figures.Artefact{
		Name: "a",
		Build: func(d *figures.Data) (*figures.Output, error) {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("a series that is not listed has values")
					}
				}()
				d.Values(run.Series{}, track.MetricMakespan)
			}()
			return figures.Found(), nil
		},
	}).Run(t.Context())
	if err != nil {
		t.Error(err)
	}
}
