//go:build linux

package profiling_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is copied to a machine with only a driver is small, has the commands alone that need a GPU, and starts there also if
// the linker looks up all functions at the start, as that of Ubuntu does.
func TestBuildGPU(t *testing.T) {
	if os.Getenv("MIGLAB_REQUIRE_CC") != "1" {
		t.Skip("takes a C compiler: make test-gpu runs it")
	}
	out, err := exec.Command("go", "list", "-deps", "miglab/harness/cmd/miglab-gpu").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, not := range []string{"bounds", "paper-figures", "reports/site", "algorithms/rl", "harness/run", "datasets/suite"} {
		if strings.Contains(string(out), "miglab/"+not) {
			t.Errorf("it has %s", not)
		}
	}
	program := filepath.Join(t.TempDir(), "miglab-gpu")
	build := exec.Command("make", "-C", "..", "build-gpu", "GPUBIN="+program)
	build.Env = append(os.Environ(), "MAKEFLAGS=", "CGO_LDFLAGS=-O2 -g -Wl,-z,now")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil || info.Size() > 22<<20 {
		t.Errorf("it has %d MiB, %v", info.Size()>>20, err)
	}
	for args, want := range map[string]string{
		"--version": "miglab v", "kernel --help": "Kernels:\n  bfs ", "profile corun --help": "--splits",
		"list": `unknown command "list" (known: execute, kernel, profile)`,
	} {
		if out, _ := exec.Command(program, strings.Fields(args)...).CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s, want %q", args, out, want)
		}
	}
}
