package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"miglab/paper-figures"
)

// A citedWork is a work of CITATION.cff.
type citedWork struct {
	Title   string
	Authors []struct {
		Name   string
		Family string `yaml:"family-names"`
		Given  string `yaml:"given-names"`
	}
	Journal    string
	Collection string `yaml:"collection-title"`
	Volume     string
	Start      string
	Year       int
	DOI        string
	URL        string
	Version    string
	Keywords   []string
	References []citedWork
}

// bibtexAuthors returns the authors in the form of references.csv.
func (w *citedWork) bibtexAuthors() string {
	var out []string
	for _, a := range w.Authors {
		if a.Family != "" {
			out = append(out, a.Family+", "+a.Given)
		}
	}
	return strings.Join(out, " and ")
}

// CITATION.cff and .zenodo.json say what references.csv says, and each paper's page has the title.
func TestCitationFilesAgree(t *testing.T) {
	var cff citedWork
	if err := yaml.Unmarshal([]byte(mustRead(t, filepath.Join(root, "CITATION.cff"))), &cff); err != nil {
		t.Fatal(err)
	}
	all := figures.References()
	papers, err := papers()
	if err != nil || len(cff.References) != len(papers) || len(all) != len(papers)+1 {
		t.Fatalf("%d references, %d in CITATION.cff, %d papers, %v", len(all)-1, len(cff.References), len(papers), err)
	}
	var identifiers []string
	for i, r := range all[1:] {
		url := ""
		if r.DOI != "" {
			identifiers = append(identifiers, r.DOI)
		}
		if r.ArXiv != "" {
			identifiers, url = append(identifiers, "arXiv:"+r.ArXiv), "https://arxiv.org/abs/"+r.ArXiv
		}
		w := cff.References[i]
		if w.Title != r.Title || w.bibtexAuthors() != r.Authors || len(w.Authors) == 0 || w.Volume != r.Volume || w.Start != r.Number ||
			w.Year != r.Year || w.DOI != r.DOI || w.URL != url {
			t.Errorf("CITATION.cff has\n%+v\nand references.csv\n%+v", w, r)
		}
		if venue := w.Journal + w.Collection; r.Type != "misc" && venue != r.Venue {
			t.Errorf("CITATION.cff has the venue %q, references.csv %q", venue, r.Venue)
		}
		if p := papers[i]; p.Name != r.Name || !strings.HasSuffix(p.Heading, ": "+r.Title) && !strings.HasPrefix(r.Title, strings.TrimPrefix(p.Heading, "Deadline report: ")) {
			t.Errorf("%s: %q is %q on its page", r.Name, r.Title, p.Heading)
		}
	}
	var zenodo struct {
		Title, Version string
		Creators       []struct{ Name string }
		Keywords       []string
		Related        []struct{ Identifier, Relation string } `json:"related_identifiers"`
	}
	if err := json.Unmarshal([]byte(mustRead(t, filepath.Join(root, ".zenodo.json"))), &zenodo); err != nil {
		t.Fatal(err)
	}
	var related []string
	for _, r := range zenodo.Related {
		related = append(related, r.Identifier)
	}
	if cff.Title != all[0].Title || zenodo.Title != cff.Title || zenodo.Version != cff.Version || !slices.Equal(zenodo.Keywords, cff.Keywords) ||
		!slices.Equal(related, identifiers) || len(zenodo.Creators) != 1 || all[0].Authors != "{"+zenodo.Creators[0].Name+"}" ||
		cff.Authors[0].Name != zenodo.Creators[0].Name {
		t.Errorf(".zenodo.json has\n%+v\nCITATION.cff\n%+v\nand the papers have %q", zenodo, cff, identifiers)
	}
}

// Papers are chosen by their names. Braces balance.
func TestCite(t *testing.T) {
	for _, c := range []struct{ names, want, not string }{
		{"", "@inproceedings{saroliya2023hierarchical,", "algorithm"},
		{"hierarchical", "@inproceedings{saroliya2023hierarchical,", "@article"},
		{"far mfi", "@article{villarrubia2025leveraging,", "saroliya"},
		{"mfi", "  eprint = {2511.18906},", "@article"},
	} {
		got := miglab(t, t.TempDir(), append([]string{"cite"}, strings.Fields(c.names)...)...)
		if !strings.HasPrefix(got, "@misc{miglab,") || !strings.Contains(got, c.want) || strings.Contains(got, c.not) ||
			strings.Count(got, "{") != strings.Count(got, "}") {
			t.Errorf("cite %s:\n%s", c.names, got)
		}
	}
}
