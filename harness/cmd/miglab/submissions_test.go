package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets/suite"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// later returns the best known schedule of an instance, as if it had begun later.
func later(t *testing.T, a *suite.Archive, id string, by mig.Seconds) (schedule.Problem, schedule.Schedule) {
	t.Helper()
	in, _, err := a.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Problem()
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Certificate(in, p)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Schedule
	for i := range s.Placements {
		s.Placements[i].Start += by
		s.Placements[i].End += by
	}
	for i := range s.Operations {
		s.Operations[i].Start += by
		s.Operations[i].End += by
	}
	return p, s
}

// forget makes a folder of an archive that knows little about instances: schedules that begin a day late, and bounds
// that are nearly 0.
func forget(t *testing.T, ids []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	a := suite.Frozen()
	for _, id := range ids {
		p, s := later(t, a, id, 86400)
		in, best, _ := a.Find(id)
		in.Class = suite.Open
		best.Value, best.Bound, best.By, best.BoundBy = float64(s.Makespan()), 1e-3, "nobody", "nobody"
		var text bytes.Buffer
		w := certificate.Witness{Kind: certificate.Area, Bound: mig.Seconds(best.Bound)}
		if err := certificate.Encode(&text, p, certificate.New(s, w)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "best"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "best", id+".json"), text.String())
	}
	if err := a.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// handedIn returns a submission of an instance, the better the higher its rank, from 1 to ranks. Every third has no
// witness.
func handedIn(t *testing.T, id string, rank, ranks int) []byte {
	t.Helper()
	a := suite.Frozen()
	p, s := later(t, a, id, mig.Seconds(ranks-rank))
	in, _, _ := a.Find(id)
	var text bytes.Buffer
	if err := schedule.Encode(&text, p, s); err != nil {
		t.Fatal(err)
	}
	m := map[string]any{
		"suite": suite.Version, "id": id, "sha256": in.Hash, "by": fmt.Sprint("tester ", rank), "date": "2026-01-31",
		"schedule": json.RawMessage(text.Bytes()),
	}
	if area, err := bounds.Area(p); err != nil {
		t.Fatal(err)
	} else if rank%3 > 0 {
		m["witness"] = map[string]any{"kind": "area", "bound_s": float64(area) * (0.5 + 0.4*float64(rank)/float64(ranks))}
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// handInOrKill runs a submission and kills it after a while, unless that is 0. It returns whether it was killed, and
// otherwise the exit code and what it said.
func handInOrKill(t *testing.T, dir, file string, kill time.Duration) (killed bool, code int, stderr string) {
	c := exec.Command("miglab", "suite", "submit", "--out", dir, file)
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Error(err)
		return false, -1, ""
	}
	if kill > 0 {
		timer := time.AfterFunc(kill, func() { _ = c.Process.Kill() }) // it may have ended
		defer timer.Stop()
	}
	_ = c.Wait() // the exit code says more
	code = c.ProcessState.ExitCode()
	return code < 0, code, text.String()
}

// Submissions into one folder at the same time, killed at random moments and handed in again, give the board that they
// give one after the other. MIGLAB_SUBMISSIONS says how many there are.
func TestConcurrentSubmissionsKilledAtRandom(t *testing.T) {
	n := deep.N(24, 120)
	if s := os.Getenv("MIGLAB_SUBMISSIONS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	ids := []string{"batch-003", "batch-004", "batch-005", "batch-006", "batch-018", "batch-021", "batch-032", "batch-035"}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	ranks := (n + len(ids) - 1) / len(ids)
	one, many, files := forget(t, ids), forget(t, ids), t.TempDir()
	equal(t, contents(t, one), contents(t, many))
	start := contents(t, one)
	var all []string
	for i := range n {
		all = append(all, write(t, filepath.Join(files, fmt.Sprint(i, ".json")), string(handedIn(t, ids[i%len(ids)], 1+i/len(ids), ranks))))
	}
	random.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	begin := time.Now()
	for _, file := range all[:n/4] {
		handInOrKill(t, one, file, 0)
	}
	took := time.Since(begin) / time.Duration(n/4)
	inProcess := func(dir string, files []string) {
		for _, file := range files {
			s, err := suite.ReadSubmission([]byte(mustRead(t, file)))
			if err == nil {
				_, err = s.Submit(t.Context(), dir)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	inProcess(one, all[n/4:])
	want := contents(t, one)
	if maps.Equal(want, start) {
		t.Fatal("the submissions change nothing")
	}

	random.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	const together = 200 // so that the memory suffices
	var processes sync.WaitGroup
	var mu sync.Mutex
	free := make(chan bool, together)
	kills, began := 0, 0
	delay := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return 1 + time.Duration(random.Float64()*float64(took)*float64(min(n, together)))
	}
	for _, file := range all {
		free <- true
		processes.Go(func() {
			defer func() { <-free }()
			for try := 0; ; try++ {
				kill := delay()
				if try == 3 {
					kill = 0
				}
				killed, code, stderr := handInOrKill(t, many, file, kill)
				if !killed && code != 0 && code != 1 {
					t.Errorf("seed %d: %s: exit code %d, %s", seed, file, code, stderr)
				}
				if !killed {
					return
				}
				mu.Lock()
				kills++
				if _, err := os.Stat(filepath.Join(many, ".unfinished.json")); err == nil {
					began++
				}
				mu.Unlock()
			}
		})
	}
	processes.Wait()
	t.Logf("seed %d: %d submissions, %d kills, %d of them while a folder was changed", seed, n, kills, began)
	if kills == 0 {
		t.Error("no process was killed")
	}
	got := contents(t, many)
	equal(t, got, want)
	inProcess(many, all)
	equal(t, contents(t, many), got)
}

// Ctrl-C ends a command that waits for an input.
func TestInputsCanBeInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no FIFOs")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mkfifo", filepath.Join(dir, "fifo")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, filepath.Join(dir, "tasks.csv"), "task,t1,t2,t3,t4,t7\na,8,4,3,2,1\n")
	for _, args := range [][]string{
		{"check", "--tasks", "fifo", "schedule.json"},
		{"check", "--tasks", "tasks.csv", "fifo"},
		{"check", "--certificate", "--tasks", "tasks.csv", "fifo"},
		{"bound", "--tasks", "fifo"},
		{"suite", "submit", "-"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel() // it mostly waits
			state := interrupted(t, dir, args, 500*time.Millisecond)
			for wait := time.Second; state.ExitCode() < 0 && wait < 20*time.Second; wait *= 2 {
				state = interrupted(t, dir, args, wait) // the signal came before the program was ready for it
			}
			if state.ExitCode() != exitInterrupted {
				t.Errorf("%v: %v", args, state)
			}
		})
	}
}

// interrupted starts the program, with a standard input that stays open, and interrupts it after some time.
func interrupted(t *testing.T, dir string, args []string, after time.Duration) *os.ProcessState {
	c := exec.CommandContext(t.Context(), "miglab", args...)
	c.Dir = dir
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool)
	go func() {
		_ = c.Wait() // the exit code says more
		close(ended)
	}()
	time.Sleep(after)
	_ = c.Process.Signal(os.Interrupt)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = c.Process.Kill()
		<-ended
	}
	return c.ProcessState
}
