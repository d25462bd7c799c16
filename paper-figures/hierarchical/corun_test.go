package hierarchical

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/paper-figures/figurestest"
)

// Without measurements the artefact says what it needs.
func TestCorunError(t *testing.T) {
	p := figurestest.Load(t, Paper)
	without := corunError(p.Claims, datasets.HardwareSet{})
	if len(without.Tables) != 1 || !slices.Equal(without.Tables[0].Notes, []string{p.Claims.Words("corun-missing")}) {
		t.Errorf("without measurements: %+v", without.Tables)
	}
	// Six kernels alone, pairs on partitions and pairs without limits, as a model with kappa 0.1 and delta 0 has them.
	h, err := datasets.ReadHardware(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	o := corunError(p.Claims, h)
	if len(o.Tables) != 2 || len(o.Figures) != 1 {
		t.Fatalf("%d tables, %d figures", len(o.Tables), len(o.Figures))
	}
	text := fmt.Sprint(o.Tables)
	for _, want := range []string{"held out", "fitted on", "without limits", "source: sm-partition", "0.10"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
