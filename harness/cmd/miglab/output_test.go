package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"miglab/harness/cli"
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

func TestTheNameOfAFileSaysTheFormat(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.WriteFile("t.csv", []byte("task,t1,t2,t3,t4,t7\na,8,4,3,2,1\n"), 0o600), os.WriteFile("trace.csv", []byte(trace), 0o600)); err != nil {
		t.Fatal(err)
	}
	schedule := []string{"schedule", "--tasks", "t.csv"}
	for _, c := range []struct {
		name, begin string
		args        []string
	}{
		{"a.svg", "<?xml", schedule},
		{"a.SVG", "<?xml", schedule},
		{"a.Png", "\x89PNG", schedule},
		{"a.TXT", "far on 1 x A100", schedule},
		{"a.b.Json", "{", schedule},
		{".hidden", "{", schedule},
		{"plain", "{", schedule},
		{"tmp.Xa3", "<?xml", append(schedule, "--format", "svg")},
		{"a.JSON", "{", append(schedule, "--format", "json")},
		{"requests.CSV", "arrival_slot,", []string{"import", "trace.csv"}},
		{"requests", "arrival_slot,", []string{"import", "trace.csv"}},
	} {
		if _, err := inProcess(t, append(c.args, "--out", c.name)...); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if text, err := os.ReadFile(c.name); err != nil || !strings.HasPrefix(string(text), c.begin) {
			t.Errorf("%s begins with %.20q, %v; want %q", c.name, text, err, c.begin)
		}
	}
	for _, name := range []string{"-", "/dev/stdout"} {
		if text, err := inProcess(t, append(schedule, "--format", "text", "--out", name)...); err != nil || !strings.HasPrefix(text, "far on") {
			t.Errorf("--out %s prints %.20q, %v", name, text, err)
		}
	}
	text, err := inProcess(t, "import", "trace.csv", "--out", "-")
	if _, missing := os.Stat("-.rejected.csv"); err != nil || !strings.HasPrefix(text, "arrival_slot,") || missing == nil {
		t.Errorf("import --out - prints %q, %v, and writes a list beside it: %v", text, err, missing == nil)
	}
}

const trace = "submit_s,lifetime_s,gpus,gpu_milli\n1,90,1,230\n2,90,1,half\n"

// TestFormatsThatACommandCannotWrite gives each command other inputs that do not exist, which would be the error
// if the name of the output were looked at later.
func TestFormatsThatACommandCannotWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"schedule --tasks none --out x.csv":                `^--out x\.csv: schedule does not write \.csv; it writes \.json, \.txt, \.svg, \.png$`,
		"schedule --tasks none --out x.csv --format text":  `^--out x\.csv: schedule does not write \.csv;`,
		"schedule --tasks none --out d.svg/x.PDF":          `^--out d\.svg/x\.PDF: schedule does not write \.pdf;`,
		"schedule --tasks none --out x.SVG --format png":   `^--format png --out x\.SVG: they name two formats;`,
		"export --results none --out x.json":               `^--out x\.json: export does not write \.json; it writes \.csv, \.jsonl$`,
		"export --results none --out x.csv --format jsonl": `^--format jsonl --out x\.csv: they name two formats;`,
		"import none --out x.json":                         `^--out x\.json: import does not write \.json; it writes \.csv$`,
		"import none --format openb --out x.txt":           `^--out x\.txt: import does not write \.txt; it writes \.csv$`,
		"compare far miso --gantt x.pdf --results none":    `^--gantt x\.pdf: compare does not write \.pdf; it writes \.svg, \.png$`,
		"compare far miso --format csv --gantt x.pdf":      `^--gantt x\.pdf: compare does not write \.pdf;`,
	} {
		_, err := inProcess(t, strings.Fields(line)...)
		if failed := new(cli.FailedError); err == nil || errors.As(err, failed) || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("miglab %s: %v", line, err)
		}
	}
	if left, err := filepath.Glob("*"); err != nil || len(left) > 0 {
		t.Errorf("written is %q, %v", left, err)
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
	if said, err := inProcess(t, "check", "--tasks", piped(tasks), piped(text)); err != nil || !strings.HasPrefix(said, "ok: 1 tasks") {
		t.Errorf("check: %q, %v", said, err)
	}
	const kernels = "{version: 1, suite: mine, kernels: [{name: a, argv: [./none]}]}"
	if _, err := inProcess(t, "profile", "--check", "--kernels", piped(kernels)); err == nil || !strings.Contains(err.Error(), "kernel a: ") {
		t.Errorf("profile: %v", err)
	}
}
