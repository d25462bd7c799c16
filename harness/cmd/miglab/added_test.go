package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"miglab/harness/deep"
)

// TestSuitesTakeAdditions adds one of each kind to the program, a file each, and runs the suites of their packages: no test may
// hold how many there are. The golden answers, which the pages tell to write, are left out.
func TestSuitesTakeAdditions(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("compiles and runs the suites of many packages; make test-long sets MIGLAB_LONG=1")
	}
	added, err := txtar.ParseFile("testdata/added.txtar")
	if err != nil {
		t.Fatal(err)
	}
	family := txtar.File{Name: "datasets/equal.go", Data: []byte(block(t, "datasets/README.md", "`datasets/equal.go`", "go"))}
	const shown = "AllSchedulersAreShown" // in the papers' tables; nothing else of them
	for _, suite := range []struct {
		files    []txtar.File
		packages []string
		flags    []string
	}{
		{added.Files, nil, []string{"-skip", "VersionOnly"}},
		{added.Files, []string{"./paper-figures/deadline", "./paper-figures/hierarchical"}, []string{"-run", shown}},
		{[]txtar.File{family}, nil, []string{"-skip", "GoldenFamilies"}}, // apart, as most packages are compiled again for it
	} {
		dir, replace, packages := t.TempDir(), map[string]string{}, suite.packages
		for i, f := range suite.files {
			place, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(f.Name)))
			if err != nil {
				t.Fatal(err)
			}
			replace[place] = filepath.Join(dir, fmt.Sprintf("%d.go", i))
			write(t, replace[place], string(f.Data))
			if suite.packages == nil {
				packages = append(packages, "./"+path.Dir(f.Name))
			}
		}
		args := slices.Concat(suite.flags, packages)
		suites := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-overlay", overlay(t, dir, replace)}, args...)...)
		suites.Dir = root
		suites.Env = append(os.Environ(), deep.Variable+"=", "CGO_ENABLED=0")
		out, err := suites.CombinedOutput()
		if err != nil || strings.Count(string(out), "\nok ")+1 < len(args)-2 {
			t.Errorf("go test %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
