//go:build cgo && linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
)

// cudaStub returns the environment in which the emulated CUDA driver is an H200.
func cudaStub(t *testing.T) []string {
	t.Helper()
	if os.Getenv("MIGLAB_REQUIRE_CC") != "1" {
		t.Skip("takes a C++ compiler: make test-gpu runs it")
	}
	dir := fixture(t, "cuda", func(dir string) {
		source := filepath.Join("..", "..", "..", "profiling", "kernels", "testdata", "libcuda.cc")
		build := exec.Command(cmp.Or(os.Getenv("CXX"), "c++"), "-x", "c++", "-std=c++17", "-O1", "-shared", "-fPIC", "-o", filepath.Join(dir, "libcuda.so.1"), source)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	return append(os.Environ(), "LD_LIBRARY_PATH="+dir, "MIGLAB_EMULATED_SMS=132", "MIGLAB_EMULATED_NAME=NVIDIA H200", "MIGLAB_EMULATED_MEMORY=150754820096")
}

// A partitioner runs miglab on the emulated H200.
type partitioner struct {
	t   *testing.T
	dir string
	env []string
}

func (p partitioner) run(args ...string) (code int, output string) {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), "miglab", args...)
	c.Dir, c.Env = p.dir, p.env
	out, _ := c.CombinedOutput()
	return c.ProcessState.ExitCode(), string(out)
}

// profile measures with small inputs and short windows.
func (p partitioner) profile(args ...string) (code int, output string) {
	p.t.Helper()
	args = append([]string{"profile", "corun"}, args...)
	return p.run(append(args, "--only", "bfs,stream", "--small", "--milliseconds", "5", "--warm-up", "1", "--out", "out")...)
}

func (p partitioner) rows() []datasets.OverlapRate {
	p.t.Helper()
	text := mustRead(p.t, filepath.Join(p.dir, "out", "overlap.csv"))
	h, err := datasets.ReadHardware(fstest.MapFS{"out.overlap.csv": {Data: []byte(text)}})
	if err != nil {
		p.t.Fatal(err)
	}
	return h.Overlap[0].Rows
}

// Scaling curves, co-runs and sharing are measured on the multiprocessors that
// were asked for, in windows that overlap. A second call measures nothing again.
func TestGPUPartitions(t *testing.T) {
	p := partitioner{t, t.TempDir(), cudaStub(t)}
	for _, args := range [][]string{
		{"--splits", "16,60,132"},
		{"--splits", "60:64,all:all"},
		{"--splits", "64:64", "--repetitions", "2"},
	} {
		if code, output := p.profile(args...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, output)
		}
	}
	sms := map[string]int{}
	for _, r := range p.rows() {
		sms[fmt.Sprintf("%s #%d", r.Group, r.Job)] = r.SMs
		if r.Source != "sm-partition" || r.GPU != "H200" || !r.Stub() || r.Overlap < datasets.MinOverlap {
			t.Errorf("%+v", r)
		}
	}
	for job, want := range map[string]int{
		"bfs:60 #1": 60, "stream:132 #1": 132, "bfs:60 stream:64 #1": 60, "bfs:60 stream:64 #2": 64,
		"stream:64 #1":          64, // the second job alone on as many
		"bfs:all stream:all #2": 132, "bfs:64 stream:64 #2": 64,
	} {
		if sms[job] != want {
			t.Errorf("%s ran on %d multiprocessors, want %d", job, sms[job], want)
		}
	}
	before := len(p.rows())
	if code, output := p.profile("--splits", "16,60"); code != 0 || len(p.rows()) != before {
		t.Errorf("the same again: exit code %d, %d rows after %d\n%s", code, len(p.rows()), before, output)
	}
	if code, output := p.profile("--splits", "16,24"); code != 0 || len(p.rows()) != before+2 {
		t.Errorf("with another number: exit code %d, %d rows after %d\n%s", code, len(p.rows()), before, output)
	}
	// No table is made of it.
	if err := os.MkdirAll(filepath.Join(p.dir, "hw"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(p.dir, "out", "overlap.csv"), filepath.Join(p.dir, "hw", "dry.overlap.csv")); err != nil {
		t.Fatal(err)
	}
	if code, output := p.run("reproduce", "--only", "far/table1", "--hardware", "hw", "--results", "results"); code != 2 || output != "miglab: hw/dry.overlap.csv was made on a stub, not on a GPU: it is no data; take it away, or show it as what it is with --stub\n" {
		t.Errorf("exit code %d, %q", code, output)
	}
}

// What the GPU does not have, and what the mode does not do, is said before anything runs.
func TestGPUPartitionsRefuse(t *testing.T) {
	p := partitioner{t, t.TempDir(), cudaStub(t)}
	for _, c := range []struct{ args, want string }{
		{"profile corun --splits 133", "--splits 133: together 133 multiprocessors, and the GPU has 132"},
		{"profile corun --mode sm-partition --splits 64:70", "--splits 64:70: together 134 multiprocessors, and the GPU has 132"},
		{"profile corun --mode sm-partition --splits all:64", "give all for each job or for none"},
		{"profile corun --only strem", `unknown kernel "strem"`},
		{"profile corun --kernels rodinia", "the program's own kernels only"},
		{"profile isolation --mode sm-partition", `unknown mode "sm-partition"`},
		{"profile corun --mode mig", `unknown mode "mig"`},
		{"reproduce --stub", "name another folder for results"},
	} {
		if code, output := p.run(strings.Fields(c.args)...); code != 2 || !strings.Contains(output, c.want) {
			t.Errorf("%s: exit code %d, %q, want %q", c.args, code, output, c.want)
		}
	}
	// A kernel that the driver does not start ends the measurement with the driver's words.
	p.env = append(p.env, "MIGLAB_EMULATED_FAIL=cuLaunchKernel=719")
	if code, output := p.profile("--splits", "16"); code == 0 || !strings.Contains(output, "launch") || !strings.Contains(output, "719") {
		t.Errorf("exit code %d, %q", code, output)
	}
	// One that does not fit into the memory is left out and listed.
	p.env = append(p.env, "MIGLAB_EMULATED_FAIL=cuMemAlloc=2")
	if code, output := p.profile("--splits", "16"); code != 1 || !strings.Contains(output, "bfs in the group bfs:16: oom") || !strings.Contains(output, "stream in the group stream:16: oom") {
		t.Errorf("exit code %d, %q", code, output)
	}
}

// emulated gives the bench the emulated CUDA driver, in which every instance has 42 multiprocessors.
func (b *bench) emulated(env []string) {
	b.t.Helper()
	// The last value of a variable counts.
	library := func(env []string) (path string) {
		for _, v := range env {
			if strings.HasPrefix(v, "LD_LIBRARY_PATH=") {
				path = strings.TrimPrefix(v, "LD_LIBRARY_PATH=")
			}
		}
		return path
	}
	b.env = append(b.env, "LD_LIBRARY_PATH="+library(b.env)+":"+library(env),
		"MIGLAB_EMULATED_SMS=42", "MIGLAB_EMULATED_NAME=NVIDIA A100-SXM4-40GB", "MIGLAB_EMULATED_MEMORY=21000000000")
}
