//go:build unix

package launch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
)

// load returns a kernel of testdata/manifest.yaml; fifo may be "none".
func load(name, how, fifo string) (*Kernel, error) {
	f, err := os.Open("testdata/manifest.yaml")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := Read(f, f.Name(), map[string]string{"how": how, "fifo": fifo})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k Kernel) bool { return k.Name == name })
	return &all[i], nil
}

// imitated returns a kernel whose program does as how says.
func imitated(t *testing.T, name, how, fifo string) *Kernel {
	t.Helper()
	k, err := load(name, how, fifo)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestRunOutcomes(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	const read = -1 // any positive time
	none := mig.Seconds(math.Inf(1))
	for _, c := range []struct {
		kernel, how string
		status      Status
		seconds     mig.Seconds
		detail      string
	}{
		{"rodinia", "ok", OK, read, ""},
		{"rodinia", "oom", OutOfMemory, none, "Cuda error: Fan2: out of memory."},
		{"rodinia", "oom-unnoticed", OutOfMemory, none, "cudaMalloc: cudaErrorMemoryAllocation"},
		{"rodinia", "wrong", Wrong, none, `the output does not match "Ending simulation"; the output ends with: Start computing the transient temperature`},
		{"rodinia", "silent", Wrong, none, `the output does not match "Ending simulation"; there is no output`},
		{"rodinia", "crash", Crash, none, "exit status 3; the output ends with: The file was not opened"},
		{"rodinia", "signal", Crash, none, "ended by signal 11 (segmentation fault); the output ends with: Start computing the transient temperature"},
		{"timed", "timed", OK, 1.25, ""},
		{"timed", "ok", Wrong, none, `the output has no time: it does not match "Time consumed\\(ms\\): (\\S+)"; the output ends with: Ending simulation`},
		{"timed", "notime", Wrong, none, `"n/a" is not a number`},
		{"timed", "zero", Wrong, none, "0 s is not a time"},
		{"timed", "flood", OK, 0.25, ""},
		{"altis", "ok", OK, 0.25, ""},
		{"altis", "oom", OutOfMemory, none, "euler3d.cu(42) : CUDA Runtime API error 2: out of memory."},
		{"altis", "nocsv", Wrong, none, "the program wrote no CSV; the output ends with: Warning: no metrics"},
		{"altis", "folder", Wrong, none, "its CSV cannot be read: is a directory; there is no output"},
		{"altis-xor", "ok", OK, 0.125, ""},
		{"altis-ambiguous", "ok", Wrong, none, `the CSV has 2 rows "Elapsedtime"; name one with its attributes, for example "Elapsedtime, ATOMICTYPE_CAS"`},
		{"altis-rate", "ok", Wrong, none, `the CSV's row "bfs_rate" is in GB/s, which is not a unit of time`},
		{"altis-missing", "ok", Wrong, none, `the CSV has no row "cfd_kernel_time"`},
		{"altis-na", "ok", Wrong, none, `"N/A" is not a number`},
	} {
		t.Run(c.kernel+"/"+c.how, func(t *testing.T) {
			k := imitated(t, c.kernel, c.how, "none")
			before := time.Now()
			o, err := k.Run(t.Context(), profiling.Instance{})
			if err != nil {
				t.Fatal(err)
			}
			if o.Status != c.status || o.Detail != c.detail {
				t.Errorf("%s: %s\nwant %s: %s", o.Status, o.Detail, c.status, c.detail)
			}
			if c.seconds == read {
				if o.Seconds != mig.Seconds(o.End.Sub(o.Start).Seconds()) {
					t.Errorf("wall time %v from %v to %v", o.Seconds, o.Start, o.End)
				}
			} else if o.Seconds != c.seconds {
				t.Errorf("%v s, want %v", o.Seconds, c.seconds)
			}
			if o.Start.Before(before) || !o.End.After(o.Start) || o.End.After(time.Now()) {
				t.Errorf("ran from %v to %v, the call began %v", o.Start, o.End, before)
			}
		})
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("runs left %v behind (%v)", left, err)
	}
}

func TestRunEnvironment(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "3")
	t.Setenv("CUDA_MPS_PIPE_DIRECTORY", "/others")
	t.Setenv("SUITE_HOME", "/inherited")
	o, err := imitated(t, "env", "env", "none").Run(t.Context(), profiling.Instance{Env: []string{"CUDA_MPS_PIPE_DIRECTORY=/pipe", "OWN=instance"}})
	if err != nil || o.Status != OK {
		t.Errorf("%+v, %v", o, err)
	}
}

// A fifo that programs hold open tells when they have started, and when all of them
// are gone.
type fifo struct {
	path string
	file *os.File
}

func newFifo(t *testing.T) *fifo {
	t.Helper()
	f := &fifo{path: filepath.Join(t.TempDir(), "fifo")}
	if err := syscall.Mkfifo(f.path, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	f.file = file
	return f
}

// started waits until a program has written a line to the fifo.
func (f *fifo) started() error {
	in, err := os.Open(f.path) // waits for a writer
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = bufio.NewReader(in).ReadString('\n')
	return err
}

// gone waits until no process holds the fifo and returns what was written to it.
func (f *fifo) gone(t *testing.T) string {
	t.Helper()
	f.file.SetReadDeadline(time.Now().Add(20 * time.Second))
	text, err := io.ReadAll(f.file)
	if err != nil {
		t.Fatalf("a process is still there: %v", err)
	}
	return string(text)
}

func TestTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	f := newFifo(t)
	o, err := imitated(t, "hang", "hang", f.path).Run(t.Context(), profiling.Instance{})
	if err != nil {
		t.Fatal(err)
	}
	if o.Status != Timeout || o.Detail != "still running after 300ms" || !math.IsInf(float64(o.Seconds), 1) {
		t.Errorf("%+v", o)
	}
	f.gone(t)
}

func TestCancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	f := newFifo(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	go func() {
		if err := f.started(); err != nil {
			t.Error(err)
		}
		cancel(interrupted)
	}()
	k := imitated(t, "held", "hang", f.path)
	_, err := k.Run(ctx, profiling.Instance{})
	if !errors.Is(err, interrupted) || !strings.HasPrefix(err.Error(), k.File+":"+strconv.Itoa(k.Line)+": kernel held: ") {
		t.Errorf("%v", err)
	}
	f.gone(t)
	if _, err := k.Run(ctx, profiling.Instance{}); !errors.Is(err, interrupted) {
		t.Errorf("after the end: %v", err)
	}
}

func TestChildrenLeftBehindAreKilled(t *testing.T) {
	t.Parallel()
	f := newFifo(t)
	o, err := imitated(t, "held", "orphan", f.path).Run(t.Context(), profiling.Instance{})
	if err != nil || o.Status != OK {
		t.Errorf("%+v, %v", o, err)
	}
	if f.gone(t) == "" {
		t.Error("the program had not started")
	}
}

// A child that leaves the group cannot be killed with it, but holds nobody up.
func TestEscapedChild(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	t.Parallel()
	f := newFifo(t)
	o, err := imitated(t, "held", "escape", f.path).Run(t.Context(), profiling.Instance{})
	if err != nil || o.Status != OK {
		t.Errorf("%+v, %v", o, err)
	}
	buffer := make([]byte, 100)
	var text string
	for strings.Count(text, "\n") < 2 {
		n, err := f.file.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		text += string(buffer[:n])
	}
	pid, err := strconv.Atoi(strings.Fields(text)[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	f.gone(t)
}

func TestRunCannotStart(t *testing.T) {
	for _, c := range []struct {
		argv, dir string
		want      error
	}{
		{"./nowhere", "testdata", os.ErrNotExist},
		{"./rodinia.sh", "nowhere", os.ErrNotExist},
		{"miglab-no-such-program", "", exec.ErrNotFound},
		{"./manifest.yaml", "testdata", os.ErrPermission},
	} {
		k := imitated(t, "rodinia", "ok", "none")
		k.Argv, k.Dir = []string{c.argv}, c.dir
		_, err := k.Run(t.Context(), profiling.Instance{})
		if !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "testdata/manifest.yaml:11: kernel rodinia: ") {
			t.Errorf("%s: %v", c.argv, err)
		}
	}
}

// suiteOf writes a suite in which each program is the same script, and returns the kernels of a shipped manifest on it.
func suiteOf(t *testing.T, name, script string) []Kernel {
	t.Helper()
	dir := t.TempDir()
	all, err := Shipped(name, map[string]string{name: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		program := k.path(k.Argv[0])
		if err := errors.Join(os.MkdirAll(filepath.Dir(program), 0o755), os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What Rodinia's programs print before their first kernel, or before they wait for it, does not make a run good.
func TestRodiniaExpectsWhatFollowsTheKernels(t *testing.T) {
	for _, k := range suiteOf(t, "rodinia", "printf 'targetBlock:[216]\\nframe progress: \\nprecteno 0, inputsize 3145728\\nEnding simulation\\nSorting on GPU...done.\\n'\n") {
		out, err := k.Run(t.Context(), profiling.Instance{})
		if err != nil || out.Status != Wrong {
			t.Errorf("%s: %+v, %v", k.Name, out, err)
		}
	}
}

// Runs of a program that writes into its folder do not see each other's files, even at the same time. Paths to data lead
// where they should, and nothing stays.
func TestRunsHaveFoldersOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "cuda", "writes")
	for name, text := range map[string]string{
		"data": "data", "cuda/writes/run.sh": "#!/bin/sh\n[ -e result.txt ] && exit 1\nmkdir ../../met.$$\n" +
			"until [ $(ls -d ../../met.* | wc -l) = 2 ]; do sleep 0.01; done\ncat ../../data >>result.txt\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	const manifest = `{version: 1, suite: s, parameters: {work: }, kernels: [
		{name: writes, workdir: "${work}", own_folder: true, timeout: 1m, argv: [./run.sh], result: {file: result.txt}}]}`
	all, err := Read(strings.NewReader(manifest), "kernels.yaml", map[string]string{"work": work})
	if err != nil {
		t.Fatal(err)
	}
	out, errs := make([]Outcome, 2), make([]error, 2)
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() { out[i], errs[i] = all[0].Run(t.Context(), profiling.Instance{}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil || out[0].Status != OK || out[1].Status != OK || out[0].Result != out[1].Result {
		t.Errorf("%+v, %v", out, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "cuda", "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, "cuda", ".*"))
	if _, err := os.Stat(filepath.Join(work, "result.txt")); err == nil || len(left)+len(hidden) != 1 {
		t.Errorf("left: %q %q", left, hidden)
	}
}
