package datasets

import (
	"strings"
	"testing"
)

// TestCorunsAreOfMPS: MIG instances have no percentages.
func TestCorunsAreOfMPS(t *testing.T) {
	_, err := ReadHardware(folder(map[string]string{"x.corun.csv": strings.ReplaceAll(corunFile, SourceMPS, SourceMIG)}))
	const want = "x.corun.csv:2: the source is mig; co-runs are of MPS on a whole GPU, mps-sm-limit"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
