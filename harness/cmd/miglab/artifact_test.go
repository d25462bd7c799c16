package main

import (
	"cmp"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/strictcsv"
)

// An artifactRow is a row of the numbers in ARTIFACT.md, with what one takes from nothing.
type artifactRow struct {
	// Artefact, Claim and Reading are the keys of claims.csv.
	Artefact, Claim, Reading       string
	Published, Expected, Tolerance string
	Verdict                        string
	Minutes                        float64
}

// artifactRows reads the table of numbers, which has some of all papers.
func artifactRows(t *testing.T) (rows []artifactRow) {
	t.Helper()
	const head = "| number | artefact | claim | reading | published | expected | verdict | CPU minutes | MB |\n|---|---|---|---|---|---|---|---|---|\n"
	_, table, _ := strings.Cut(mustRead(t, filepath.Join(root, "paper-figures", "ARTIFACT.md")), "\n"+head)
	table, _, _ = strings.Cut(table, "\n\n")
	papers := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 9 {
			t.Fatalf("ARTIFACT.md: %d cells, want 9: %s", len(cells), line)
		}
		expected, tolerance, _ := strings.Cut(cells[5], " ± ")
		minutes, err := strictcsv.Float(cells[7])
		if err != nil {
			t.Fatal(err)
		}
		paper, _, _ := strings.Cut(cells[1], "/")
		papers[paper] = true
		rows = append(rows, artifactRow{
			Artefact: cells[1], Claim: cells[2], Reading: cells[3],
			Published: cells[4], Expected: expected, Tolerance: cmp.Or(tolerance, "0"), Verdict: cells[6], Minutes: minutes,
		})
	}
	if len(papers) != 6 {
		t.Fatalf("ARTIFACT.md has numbers of %v", papers)
	}
	return rows
}

// TestArtifactTyres: the commands with which a reviewer begins print what ARTIFACT.md says that they print.
func TestArtifactTyres(t *testing.T) {
	_, text, _ := strings.Cut(mustRead(t, filepath.Join(root, "paper-figures", "ARTIFACT.md")), "**Kick the tyres.**")
	_, text, _ = strings.Cut(text, "```\n")
	commands, text, _ := strings.Cut(text, "```\n")
	_, expected, _ := strings.Cut(text, "Expected: ")
	dir, printed := t.TempDir(), ""
	for line := range strings.Lines(commands) {
		printed += miglab(t, dir, strings.Fields(line)[1:]...)
	}
	for i, want := range strings.Split(expected, "`")[1:4] {
		if i != 1 && !strings.Contains(printed, want+"\n") {
			t.Errorf("ARTIFACT.md expects %q; printed:\n%s", want, printed)
		}
	}
	page := regexp.MustCompile("`results/([A-Z.a-z]+)`\\s+says what each verdict means").FindStringSubmatch(text)
	if page == nil || !strings.Contains(mustRead(t, filepath.Join(dir, "results", "tyres", page[1])), "\n| REPRODUCED | ") {
		t.Errorf("ARTIFACT.md names %q, which does not say what REPRODUCED means", page)
	}
	if strings.Count("\n"+printed, "\nok:") != 2 {
		t.Errorf("verify and audit print:\n%s", printed)
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
		if record != nil && at(record, "verdict") != r.Verdict {
			t.Errorf("%s %s: %s, and ARTIFACT.md has %s", r.Artefact, r.Claim, at(record, "verdict"), r.Verdict)
		}
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
