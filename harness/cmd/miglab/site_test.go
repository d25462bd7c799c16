package main

import (
	"encoding/csv"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/reports"
)

// TestSite: all tracks are there, the boards are those of miglab leaderboard to the digit,
// and the same results give the same bytes.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("computes leaderboards of all tracks")
	}
	dir := t.TempDir()
	miglab(t, dir, "site", "--quick")
	folder := filepath.Join(dir, "results", "quick", "site")
	page, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile(`<tr data-dataset.*?</tr>`).FindAllString(string(page), -1) {
		var cells []string
		for _, cell := range regexp.MustCompile(`<td[^>]*>(.*?)</td>`).FindAllStringSubmatch(row, -1) {
			cells = append(cells, html.UnescapeString(cell[1]))
		}
		rows[strings.Join(cells, "|")] = true
	}
	for _, args := range [][]string{
		{"--track", "batch"},
		{"--track", "batch", "--gpu", "A30"},
		{"--track", "batch", "--gpu", "H100"},
		{"--track", "batch", "--reconfiguration", "parallel"},
		{"--track", "stream"},
		{"--track", "placement"},
		{"--track", "dispatch"},
		{"--track", "corun"},
	} {
		text := miglab(t, dir, append([]string{"leaderboard", "--results", "results/quick", "--format", "csv"}, args...)...)
		board, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		// The site leaves out the track, and columns of which a board has no value.
		var kept []int
		for c := 1; c < len(board[0]); c++ {
			if slices.ContainsFunc(board[1:], func(row []string) bool { return row[c] != reports.Missing }) {
				kept = append(kept, c)
			}
		}
		for _, row := range board[1:] {
			var cells []string
			for _, c := range kept {
				cells = append(cells, row[c])
			}
			if !rows[strings.Join(cells, "|")] {
				t.Errorf("%v: the site has no row %q", args, cells)
			}
		}
	}
	before := contents(t, folder)
	miglab(t, dir, "site", "--quick")
	equal(t, contents(t, folder), before)
}
