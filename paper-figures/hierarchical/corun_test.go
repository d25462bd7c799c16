package hierarchical

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"miglab/datasets"
	figures "miglab/paper-figures"
)

// Without measurements the artefact says what it needs.
func TestCorunError(t *testing.T) {
	without := new(figures.Data)
	corunErrors(without)
	if len(without.Tables) != 1 || !strings.HasPrefix(strings.Join(without.Tables[0].Notes, "; "), "NOT RUNNABLE: needs kernels that share a GPU: run `miglab profile") {
		t.Errorf("without measurements: %+v", without.Tables)
	}
	// Six kernels alone, pairs on partitions and pairs without limits, as a model with kappa 0.1 and delta 0 has them.
	h, err := datasets.ReadHardware(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	o := &figures.Data{Hardware: h}
	corunErrors(o)
	if len(o.Tables) != 2 || len(o.Figures) != 0 {
		t.Fatalf("%d tables, %d figures", len(o.Tables), len(o.Figures))
	}
	text := fmt.Sprint(*o.Tables[0], *o.Tables[1])
	for _, want := range []string{"held out", "fitted on", "without limits", "source: sm-partition", "0.10"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
