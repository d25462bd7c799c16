package main

import (
	"encoding/csv"
	"html"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
	"miglab/reports"
)

// TestSite: all tracks are there, the boards are those of miglab leaderboard to the digit,
// and the same results give the same bytes.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("computes leaderboards of all tracks")
	}
	if !deep.On() {
		t.Setenv(fewCompete, "1")
	}
	dir := t.TempDir()
	// Somebody's own dataset and GPU model are there, too.
	write(t, filepath.Join(dir, "mine.csv"), "task,t1,t2,t3,t4,t7\na,8,4,3,2,1\nb,9,5,4,3,2\n")
	for _, gpu := range []string{"A100", "A100?create=0.05"} {
		miglab(t, dir, "run", "--gpu", gpu, "--algorithms", "far,nomig", "--datasets", "profile:mine.csv", "--instances", "1", "--results", "results/quick")
	}
	// With --own it has these alone, and computes nothing.
	results := contents(t, filepath.Join(dir, "results", "quick"))
	miglab(t, dir, "site", "--own", "--results", "results/quick", "--out", "own")
	equal(t, contents(t, filepath.Join(dir, "results", "quick")), results)
	pages := contents(t, filepath.Join(dir, "own"))
	if !strings.Contains(pages["batch.html"], "profile:mine.csv") || strings.Contains(pages["batch.html"], "WIDETIMES") || pages["stream.html"] != "" {
		t.Errorf("site --own has the pages %q, and batch.html:\n%s", slices.Sorted(maps.Keys(pages)), pages["batch.html"])
	}
	miglab(t, dir, "site", "--quick")
	folder := filepath.Join(dir, "results", "quick", "site")
	rows := map[string]bool{}
	for _, page := range []string{"index.html", "suite.html", "batch.html", "stream.html", "placement.html", "dispatch.html", "corun.html"} {
		for _, row := range regexp.MustCompile(`<tr data-dataset.*?</tr>`).FindAllString(mustRead(t, filepath.Join(folder, page)), -1) {
			var cells []string
			for _, cell := range regexp.MustCompile(`<td([^>]*)>(?:<a [^>]*>)?(.*?)(?:</a>)?</td>`).FindAllStringSubmatch(row, -1) {
				sort := regexp.MustCompile(`data-sort="(.*?)"`).FindStringSubmatch(cell[1])
				switch {
				case strings.Contains(cell[1], "interval"): // the site's own
				case sort != nil:
					cells = append(cells, sort[1])
				default:
					cells = append(cells, html.UnescapeString(cell[2]))
				}
			}
			rows[strings.Join(cells, "|")] = true
		}
	}
	for _, args := range [][]string{
		{"--track", "batch"},
		{"--track", "batch", "--gpu", "A30"},
		{"--track", "batch", "--gpu", "H100"},
		{"--track", "batch", "--gpu", "A100?create=0.05"},
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
