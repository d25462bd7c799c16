package render

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/reports/site"
)

// TestSite: each page of results is on the site, its links lead to files and places, and the site has the numbers that count.
func TestSite(t *testing.T) {
	m := whole(t)
	dir, texts := rendered(t, m)
	var data site.Data
	if err := AddToSite(&data, dir); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, n := range m.Count("") {
		counted += n
	}
	if len(data.Papers) != len(m.Papers) || len(data.Numbers) != counted || counted == 0 {
		t.Errorf("%d papers and %d numbers of %d", len(data.Papers), len(data.Numbers), counted)
	}
	if data.Left != 0 || data.Absent != nil {
		t.Errorf("%d artefacts and the papers %q are not done in a whole reproduction", data.Left, data.Absent)
	}
	part := *m
	part.Left, part.Papers = 7, slices.Clone(m.Papers)
	part.Papers[1].Artefacts = nil
	partDir, _ := rendered(t, &part)
	var left site.Data
	if err := AddToSite(&left, partDir); err != nil || left.Left != 7 || !slices.Equal(left.Absent, []string{m.Papers[1].Name}) {
		t.Errorf("%v: %d artefacts and the papers %q are not done; want 7, and %s alone", err, left.Left, left.Absent, m.Papers[1].Name)
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := site.Write(out, data); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{filepath.Join(out, "numbers.html"): ""}
	for name := range texts {
		if page, ok := strings.CutSuffix(name, ".md"); ok {
			page = strings.TrimSuffix(page, "README")
			if page == "" || strings.HasSuffix(page, "/") {
				page += "index"
			}
			pages[filepath.Join(out, "papers", page+".html")] = ""
		}
	}
	for name := range pages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
	}
	address := regexp.MustCompile(`(?:href|src)="([^"#]*)(#[^"]*)?"`)
	places := 0
	for name, text := range pages {
		for _, found := range address.FindAllStringSubmatch(text, -1) {
			to, id := filepath.Join(filepath.Dir(name), html.UnescapeString(found[1])), strings.TrimPrefix(found[2], "#")
			if found[1] == "" {
				to = name
			}
			if _, err := os.Stat(to); err != nil && !strings.Contains(found[1], "://") {
				t.Errorf("%s: %v", name, err)
			}
			if id == "" || id == "main" {
				continue
			}
			if places++; !strings.Contains(pages[to], `id="`+id+`"`) {
				t.Errorf("%s: %s has no place %s", name, to, id)
			}
		}
		ids := regexp.MustCompile(` id="[^"]*"`).FindAllString(text, -1)
		if slices.Sort(ids); len(slices.Compact(slices.Clone(ids))) != len(ids) {
			t.Errorf("%s: an id is there twice: %q", name, ids)
		}
	}
	if places < 10 {
		t.Errorf("only %d links to places", places)
	}
}
