package datasets

import (
	"testing"

	"miglab/harness/mig"
)

func TestZeroPeakKeepsTasks(t *testing.T) {
	g := mig.MustLookup("A100")
	var task times
	for _, s := range g.Sizes() {
		task[s] = 10 / float64(s)
	}
	if !(peak{}).keeps(&task, g.Sizes()) {
		t.Error("the zero peak rejects a task")
	}
	if (peak{At: 4, Near: 3, Share: 0.5}).keeps(&task, g.Sizes()) {
		t.Error("a peak keeps a task that is as efficient on all sizes")
	}
}
