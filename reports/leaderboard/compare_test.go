package leaderboard

import (
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/track"
)

// The latest version counts unless one is named; only results of the same content are paired, and
// of several those of the dataset as it is now; bounds may be in either database.
func TestCompare(t *testing.T) {
	now := contentOf(t, algo.TrackBatch, "rodinia")
	a := database(
		t,
		cell{algorithm: "far", metrics: `{"makespan_s":12}`},
		cell{algorithm: "far", version: 2, metrics: `{"makespan_s":15}`},
		cell{dataset: "rodinia", content: "before", algorithm: "far", metrics: `{"makespan_s":1}`},
		cell{dataset: "rodinia", content: now, algorithm: "far", metrics: `{"makespan_s":2}`},
		cell{dataset: "other", content: "before", algorithm: "far", metrics: `{"makespan_s":1}`},
	)
	b := database(
		t,
		cell{algorithm: "lns", metrics: `{"makespan_s":11}`},
		cell{track: "bound", algorithm: "certified", metrics: `{"bound_s":10}`},
		cell{dataset: "rodinia", content: "before", algorithm: "lns", metrics: `{"makespan_s":7}`},
		cell{dataset: "rodinia", content: now, algorithm: "lns", metrics: `{"makespan_s":4}`},
		cell{dataset: "other", content: "after", algorithm: "lns", metrics: `{"makespan_s":1}`},
	)
	c := Conditions{Track: track.Batch, GPU: mig.MustLookup("A100"), Count: 1, Model: mig.Sequential}
	for version, want := range map[int]float64{0: 15, 1: 12, 2: 15} {
		got, err := Compare(c, Side{a, "far", version}, Side{b, "lns", 0})
		if err != nil || len(got) == 0 || got[0].Dataset != "d" || got[0].A != want || got[0].B != 11 || got[0].GapA != (want/10-1)*100 {
			t.Errorf("version %d: %+v, %v", version, got, err)
		}
		if version == 2 {
			continue
		}
		if len(got) != 2 || got[1].Dataset != "rodinia" || got[1].A != 2 || got[1].B != 4 || got[1].Metric.Bounded {
			t.Errorf("version %d: %d datasets, %+v", version, len(got), got[len(got)-1])
		}
	}

	// Of several programs of one version the one that ran last counts.
	programs := database(
		t,
		cell{algorithm: "gone", weights: "c", metrics: `{"makespan_s":30}`},
		cell{algorithm: "gone", weights: "a", metrics: `{"makespan_s":10}`},
		cell{algorithm: "gone", weights: "b", metrics: `{"makespan_s":20}`},
		cell{algorithm: "gone", weights: "a", instance: 1, metrics: `{"makespan_s":11}`},
		cell{algorithm: "gone", weights: "d", version: 2, metrics: `{"makespan_s":40}`},
		cell{algorithm: "far", weights: "before", metrics: `{"makespan_s":50}`},
	)
	// So do weights that an algorithm no longer has, if there are no results of the present ones.
	if got, err := Compare(c, Side{programs, "far", 0}, Side{b, "lns", 0}); err != nil || len(got) != 1 || got[0].A != 50 {
		t.Errorf("of weights that are gone: %+v, %v", got, err)
	}
	got, err := Compare(c, Side{programs, "gone", 1}, Side{b, "lns", 0})
	if err != nil || len(got) != 1 || got[0].A != 20 {
		t.Fatalf("of three programs: %+v, %v", got, err)
	}
	c.Datasets = []string{"other"}
	if got, err := Compare(c, Side{a, "far", 0}, Side{b, "lns", 0}); err != nil || len(got) != 0 {
		t.Errorf("of other contents: %+v, %v", got, err)
	}
}
