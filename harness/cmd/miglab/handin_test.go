package main

import (
	"path/filepath"
	"testing"
)

// What harness/README.md shows as submission.json is accepted.
func TestSubmissionOfThePage(t *testing.T) {
	dir := t.TempDir()
	miglab(t, dir, "run", "--algorithms", "far", "--datasets", "WIDETIMES", "--instances", "1", "--results", "submission")
	write(t, filepath.Join(dir, "submission", "submission.json"), block(t, "harness/README.md", "Handing in results", "json"))
	miglab(t, dir, "verify", "--results", "submission", "--report", "report.json")
}
