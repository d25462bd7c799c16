package render

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
	"miglab/reports/site"
)

// TestVerdictsOnSite: the site lists the verdicts in the order of summaries, whatever the order of the claims, and
// explains each, and each cause.
func TestVerdictsOnSite(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, manifest.File), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	var data site.Data
	var want []string
	for _, v := range verdict.All {
		want = append(want, string(v))
		one := site.Claim{Paper: "p", Artefact: "a", Name: string(v), Verdict: string(v), Default: true}
		data.Claims = append([]site.Claim{one}, data.Claims...)
	}
	for _, c := range claim.Causes { // a cause without a meaning fails
		data.Claims = append(data.Claims, site.Claim{Paper: "p", Artefact: "a", Name: string(c), Verdict: "DEVIATES", Cause: string(c), Default: true})
	}
	if err := AddToSite(&data, folder); err != nil {
		t.Fatal(err)
	}
	if err := site.Write(filepath.Join(folder, "site"), data); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(folder, "site", "claims.html"))
	if err != nil {
		t.Fatal(err)
	}
	for place, pattern := range map[string]string{
		"counts":       `<th scope="col" class="num"><span class="badge" data-verdict="([^"]*)">`,
		"explanations": `<dt><span class="badge" data-verdict="([^"]*)">`,
	} {
		var got []string
		for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(page, -1) {
			got = append(got, string(m[1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}
