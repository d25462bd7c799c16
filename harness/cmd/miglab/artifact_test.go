package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/strictcsv"
)

// An artifactRow is a row of artifact.csv: a number, the command that computes it, and what that takes from nothing.
type artifactRow struct {
	// Artefact, Claim and Reading are the keys of claims.csv.
	Artefact  string  `csv:"artefact"`
	Claim     string  `csv:"claim"`
	Reading   string  `csv:"reading"`
	What      string  `csv:"what"`
	Published string  `csv:"published"`
	Expected  string  `csv:"expected"`
	Tolerance string  `csv:"tolerance"`
	Minutes   float64 `csv:"cpu_minutes"`
	Memory    int     `csv:"memory_mb"`
}

func artifactRows(t *testing.T) []artifactRow {
	t.Helper()
	file, err := os.Open(filepath.Join(root, "paper-figures", "artifact.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := strictcsv.Read[artifactRow](file, file.Name(), "no rows")
	if err != nil {
		t.Fatal(err)
	}
	return table.Rows
}

// The page has the table of artifact.csv, which has numbers of all papers.
func TestArtifactPage(t *testing.T) {
	want, papers := "| claim | command | published | expected | CPU minutes | MB |\n|---|---|---|---|---|---|\n", map[string]bool{}
	for _, r := range artifactRows(t) {
		paper, _, _ := strings.Cut(r.Artefact, "/")
		papers[paper] = true
		expected := r.Expected
		if r.Tolerance != "0" {
			expected += " ± " + r.Tolerance
		}
		want += fmt.Sprintf("| %s | `miglab reproduce --only %s` | %s | %s | %v | %d |\n",
			r.What, r.Artefact, r.Published, expected, r.Minutes, r.Memory)
	}
	if page := mustRead(t, filepath.Join(root, "paper-figures", "ARTIFACT.md")); !strings.Contains(page, "\n"+want+"\n") {
		t.Errorf("ARTIFACT.md lacks this table:\n%s", want)
	}
	if len(papers) != 6 {
		t.Errorf("rows of %v", papers)
	}
}

// What takes seconds is computed, and under make test-long everything. The published numbers are those of the papers.
func TestArtifactRows(t *testing.T) {
	const seconds = 0.02
	var artefacts []string
	var rows []artifactRow
	for _, r := range artifactRows(t) {
		if r.Minutes <= seconds || os.Getenv("MIGLAB_LONG") == "1" {
			artefacts, rows = append(artefacts, r.Artefact), append(rows, r)
		}
	}
	if len(rows) < 6 {
		t.Fatalf("%d rows take seconds", len(rows))
	}
	dir := t.TempDir()
	miglab(t, dir, "reproduce", "--only", strings.Join(slices.Compact(artefacts), ","))
	claims := map[string][]string{}
	records, err := csv.NewReader(strings.NewReader(mustRead(t, filepath.Join(dir, "results", "claims.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := func(record []string, column string) string { return record[slices.Index(records[0], column)] }
	for _, r := range records[1:] {
		claims[at(r, "paper")+"/"+at(r, "artefact")+" "+at(r, "claim")+" "+at(r, "reading")] = r
	}
	for _, r := range rows {
		record := claims[r.Artefact+" "+r.Claim+" "+r.Reading]
		if record == nil {
			t.Errorf("%s: no claim %q read as %q", r.Artefact, r.Claim, r.Reading)
			continue
		}
		var numbers [3]float64
		for i, text := range []string{at(record, "measured"), r.Expected, r.Tolerance} {
			var err error
			if numbers[i], err = strictcsv.Float(text); err != nil {
				t.Fatal(err)
			}
		}
		if !(math.Abs(numbers[0]-numbers[1]) <= numbers[2]) || at(record, "published") != r.Published {
			t.Errorf("%s, %s: %s and published %s, want %s and %s", r.Artefact, r.Claim, at(record, "measured"), at(record, "published"), r.Expected, r.Published)
		}
	}
}
