package main

import (
	"os"
	"os/exec"
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
	if err := os.WriteFile(load, []byte("package main\n\nimport _ \"miglab/harness/toy\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace[filepath.Join(absolute, "harness", "cmd", "miglab", "load_toy.go")] = load
}

// testToy takes the toy track through the commands.
func testToy(t *testing.T, program string) {
	dir := t.TempDir()
	miglab := func(args ...string) string {
		t.Helper()
		c := exec.Command(program, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("miglab %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
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
	file, err := os.ReadFile(filepath.Join(dir, "made", "toy-numbers_n3-0001.csv"))
	if err != nil {
		t.Fatal(err)
	}
	expect(`^number\n0\.\d+\n0\.\d+\n0\.\d+\n$`, string(file))
	run := exec.Command(program, "run", "--track", "toy", "--algorithms", "toy-pick,toy-pick?rule=smallest,toy-pick?rule=none", "--datasets", "toy/numbers", "--instances", "40")
	run.Dir = dir
	ran, err := run.CombinedOutput()
	if run.ProcessState.ExitCode() != 1 {
		t.Errorf("run with invalid cells: %v, want exit code 1", err)
	}
	expect(`^120 cells;`, string(ran))
	expect(`40 of them ended as "invalid"`, string(ran))
	expect(`cells of the algorithms that failed: 40`, string(ran))
	expect(`(?s)toy/numbers: chosen.*\n +1 +toy-pick\?rule=smallest .*\n +2 +toy-pick .*\n +3 +toy-pick\?rule=none `, miglab("leaderboard", "--track", "toy"))
	exported := miglab("export", "--track", "toy", "--format", "csv")
	if n := strings.Count(exported, "\ntoy,toy/numbers,"); n != 120 {
		t.Errorf("%d rows are exported, want 120:\n%s", n, exported[:min(len(exported), 500)])
	}
	refused := exec.Command(program, "run", "--track", "toy", "--algorithms", "toy-pick", "--datasets", "WIDETIMES")
	refused.Dir = dir
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "has tasks; the toy track needs numbers") {
		t.Errorf("a dataset of another track: %v\n%s", err, out)
	}
}
