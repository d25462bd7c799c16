package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"miglab/harness/deep"
	"miglab/harness/store"
)

// kills is how often a test kills a command: MIGLAB_KILLS times if that is set.
func kills(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("MIGLAB_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return deep.N(2, 4)
}

// finishedWork returns the work that the databases below a folder have: results of cells, with their wall times, records
// of units, and when the files that such a record names were written. It reads a copy, so that the program itself has to mend what a kill left.
func finishedWork(t *testing.T, dir string) map[string]string {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	scratch := t.TempDir()
	check(os.CopyFS(scratch, os.DirFS(dir)))
	folders := map[string]bool{}
	check(fs.WalkDir(os.DirFS(scratch), ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".db" {
			folders[filepath.Dir(path)] = true
		}
		return err
	}))
	out := map[string]string{}
	for folder := range folders {
		db, err := store.Open(filepath.Join(scratch, folder))
		check(err)
		units, err := db.Units("")
		check(err)
		for _, u := range units {
			out[folder+" unit "+u.Key] = u.Digest + u.Record
			// Whoever repeats the work writes its files again.
			var record struct{ Files map[string]string }
			_ = json.Unmarshal([]byte(u.Record), &record) // other records have no files
			for name := range record.Files {
				info, err := os.Stat(filepath.Join(dir, folder, name))
				check(err)
				out[folder+" file "+name] = info.ModTime().String()
			}
		}
		all, err := db.Series(store.Filter{})
		check(err)
		for _, s := range all {
			rows, err := db.Rows(s, 0, math.MaxInt)
			check(err)
			for _, r := range rows {
				out[fmt.Sprintf("%s cell %v %d", folder, s, r.Instance)] = fmt.Sprint(r)
			}
		}
		check(db.Close())
	}
	return out
}

// lostWork lists finished work that a later state does not have, or has done again.
func lostWork(before, after map[string]string) (lost []string) {
	for key, was := range before {
		if is, ok := after[key]; !ok {
			lost = append(lost, key+" is lost")
		} else if is != was {
			lost = append(lost, fmt.Sprintf("%s was %s and is %s", key, was, is))
		}
	}
	return lost
}

// killAtRandom runs a command in new folders, kills it at random moments and runs it again, until it has been killed
// often enough. What was finished when it was killed is neither lost nor repeated, and promised returns the same files
// in the end as without kills.
func killAtRandom(t *testing.T, setUp func() (dir string, command func() *exec.Cmd), promised func(dir string) map[string]string) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	finish := func(c *exec.Cmd) {
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c.Args, err, text)
		}
	}
	called := func(dir string) int {
		raw, _ := os.ReadFile(filepath.Join(dir, "dawdled")) // other commands do not call dawdle
		return strings.Count(string(raw), "\n")
	}
	dir, command := setUp()
	begin := time.Now()
	finish(command())
	took := time.Since(begin)
	want := promised(dir)
	begun := len(finishedWork(t, dir))
	calls := called(dir)
	killed, partly := 0, 0
	for killed < kills(t) {
		dir, command := setUp()
		var kept map[string]string
		before := 0 // calls until the last kill
		for killed < kills(t) {
			c := command()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				_ = c.Wait() // a kill is an error
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(time.Duration(random.Float64() * float64(took))):
				_ = c.Process.Kill() // it may have ended
				<-ended
			}
			if c.ProcessState.ExitCode() == 0 {
				break
			}
			killed++
			before = called(dir)
			now := finishedWork(t, dir)
			for _, lost := range lostWork(kept, now) {
				t.Errorf("seed %d, kill %d: %s", seed, killed, lost)
			}
			if kept = now; len(kept) > 0 && len(kept) < begun {
				partly++
			}
		}
		finish(command())
		finished := 0
		for key := range kept {
			if strings.Contains(key, "dawdle") {
				finished++
			}
		}
		if n := called(dir) - before; n != calls-finished {
			t.Errorf("seed %d: dawdle was called %d times in the end, although %d of its %d cells were finished", seed, n, finished, calls)
		}
		for _, lost := range lostWork(kept, finishedWork(t, dir)) {
			t.Errorf("seed %d, in the end: %s", seed, lost)
		}
		equal(t, promised(dir), want)
	}
	t.Logf("seed %d: killed %d times within %v, %d times with some and not all of %d pieces of work finished",
		seed, killed, took, partly, begun)
}

// Whenever a command is killed, the same command goes on from what was finished.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Setenv(dawdles, "1")
	withoutTimes := func(dir string) map[string]string {
		files := contents(t, dir)
		maps.DeleteFunc(files, func(name, _ string) bool {
			return filepath.Ext(name) == ".db" || strings.HasPrefix(filepath.Base(name), "timing")
		})
		return files
	}
	tests := map[string]struct {
		args     []string
		promised func(dir string) map[string]string
	}{
		"run": {
			[]string{"run", "--algorithms", "far,dawdle", "--datasets", "WIDETIMES", "--instances", "60", "--workers", "1"},
			func(dir string) map[string]string {
				if left, err := filepath.Glob(filepath.Join(dir, "results/results.db-*")); err != nil || left != nil {
					t.Errorf("beside the database there are %q, %v", left, err)
				}
				return map[string]string{"export": table(t, dir)}
			},
		},
		"reproduce": {
			[]string{"reproduce", "--quick", "--only", "far/table4,far/figure12,mfi/figure6,deadline/table1"}, withoutTimes,
		},
		"train": {
			[]string{"train", "--agent", "rl-float-GOODSCALING-dqn-64", "--seeds", "1,2,3", "--steps", "12288"}, withoutTimes,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			killAtRandom(t, func() (string, func() *exec.Cmd) {
				dir := t.TempDir()
				if name == "reproduce" { // as if it had been killed while it wrote to these folders
					for _, folder := range []string{"results/quick", "results/quick/far"} {
						if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
							t.Fatal(err)
						}
						write(t, filepath.Join(dir, folder, ".tmp-1234567890"), "half a li")
					}
				}
				return dir, func() *exec.Cmd {
					c := exec.Command("miglab", tt.args...)
					c.Dir, c.Env = dir, append(os.Environ(), dawdled+"="+filepath.Join(dir, "dawdled"))
					return c
				}
			}, tt.promised)
		})
	}
}
