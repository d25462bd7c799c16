package leaderboard

import (
	"errors"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/run"
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
