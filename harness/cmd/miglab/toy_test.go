package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// addToy adds to an overlay a track, a dataset and an algorithm of their own, a file each.
// Nothing else in the program knows them.
func addToy(t *testing.T, replace map[string]string) {
	t.Helper()
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"track.go", "dataset.go", "algorithm.go"} {
		replace[filepath.Join(absolute, "harness", "toy", name)] = filepath.Join(absolute, "harness", "track", "testdata", "toy", name)
	}
	load := filepath.Join(t.TempDir(), "load.go")
	write(t, load, "package main\n\nimport _ \"miglab/harness/toy\"\n")
	replace[filepath.Join(absolute, "harness", "cmd", "miglab", "load_toy.go")] = load
}

// testToy takes the toy track through the commands.
func testToy(t *testing.T) {
	dir := t.TempDir()
	miglab := func(args ...string) string {
		t.Helper()
		return miglab(t, dir, args...)
	}
	expect := func(pattern, out string) {
		t.Helper()
		if !regexp.MustCompile(pattern).MatchString(out) {
			t.Errorf("%s is not in:\n%s", pattern, out)
		}
	}
	expect(`(?m)^toy-pick +toy +the first or the smallest number`, miglab("list", "algorithms"))
	expect(`(?m)^toy/numbers +random numbers`, miglab("list", "datasets"))
	miglab("generate", "--dataset", "toy/numbers?n=3", "--instances", "2", "--out", "made")
	expect(`^number\n0\.\d+\n0\.\d+\n0\.\d+\n$`, mustRead(t, filepath.Join(dir, "made", "toy-numbers_n3-0001.csv")))
	ran := fails(t, dir, exitFailed, "run", "--track", "toy", "--algorithms", "toy-pick,toy-pick?rule=smallest,toy-pick?rule=none", "--datasets", "toy/numbers", "--instances", "40")
	expect(`^120 cells;`, ran)
	expect(`40 failed as "invalid"`, ran)
	expect(`cells of the algorithms that failed: 40`, ran)
	expect(`(?s)toy/numbers: chosen.*\n +1 +toy-pick\?rule=smallest .*\n +2 +toy-pick .*\n +3 +toy-pick\?rule=none `, miglab("leaderboard", "--track", "toy"))
	exported := miglab("export", "--track", "toy", "--format", "csv")
	if n := strings.Count(exported, "\ntoy,toy/numbers,"); n != 120 {
		t.Errorf("%d rows are exported, want 120:\n%s", n, exported[:min(len(exported), 500)])
	}
	expect("has tasks; the toy track needs numbers", fails(t, dir, exitBadInput, "run", "--track", "toy", "--algorithms", "toy-pick", "--datasets", "WIDETIMES"))
}
