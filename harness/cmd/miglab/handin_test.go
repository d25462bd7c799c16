package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What harness/README.md shows as submission.json is accepted.
func TestSubmissionOfThePage(t *testing.T) {
	dir := t.TempDir()
	miglab(t, dir, "run", "--algorithms", "far", "--datasets", "WIDETIMES", "--instances", "1", "--results", "submission")
	write(t, filepath.Join(dir, "submission", "submission.json"), block(t, "harness/README.md", "Handing in results", "json"))
	miglab(t, dir, "verify", "--results", "submission", "--report", "report.json")
}

// A submission.json that is too large is refused for this reason.
func TestLargeSubmission(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "submission")
	if _, err := inProcess(t, "run", "--algorithms", "far", "--datasets", "WIDETIMES", "--instances", "1", "--results", dir); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "submission.json"), strings.Repeat(" ", 2<<20))
	_, err := inProcess(t, "verify", "--results", dir, "--report", filepath.Join(dir, "..", "report.json"))
	if err == nil || !strings.Contains(err.Error(), "at most 1 MiB are read") {
		t.Error(err)
	}
}
