package figures

import (
	"slices"
	"testing"

	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// TestHangsNamesEachVerdict compares a claim with three further defaults, of which one has the first one's verdict.
func TestHangsNamesEachVerdict(t *testing.T) {
	first := manifest.Row{Reading: "a", Verdict: verdict.Deviates}
	for _, other := range []manifest.Row{
		{Reading: "b", Verdict: verdict.Deviates},
		{Reading: "c", Verdict: verdict.Inconclusive},
		{Reading: "d", Verdict: verdict.Deviates},
		{Reading: "e", Verdict: verdict.Reproduced},
	} {
		compareDefault(&first, &other)
	}
	want := []manifest.DefaultVerdict{
		{Reading: "a", Verdict: verdict.Deviates},
		{Reading: "c", Verdict: verdict.Inconclusive},
		{Reading: "e", Verdict: verdict.Reproduced},
	}
	if first.Verdict != verdict.Hangs || !slices.Equal(first.Why.Defaults, want) {
		t.Errorf("%s by %+v, want %s by %+v", first.Verdict, first.Why.Defaults, verdict.Hangs, want)
	}
}
