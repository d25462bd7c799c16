package track_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestToyTrack builds the program with a track, a dataset and an algorithm of their own, a file
// each, and takes them through the commands. Nothing else in the program knows them.
func TestToyTrack(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, name := range []string{"track.go", "dataset.go", "algorithm.go"} {
		replace[filepath.Join(root, "harness", "toy", name)] = filepath.Join(root, "harness", "track", "testdata", "toy", name)
	}
	load := filepath.Join(dir, "load.go")
	if err := os.WriteFile(load, []byte("package main\n\nimport _ \"miglab/harness/toy\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	replace[filepath.Join(root, "harness", "cmd", "miglab", "load_toy.go")] = load
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "miglab.exe")
	build := exec.Command("go", "build", "-overlay", overlay, "-o", program, "./harness/cmd/miglab")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
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
