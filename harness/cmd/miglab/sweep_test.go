package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/deep"
	"miglab/harness/sweep"
)

// spread is a sweep that takes long enough to be disturbed: four tasks at a time. It searches or, unless tests are deep,
// waits.
var spread = []string{"run", "--algorithms", "far,dawdle", "--datasets", "WIDETIMES", "--instances", "40"}

func init() {
	if deep.On() {
		spread[2] = "far,lns?iterations=500"
	}
}

// A disturbed sweep is in a folder of its own.
type disturbed struct {
	t *testing.T
	// dir is where miglab runs, and sweep the sweep's folder.
	dir, sweep string
}

// submit is the command line that submits the sweep.
func (d *disturbed) submit() []string {
	return append([]string{"submit", "local", "--tasks", "4", "--workers", "4", "--sweep", d.sweep, "--"}, spread...)
}

// attempts is how often a test tries to disturb a program that may be done first.
const attempts = 20

// attempts reads how the runs of tasks stand.
func (d *disturbed) attempts() []sweep.Attempt {
	files, err := filepath.Glob(filepath.Join(d.sweep, "tasks", "[0-9]*.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var out []sweep.Attempt
	for _, f := range files {
		var a sweep.Attempt
		if err := json.Unmarshal([]byte(mustRead(d.t, f)), &a); err != nil {
			d.t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

// fails runs the program, which has to end with the exit code, and returns its standard error.
func (d *disturbed) fails(code int, args ...string) string {
	d.t.Helper()
	c := exec.Command("miglab", args...)
	c.Dir = d.dir
	var stderr strings.Builder
	c.Stderr = &stderr
	if _ = c.Run(); c.ProcessState.ExitCode() != code {
		d.t.Fatalf("miglab %s: exit code %d, want %d\n%s", strings.Join(args, " "), c.ProcessState.ExitCode(), code, &stderr)
	}
	return stderr.String()
}

func TestSweepGivesTheSameBytesHoweverItCameAbout(t *testing.T) {
	t.Setenv(dawdles, "1")
	undisturbed := t.TempDir()
	miglab(t, undisturbed, spread...)
	want := table(t, undisturbed)

	t.Run("a task killed, a database damaged", func(t *testing.T) {
		killed := -1
		// The signal that is sent to the program itself is none.
		d, got := disturb(t, syscall.Signal(0), func(d *disturbed) bool {
			tasks := d.attempts()
			i := slices.IndexFunc(tasks, func(a sweep.Attempt) bool { return a.State == sweep.Running })
			if i < 0 {
				return false
			}
			killed = tasks[i].Task
			p, err := os.FindProcess(tasks[i].PID)
			return err == nil && p.Kill() == nil
		})
		if got.code != exitFailed || !strings.Contains(got.stderr, "submit --missing "+d.sweep) {
			t.Fatalf("exit code %d\n%s", got.code, got.stderr)
		}

		databases, err := filepath.Glob(filepath.Join(d.sweep, "results", "*.db"))
		// The database of the killed task may hold nothing that the damage could lose.
		databases = slices.DeleteFunc(databases, func(path string) bool {
			return strings.HasPrefix(filepath.Base(path), fmt.Sprintf("%04d-", killed))
		})
		if err != nil || len(databases) == 0 {
			t.Fatalf("%q, %v", databases, err)
		}
		if err := os.Truncate(databases[0], sizeOf(databases[0])/2); err != nil {
			t.Fatal(err)
		}
		if out := miglab(t, d.dir, "status", d.sweep); !strings.Contains(out, "damaged  "+databases[0]) {
			t.Errorf("the damage to %s is not named:\n%s", databases[0], out)
		}
		if said := d.fails(exitFailed, "merge", d.sweep); !strings.Contains(said, databases[0]) || !strings.Contains(said, "are missing, of tasks ") {
			t.Errorf("merge says\n%s", said)
		}
		if out := miglab(t, d.dir, "submit", "--missing", d.sweep); !strings.Contains(out, "in 4 tasks, 2 of which are submitted") {
			t.Errorf("two tasks miss results; submit says\n%s", out)
		}
		miglab(t, d.dir, "merge", d.sweep)
		if table(t, d.dir) != want {
			t.Error("other bytes than in one process")
		}
	})

	t.Run("stopped", func(t *testing.T) {
		d, got := disturb(t, os.Interrupt, func(d *disturbed) bool { return len(d.attempts()) == 4 })
		if got.code != exitInterrupted || !strings.Contains(got.stderr, "what was computed is kept") {
			t.Fatalf("exit code %d\n%s", got.code, got.stderr)
		}
		for _, a := range d.attempts() {
			if a.State != sweep.Stopped && a.State != sweep.Done {
				t.Errorf("task %d is %s", a.Task, a.State)
			}
		}
		miglab(t, d.dir, d.submit()...)
		if table(t, d.dir) != want {
			t.Error("other bytes than in one process")
		}
		jobs, err := sweep.Jobs(d.sweep)
		if err != nil || len(jobs) != 2 {
			t.Errorf("%d submissions, %v; want 2", len(jobs), err)
		}
	})

	t.Run("each task twice at a time", func(t *testing.T) {
		// Killed, submit leaves its tasks behind, which go on.
		d, _ := disturb(t, os.Kill, func(d *disturbed) bool { return len(d.attempts()) == 4 })
		miglab(t, d.dir, d.submit()...)
		if table(t, d.dir) != want {
			t.Error("other bytes than in one process")
		}
		for slices.ContainsFunc(d.attempts(), func(a sweep.Attempt) bool { return a.State == sweep.Running }) {
			time.Sleep(10 * time.Millisecond)
		}
		before := miglab(t, d.dir, "export", "--timing")
		miglab(t, d.dir, "merge", d.sweep)
		if miglab(t, d.dir, "export", "--timing") != before {
			t.Error("merging again changes the results")
		}
	})
}

// disturb submits a sweep and sends the program a signal as soon as ready reports true, until it
// does not end well.
func disturb(t *testing.T, signal os.Signal, ready func(*disturbed) bool) (*disturbed, outcome) {
	t.Helper()
	for range attempts {
		dir := t.TempDir()
		d := &disturbed{t, dir, filepath.Join(dir, "sweep")}
		got := interrupt(t, dir, signal, func() bool { return ready(d) }, d.submit()...)
		if got.interrupted {
			return d, got
		}
	}
	t.Fatal("the sweep was always done before it could be disturbed")
	return nil, outcome{}
}

// TestAnotherBuild: what another build computes must not come between the results of the one that
// planned the sweep.
func TestAnotherBuild(t *testing.T) {
	dir := t.TempDir()
	d := &disturbed{t, dir, filepath.Join(dir, "sweep")}
	command := []string{"submit", "local", "--sweep", d.sweep, "--", "run", "--algorithms", "far", "--datasets", "WIDETIMES", "--instances", "3"}
	miglab(t, dir, command...)
	p, err := sweep.Read(d.sweep)
	if err != nil {
		t.Fatal(err)
	}
	p.Program = strings.Repeat("0", 64)
	if err := p.Write(d.sweep); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{command, {"submit", "--missing", d.sweep}, {"task", d.sweep, "--index", "0"}} {
		if said := d.fails(exitBadInput, args...); !strings.HasPrefix(said, "miglab: another build of miglab planned "+d.sweep) {
			t.Errorf("miglab %s: %s", strings.Join(args, " "), said)
		}
	}
}

func TestNodeLocal(t *testing.T) {
	for dir, want := range map[string]bool{
		os.TempDir(): true, filepath.Join(t.TempDir(), "not", "yet"): true, "/dev/shm/x": true,
	} {
		if why := nodeLocal(dir); (why != "") != want {
			t.Errorf("%s: %q", dir, why)
		}
	}
}

// TestPlanKnowsTheTimesInTheStore: without them every cell counts the same.
func TestPlanKnowsTheTimesInTheStore(t *testing.T) {
	dir := t.TempDir()
	micros := func(folder string) float64 {
		miglab(t, dir, "submit", "local", "--sweep", folder, "--", "run", "--algorithms", "lns?iterations=100,far", "--datasets", "WIDETIMES", "--instances", "6")
		p, err := sweep.Read(filepath.Join(dir, folder))
		if err != nil || len(p.Groups) != 1 {
			t.Fatalf("%+v, %v", p, err)
		}
		return p.Groups[0].Micros
	}
	if us := micros("before"); us != 5 {
		t.Errorf("5 cells of unknown cost count %v", us)
	}
	// lns alone takes more than a millisecond.
	if us := micros("after"); us < 1000 {
		t.Errorf("an instance is to take %v microseconds", us)
	}
}
