package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"miglab/harness/cli"
)

// every calls visit for all commands, by what follows miglab on their command lines.
func every(c *cobra.Command, visit func(name string, c *cobra.Command)) {
	visit(strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "miglab"), " "), c)
	for _, sub := range c.Commands() {
		every(sub, visit)
	}
}

// All commands write to the output that notices a full device. Those that need no GPU, no cluster and little time are
// run; of the others the help is written.
func TestEveryCommandNoticesAFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	t.Chdir(t.TempDir())
	onto := func(file *os.File, line string) error {
		out := cli.Output{File: file}
		root := newRoot()
		root.SetArgs(strings.Fields(line))
		root.SetOut(&out)
		root.SetErr(io.Discard)
		return cmp.Or(root.ExecuteContext(t.Context()), out.Err)
	}
	const tasks = "--tasks g/drl-WIDETIMES-0000.csv"
	for _, line := range []string{
		"generate --dataset WIDETIMES --out g", "schedule --out far.json " + tasks,
		"run --algorithms far,treedp --datasets WIDETIMES --instances 2 --results r",
	} {
		if _, err := inProcess(t, strings.Fields(line)...); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	lines := map[string]string{
		"": "--version", "list": "list", "generate": "generate --dataset WIDETIMES --out g", "schedule": "schedule " + tasks,
		"check": "check far.json " + tasks, "bound": "bound " + tasks, "export": "export --results r", "cite": "cite",
		"run":         "run --algorithms far --datasets WIDETIMES --instances 1 --results r",
		"leaderboard": "leaderboard --results r", "compare": "compare far treedp --results r",
		"audit": "audit --results r", "verify": "verify --results r", "suite list": "suite list", "suite export": "suite export --out s",
	}
	every(newRoot(), func(name string, _ *cobra.Command) {
		line, ok := lines[name]
		if !ok {
			line = strings.TrimSpace(name + " --help")
		}
		if printed, err := inProcess(t, strings.Fields(line)...); err != nil || printed == "" {
			t.Errorf("%s: %v", line, err)
		}
		if err := onto(full, line); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s on a full output: %v", line, err)
		}
		delete(lines, name)
	})
	if len(lines) > 0 {
		t.Errorf("no commands: %v", lines)
	}
	c := exec.Command("miglab", "list")
	var stderr strings.Builder
	c.Stdout, c.Stderr = full, &stderr
	if c.Run(); c.ProcessState.ExitCode() != exitBadInput || !strings.Contains(stderr.String(), "no space left on device") {
		t.Errorf("miglab list on a full output: %v, %s", c.ProcessState, &stderr)
	}
}

// No number is so large that a command takes all memory, no list is empty, and - is no folder.
func TestEveryCommandRefusesNonsense(t *testing.T) {
	numbers, lists, folders := 0, 0, 0
	every(newRoot(), func(name string, c *cobra.Command) {
		checks := func(flag, value string) {
			own, _, err := newRoot().Find(strings.Fields(name))
			if err != nil {
				t.Fatal(err)
			}
			err = own.Flags().Set(flag, value)
			if err != nil && strings.Contains(err.Error(), "is a folder and not standard output") {
				return // a folder's flag refuses - at once
			}
			if err != nil || own.Root().PersistentPreRunE(own, nil) == nil {
				t.Errorf("%s --%s=%s: %v", name, flag, value, err)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			refuses := func(value, want string) {
				line := append(strings.Fields(name), "--"+f.Name+"="+value)
				if _, err := inProcess(t, line...); err == nil || !strings.Contains(err.Error(), "--"+f.Name+" ") && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v", line, err)
				}
			}
			_, list := f.Value.(pflag.SliceValue)
			switch {
			case f.Value.Type() == "int" && f.Name != "size" && f.Name != "index":
				numbers++
				refuses("4611686018427387904", "at most")
				refuses("-1", "at least")
			case list:
				if f.Value.Type() == "stringSlice" {
					lists++
					checks(f.Name, "")
				}
			case strings.HasPrefix(f.Usage, "folder"):
				folders++
				checks(f.Name, "-")
			}
		})
	})
	if numbers < 20 || lists < 9 || folders < 15 {
		t.Errorf("%d numbers, %d lists and %d folders", numbers, lists, folders)
	}
	for line, want := range map[string]string{
		"leaderboard --across= --datasets WIDETIMES":                                         `--across "": a part of the list is empty`,
		"generate --dataset WIDETIMES --out -":                                               "--out -: it is a folder",
		"run --algorithms far --datasets WIDETIMES, --results none":                          `--datasets "WIDETIMES,": a part`,
		"run --algorithms far --datasets WIDETIMES --results none --instances 9999999999999": "--instances 9999999999999: at most 1000000000",
		"compare far treedp --datasets ,":                                                    `--datasets ",": a part`,
		"reproduce --paper=":                                                                 `--paper "": a part`,
	} {
		if _, err := inProcess(t, strings.Fields(line)...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, left := range []string{"-", "none"} {
		if _, err := os.Stat(left); err == nil {
			t.Errorf("%s was made", left)
			os.RemoveAll(left)
		}
	}
}

// suite export neither writes through links nor waits for pipes, and writes none of its files beside them.
func TestSuiteExportKeepsToItsFolder(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(elsewhere, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "best.csv")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	_, err := inProcess(t, "suite", "export", "--out", dir)
	entries, unread := os.ReadDir(dir)
	kept, lost := os.ReadFile(elsewhere)
	if err == nil || !strings.Contains(err.Error(), "best.csv is not a regular file") || len(entries) != 1 || unread != nil || string(kept) != "kept" || lost != nil {
		t.Errorf("%v, %v, %q", err, entries, kept)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if _, err := inProcess(t, "suite", "export", "--out", dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 || os.Remove(files[0]) != nil {
		t.Fatal(files, err)
	}
	if out, err := exec.Command("mkfifo", files[0]).CombinedOutput(); err != nil {
		t.Skipf("mkfifo: %v, %s", err, out)
	}
	if _, err := inProcess(t, "suite", "export", "--check", "--out", dir); err == nil || !strings.Contains(err.Error(), "it is not a regular file") {
		t.Errorf("%v", err)
	}
}
