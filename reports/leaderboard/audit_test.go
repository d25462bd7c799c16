package leaderboard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
	"miglab/harness/strictcsv"
	"miglab/harness/track"
)

// TestAuditOfAnUnknownGPU: results on a GPU that is not known are an error, not a dataset that no longer exists.
func TestAuditOfAnUnknownGPU(t *testing.T) {
	db := database(t, cell{gpu: "A1000", dataset: "drl/WIDETIMES", algorithm: "far", metrics: `{"makespan_s":1}`})
	_, err := Audit(t.Context(), &run.Engine{Store: db}, new(mig.Catalog), 0)
	var unknown *nearest.UnknownError
	if !errors.As(err, &unknown) || unknown.Kind != "GPU" {
		t.Errorf("%v; want an unknown GPU", err)
	}
}

// TestAuditOfABrokenFile: a dataset that cannot be read is an error, not a dataset that no longer exists.
func TestAuditOfABrokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.csv")
	if err := os.WriteFile(path, []byte("task,t1,t2,t3,t4,t7\na,5,4,3,2,1\nb,5,4,three,2,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	db := database(t,
		cell{dataset: "profile:" + path, algorithm: "far", metrics: `{"makespan_s":1}`},
		cell{dataset: "profile:" + path + ".gone", algorithm: "far", metrics: `{"makespan_s":1}`})
	_, err := Audit(t.Context(), &run.Engine{Store: db}, new(mig.Catalog), 0)
	if wrong, ok := errors.AsType[*strictcsv.Error](err); !ok || wrong.Line != 3 {
		t.Errorf("%v; want a mistake in line 3", err)
	}
}

// TestAuditWithoutBounds: if no result is compared, the audit says why.
func TestAuditWithoutBounds(t *testing.T) {
	const dataset = "mfi/uniform?gpus=4"
	content, err := run.Content(track.MustLookup("placement"), dataset, mig.MustLookup("A100"))
	if err != nil {
		t.Fatal(err)
	}
	db := database(t,
		cell{track: "placement", dataset: dataset, content: content, algorithm: "ff", gpus: 4, metrics: `{"acceptance":0.5}`},
		cell{track: "placement", dataset: "mfi/no-such-set", algorithm: "ff", gpus: 4, metrics: `{"acceptance":0.5}`})
	_, err = Audit(t.Context(), &run.Engine{Store: db}, new(mig.Catalog), 0)
	const want = "1 are of datasets that have changed or no longer exist, and 1 on instances without one"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %q", err, want)
	}
}

// TestAuditCountsOnce: an answer with two audited metrics is counted once, even if another series has only the second.
func TestAuditCountsOnce(t *testing.T) {
	const gpu, dataset = "A100?idle=75.4", "drl/WIDETIMES"
	var models mig.Catalog
	g, err := models.Lookup(gpu)
	if err != nil {
		t.Fatal(err)
	}
	content, err := run.Content(track.MustLookup("batch"), dataset, g)
	if err != nil {
		t.Fatal(err)
	}
	series := func(algorithm, metrics string) cell {
		return cell{gpu: gpu, dataset: dataset, content: content, algorithm: algorithm, metrics: metrics}
	}
	db := database(t, series("far", fmt.Sprintf(`{%q:1e9}`, track.MetricEnergy)),
		series("miso", fmt.Sprintf(`{%q:1e9,%q:1e9}`, track.MetricMakespan, track.MetricEnergy)))
	found, err := Audit(t.Context(), &run.Engine{Store: db}, &models, 0)
	if err != nil || found.Answers != 1 || found.Instances != 1 || found.NoBound != 1 {
		t.Errorf("%+v, %v; want one answer with a bound and one without", found, err)
	}
}
