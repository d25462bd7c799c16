//go:build unix

package launch

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"miglab/profiling"
)

// scripted returns a kernel that runs a script in a folder of its own.
func scripted(t *testing.T, result ResultSource, script string) *Kernel {
	t.Helper()
	return &Kernel{
		Name: "k", Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Timeout: defaultTimeout,
		Time: TimeSource{Kind: Wall}, Result: result,
	}
}

func TestResult(t *testing.T) {
	file := ResultSource{File: "out.txt"}
	pattern := ResultSource{Pattern: regexp.MustCompile(`sum (\d+)`)}
	run := func(result ResultSource, script string) Outcome {
		out, err := scripted(t, result, script).Run(t.Context(), profiling.Instance{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		name   string
		source ResultSource
		a, b   string
		same   bool
	}{
		{"equal files", file, "echo 1 >out.txt; echo a", "echo 1 >out.txt; echo b", true},
		{"other files", file, "echo 1 >out.txt", "echo 2 >out.txt", false},
		{"equal matches", pattern, "echo time 3; echo sum 1; echo sum 2", "echo time 4; echo sum 1; echo sum 2", true},
		{"other match", pattern, "echo sum 1; echo sum 2", "echo sum 1; echo sum 3", false},
		{"fewer matches", pattern, "echo sum 1; echo sum 1", "echo sum 1", false},
		{"whole match", ResultSource{Pattern: regexp.MustCompile(`sum \d+`)}, "echo sum 1", "echo sum 2", false},
	} {
		a, b := run(c.source, c.a), run(c.source, c.b)
		if a.Status != OK || b.Status != OK || a.Result == "" || b.Result == "" || (a.Result == b.Result) != c.same {
			t.Errorf("%s: %s %q and %s %q", c.name, a.Status, a.Result, b.Status, b.Result)
		}
	}
	if out := run(ResultSource{}, "echo sum 1"); out.Status != OK || out.Result != "" {
		t.Errorf("a kernel that shows no result: %+v", out)
	}
}

func TestResultIsMissing(t *testing.T) {
	k := scripted(t, ResultSource{File: "out.txt"}, "echo done")
	// The file of an earlier run is not the result of this one.
	if err := os.WriteFile(filepath.Join(k.Dir, "out.txt"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, k := range map[string]*Kernel{
		"there is no result: out.txt is missing; the output ends with: done":                       k,
		`there is no result: the output does not match "sum (.*)"; the output ends with: segfault`: scripted(t, ResultSource{Pattern: regexp.MustCompile("sum (.*)")}, "echo segfault"),
	} {
		out, err := k.Run(t.Context(), profiling.Instance{})
		if err != nil || out.Status != Wrong || out.Detail != want {
			t.Errorf("%+v, %v; want %s", out, err, want)
		}
	}
}
