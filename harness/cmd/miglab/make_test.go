package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLintNeedsItsTools runs make lint with linters that are missing, that fail and that find something.
func TestLintNeedsItsTools(t *testing.T) {
	maker, err := exec.LookPath("make")
	if err != nil {
		t.Skip("no make")
	}
	for _, c := range []struct {
		name, gofumpt, staticcheck string // what the programs do; "" where there is none
		want                       string // in what make prints; "" if it is to succeed
	}{
		{"no gofumpt", "", "true", "gofumpt is not in PATH; install it with: make install-lint"},
		{"no staticcheck", "true", "", "staticcheck is not in PATH; install it with: make install-lint"},
		{"gofumpt fails", "echo cannot read >&2; exit 2", "true", "cannot read"},
		{"gofumpt finds a file", "echo a.go", "true", "not gofumpt-clean:\na.go"},
		{"staticcheck finds something", "true", "echo unused; exit 1", "unused"},
		{"nothing to find", "true", "true", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, does := range map[string]string{"gofumpt": c.gofumpt, "staticcheck": c.staticcheck} {
				if does == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			lint := exec.CommandContext(t.Context(), maker, "--no-print-directory", "-C", root, "lint")
			lint.Env = []string{"PATH=" + dir}
			out, err := lint.CombinedOutput()
			if failed := err != nil; failed != (c.want != "") || !strings.Contains(string(out), c.want) {
				t.Errorf("make lint: %v\n%s\nwant %q", err, out, c.want)
			}
		})
	}
}
