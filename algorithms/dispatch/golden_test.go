package dispatch_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/algo"
)

var update = flag.Bool("update", false, "write the golden files of the registered schedulers anew")

// goldenDir holds a file for each scheduler and its version with the slices that it
// chooses. As stored results are looked up by version, a choice that changes without a
// new one would stand beside the old.
const goldenDir = "testdata/golden"

// golden lists the slices of the jobs that arrive in the busiest hours of a day, in
// order of arrival, 50 a line.
func golden(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	for _, spec := range []string{"deadline/relaxed", "deadline/tight?gpus=7+3-3+2-1-1-3+1-1-1-1-1-1-1"} {
		in := instance(t, spec, 0)
		in.Jobs = in.Jobs[1200:1600]
		r := serve(t, name, 1, in)
		fmt.Fprintf(&b, "# %s, instance 0, jobs 1200 to 1599: %d late\n", spec, r.Late)
		for i, run := range r.Runs {
			sep := " "
			if i%50 == 49 {
				sep = "\n"
			}
			fmt.Fprint(&b, run.Slice, sep)
		}
	}
	return b.String()
}

func TestChoicesChangeWithTheVersionOnly(t *testing.T) {
	files := map[string]bool{}
	for _, s := range algo.All(algo.TrackDispatch) {
		path := filepath.Join(goldenDir, fmt.Sprintf("%s-v%d.txt", s.Name, s.Version))
		files[filepath.Base(path)] = true
		got := golden(t, s.Name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		switch {
		case err != nil:
			t.Errorf("%v; write it with go test ./algorithms/dispatch -run Version -update", err)
		case got != string(want):
			t.Errorf("%s chooses otherwise than in %s. If that is meant, raise Version in its Spec and run this test with -update", s.Name, path)
		}
	}
	entries, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !files[e.Name()] {
			t.Errorf("%s is of no registered scheduler and version; delete it", e.Name())
		}
	}
}
