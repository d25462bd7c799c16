package main

import (
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	figures "miglab/paper-figures"
	"miglab/profiling/kernel"
)

// root is the repository.
const root = "../../.."

// block returns the first code block of README.md in a language; "" is a block
// without one.
func block(t *testing.T, language, after string) string {
	t.Helper()
	_, text, ok := strings.Cut(mustRead(t, filepath.Join(root, "README.md")), after)
	_, text, opened := strings.Cut(text, "\n```"+language+"\n")
	code, _, closed := strings.Cut(text, "\n```\n")
	if !ok || !opened || !closed {
		t.Fatalf("README.md has no block ```%s after %q", language, after)
	}
	return code + "\n"
}

// TestReadmeExample puts the example algorithm of README.md where README.md says
// and uses the program that comes out.
func TestReadmeExample(t *testing.T) {
	code := block(t, "go", "## Add an algorithm")
	if n := strings.Count(code, "\n"); n > 40 {
		t.Errorf("the example has %d lines; 40 are the most that one reads", n)
	}
	if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
		t.Errorf("the example is not gofmt's: %v", err)
	}

	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	place, err := filepath.Abs(filepath.Join(root, "algorithms", "earliest.go"))
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{place: write("earliest.go", code)}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "miglab.exe")
	build := exec.Command("go", "build", "-overlay", write("overlay.json", string(overlay)), "-o", program, ".")
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

	write("tasks.csv", "task,t1,t2,t3,t4,t7\na,10,6,5,4,3\nb,20,11,8,6,4\nc,6,5,4,3.5,3\nd,9,8,7,6,5\n")
	miglab("schedule", "--algorithm", "earliest", "--tasks", "tasks.csv", "--out", "schedule.json")
	if out := miglab("check", "--tasks", "tasks.csv", "schedule.json"); !strings.HasPrefix(out, "ok: 4 tasks, ") {
		t.Errorf("check: %s", out)
	}
	if out := miglab("list", "algorithms"); !regexp.MustCompile(`(?m)^earliest +batch +1 +two halves`).MatchString(out) {
		t.Errorf("list: %s", out)
	}
	miglab("run", "--algorithms", "earliest,far", "--datasets", "WIDETIMES", "--instances", "10")
	if out := miglab("leaderboard"); !strings.Contains(out, " earliest ") {
		t.Errorf("leaderboard: %s", out)
	}
}

// words splits a command line without expanding anything.
func words(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "sudo "), " > ")
	var out []string
	quoted := false
	begins := true
	for _, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			begins = true
		case begins:
			out = append(out, string(r))
			begins = false
		default:
			out[len(out)-1] += string(r)
		}
	}
	return out
}

// parse has cobra read a command line: the command, its flags and arguments.
func parse(line string) (*cobra.Command, error) {
	c, rest, err := newRoot().Find(words(line)[1:])
	if err != nil {
		return c, err
	}
	if err := c.ParseFlags(rest); err != nil {
		return c, err
	}
	if err := c.ValidateRequiredFlags(); err != nil {
		return c, err
	}
	return c, c.ValidateArgs(c.Flags().Args())
}

func TestReadmeCommandsCanBeTyped(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(block(t, "", "## What is in it")), "\n")
	var names []string
	for _, line := range lines {
		if _, err := parse(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		names = append(names, words(line)[1])
	}
	for _, c := range newRoot().Commands() {
		if c.IsAvailableCommand() && c.Name() != "readme" && !slices.Contains(names, c.Name()) {
			t.Errorf("README.md does not show %s", c.Name())
		}
	}
}

// TestReadmeGPU: the way from a bare GPU to a leaderboard takes five commands, which exist.
func TestReadmeGPU(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(block(t, "", "## On your GPU")), "\n")
	if len(lines) != 5 {
		t.Errorf("%d commands, want 5", len(lines))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "make ") {
			for _, target := range words(line)[1:] {
				if !strings.Contains(mustRead(t, filepath.Join(root, "Makefile")), "\n"+target+":") {
					t.Errorf("the Makefile has no target %s", target)
				}
			}
		} else if _, err := parse(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := kernel.Read(strings.NewReader(block(t, "yaml", "## On your GPU")), "README.md", nil); err != nil {
		t.Error(err)
	}
}

// TestReasonsAreCommands: what would make a claim runnable can be typed as it stands.
func TestReasonsAreCommands(t *testing.T) {
	reasons := []string{
		figures.NeedsReconfiguration("A100"), figures.NeedsIsolation("A100"), figures.NeedsExecution("A30", "far", []string{"LU", "CFD"}),
	}
	n := 0
	for _, reason := range reasons {
		for _, quoted := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(reason, -1) {
			n++
			c, err := parse(quoted[1])
			if err != nil {
				t.Errorf("%s: %v", quoted[1], err)
				continue
			}
			if f := c.Flags().Lookup("kernels"); f != nil {
				set, err := c.Flags().GetStringToString("set")
				if err != nil {
					t.Fatal(err)
				}
				kf := kernelFlags{manifest: f.Value.String(), set: set}
				if _, err := kf.read(); err != nil {
					t.Errorf("%s: %v", quoted[1], err)
				}
			}
		}
	}
	if n != 4 {
		t.Errorf("%d commands, want 4", n)
	}
}

func TestHelpOfEveryCommandHasExamplesThatCanBeTyped(t *testing.T) {
	commands := newRoot().Commands()
	if len(commands) < 8 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range slices.Clone(commands) {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range append(commands, newRoot()) {
		name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "miglab"))
		help := miglab(t, ".", append(strings.Fields(name), "--help")...)
		_, examples, ok := strings.Cut(help, "\nExamples:\n")
		examples, _, ended := strings.Cut(examples, "\n\n")
		if !ok || !ended || !strings.Contains(help, "\nUsage:\n") {
			t.Errorf("miglab %s --help:\n%s", name, help)
			continue
		}
		for line := range strings.Lines(examples) {
			got, err := parse(line)
			if err != nil {
				t.Errorf("%s: %s: %v", c.CommandPath(), line, err)
			} else if c.HasParent() && got.CommandPath() != c.CommandPath() && !(c.HasSubCommands() && strings.HasPrefix(got.CommandPath(), c.CommandPath()+" ")) {
				t.Errorf("%s: its example is of %s", c.CommandPath(), got.Name())
			}
		}
	}
}
