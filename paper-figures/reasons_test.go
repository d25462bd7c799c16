package figures_test

import (
	"encoding/csv"
	"strings"
	"testing"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	figures "miglab/paper-figures"
	"miglab/paper-figures/deadline"
	"miglab/paper-figures/drl"
	"miglab/paper-figures/far"
	"miglab/paper-figures/hierarchical"
	"miglab/paper-figures/mfi"
)

// TestPagesHaveEveryReason: if all claims deviate, the page of each paper has every reason that
// claims.csv has, and every cause of causes.csv with its evidence.
func TestPagesHaveEveryReason(t *testing.T) {
	for _, load := range []func() (figures.Paper, error){far.Paper, drl.Paper, mfi.Paper, deadline.Paper, hierarchical.Paper} {
		p, err := load()
		if err != nil {
			t.Fatal(err)
		}
		page, claims, err := figures.Deviating(&p)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(strings.NewReader(claims)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		deviations := 0
		for _, l := range lines[1:] {
			artefact, claim, judged, cause, reason, evidence := l[1], l[2], l[13], l[14], l[15], l[19]
			if judged == "DEVIATES" {
				deviations++
			}
			if reason == "" || !strings.Contains(page, reason) {
				t.Errorf("%s/%s, %s: the page lacks the reason %q", p.Name, artefact, claim, reason)
			}
			if judged == "DEVIATES" && cause != "" && !strings.Contains(page, "`miglab reproduce --only "+evidence+"`") {
				t.Errorf("%s/%s, %s: the page lacks the evidence %q", p.Name, artefact, claim, evidence)
			}
		}
		for _, e := range p.Claims.Explanations {
			if !strings.Contains(page, ", cause `"+string(e.Cause)+"` (") || !strings.Contains(page, "): "+e.Reason) {
				t.Errorf("%s/%s, %s: the page lacks the cause %s with the reason %q", p.Name, e.Artefact, e.Claim, e.Cause, e.Reason)
			}
		}
		if least := len(p.Claims.All) / 10; deviations < least {
			t.Errorf("%s: %d claims deviate, want %d or more", p.Name, deviations, least)
		}
	}
}
