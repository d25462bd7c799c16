package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/nearest"
)

// inProcess runs a command line in this process and returns what it prints and its error.
func inProcess(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestFlagsOfFolders: the flags whose usage names a folder are the flags that refuse "-".
func TestFlagsOfFolders(t *testing.T) {
	folders := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			isFolder := strings.HasPrefix(f.Usage, "folder")
			if isFolder {
				folders++
			}
			err := f.Value.Set("-")
			if isFolder != (err != nil && strings.Contains(err.Error(), "it is a folder")) {
				t.Errorf("%s --%s -: %v, and the usage is %q", c.Name(), f.Name, err, f.Usage)
			}
		})
	}
	visit(newRoot())
	if folders < 20 {
		t.Errorf("%d flags of folders", folders)
	}
}

// Of several flags with an empty part, the first is named. A flag's error keeps its cause.
func TestErrorsOfFlags(t *testing.T) {
	_, err := inProcess(t, "run", "--algorithms", "far,,miso", "--datasets", ",")
	if err == nil || !strings.HasPrefix(err.Error(), `--algorithms "far,,miso": a part of the list is empty`) {
		t.Errorf("%v", err)
	}
	_, err = inProcess(t, "list", "algorithms", "--format", "texd")
	if unknown, ok := errors.AsType[*nearest.UnknownError](err); !ok {
		t.Errorf("%v does not wrap its cause, %T", err, unknown)
	}
}

// TestEveryOutputHasTheRuleOfFormats finds commands whose flag --out names a file but which have no rule for its
// name: those that write folders say so.
func TestEveryOutputHasTheRuleOfFormats(t *testing.T) {
	files := 0
	for _, c := range newRoot().Commands() {
		out := c.Flags().Lookup("out")
		if out == nil || strings.HasPrefix(out.Usage, "folder") {
			continue
		}
		files++
		if c.PreRunE == nil {
			t.Errorf("%s --out has the usage %q and no rule", c.Name(), out.Usage)
		}
	}
	if files != 3 {
		t.Errorf("%d commands write files; schedule, export and import do", files)
	}
}

// Users of bash give the output of a command as a file, as in --tasks <(generate): that is a pipe.
func TestInputsMayBePipes(t *testing.T) {
	const tasks = "task,t1,t2,t3,t4,t7\na,8,4,3,2,1\n"
	piped := func(text string) string {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		path := fmt.Sprintf("/dev/fd/%d", r.Fd())
		if _, err := os.Stat(path); err != nil {
			t.Skip(err)
		}
		if _, err := w.WriteString(text); err != nil || w.Close() != nil {
			t.Fatal(err)
		}
		return path
	}
	text, err := inProcess(t, "schedule", "--tasks", piped(tasks))
	if err != nil || !strings.Contains(text, `"makespan_s": 1.24`) {
		t.Fatalf("schedule: %q, %v", text, err)
	}
	if said, err := inProcess(t, "check", "--tasks", piped(tasks), piped(text)); err != nil || !strings.HasPrefix(said, "ok: 1 task, ") {
		t.Errorf("check: %q, %v", said, err)
	}
	const kernels = "{version: 1, suite: mine, kernels: [{name: a, argv: [./none]}]}"
	if _, err := inProcess(t, "profile", "--check", "--kernels", piped(kernels)); err == nil || !strings.Contains(err.Error(), "kernel a: ") {
		t.Errorf("profile: %v", err)
	}
}
