package counters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/kernel"
)

// fakeNCU writes a log that lies beside it, if there is one, and runs the program.
const fakeNCU = `#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$@" >"$here/arguments"
env >"$here/environment"
while [ "$1" != -- ]; do
	if [ "$1" = --log-file ]; then log=$2; fi
	shift
done
shift
if [ -f "$here/log" ]; then cat "$here/log" >"$log"; fi
"$@" || exit
if [ -f "$here/exit" ]; then exit "$(cat "$here/exit")"; fi
`

// instance is a MIG instance.
var instance = profiling.Instance{UUID: "MIG-1", Env: []string{"CUDA_VISIBLE_DEVICES=MIG-1"}}

// fake puts a fake Nsight Compute, with files beside it, into PATH. It returns its
// folder and a kernel whose program lies in another folder, from which it runs.
func fake(t *testing.T, program string, files map[string]string) (string, *kernel.Kernel) {
	t.Helper()
	dir, work := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, tool), fakeNCU)
	for name, text := range files {
		write(filepath.Join(dir, name), text)
	}
	write(filepath.Join(work, "lud"), "#!/bin/sh\n"+program)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return dir, &kernel.Kernel{
		Name: "lud", Argv: []string{"./lud", "-s", "256"}, Dir: work, Env: []string{"SIZE=3"},
		Timeout: time.Nanosecond, // is not the profile's
		Expect:  regexp.MustCompile("PASSED"), OutOfMemory: regexp.MustCompile("out of memory"),
		Time: kernel.TimeSource{Kind: kernel.Wall, Unit: 1}, File: "m.yaml", Line: 3,
	}
}

// A process that ncu starts is not this program, and neither is /proc/self/exe there.
func TestCollectFromThisProgram(t *testing.T) {
	dir, k := fake(t, "", map[string]string{"log": ncuText(t)})
	k.Argv = []string{"/proc/self/exe", "-test.list", "^TestCollectFromThisProgram$"}
	k.Expect = regexp.MustCompile("TestCollectFromThisProgram")
	if _, err := Collect(t.Context(), k, instance, Options{}); err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if arguments := read(t, dir, "arguments"); err != nil || arguments[slices.Index(arguments, "--")+1] != own {
		t.Errorf("ncu gets %q, want %s", arguments, own)
	}
}

// Some programs make hundreds of thousands of launches, each of which ncu runs several times.
func TestCollectLimitsLaunches(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    []string
	}{
		{Options{}, nil},
		{Options{Launches: 200}, []string{"--launch-count", "200"}},
		{Options{Skip: 3, Launches: 200}, []string{"--launch-skip", "3", "--launch-count", "200"}},
		{Options{Skip: 3}, []string{"--launch-skip", "3"}},
	} {
		dir, k := fake(t, "echo PASSED", map[string]string{"log": ncuText(t)})
		if _, err := Collect(t.Context(), k, instance, c.options); err != nil {
			t.Fatal(err)
		}
		arguments := read(t, dir, "arguments")
		var got []string
		for i, a := range arguments[:slices.Index(arguments, "--")] {
			if strings.HasPrefix(a, "--launch") {
				got = append(got, a, arguments[i+1])
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: ncu gets %q, want %q", c.options, got, c.want)
		}
	}
}

func read(t *testing.T, dir, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestCollect(t *testing.T) {
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir, k := fake(t, `echo "$1 $2 $SIZE PASSED"`, map[string]string{"log": ncuText(t)})
	k.Expect = regexp.MustCompile("^-s 256 3 PASSED")
	got, err := Collect(t.Context(), k, instance, Options{})
	if err != nil || !closeTo(got, lud) {
		t.Errorf("%+v, %v; want %+v", got, err, lud)
	}

	arguments := read(t, dir, "arguments")
	log := slices.Index(arguments, "--log-file") + 1
	if !filepath.IsAbs(arguments[log]) {
		t.Errorf("the log is %s, which is another file in another folder", arguments[log])
	}
	arguments[log] = "LOG"
	want := strings.Fields(`--csv --page raw --print-units base --clock-control none --target-processes all --log-file LOG --metrics
		gpu__time_duration.sum,gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed,gpc__cycles_elapsed.max,launch__grid_size,launch__registers_per_thread,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,l1tex__throughput.avg.pct_of_peak_sustained_active,lts__throughput.avg.pct_of_peak_sustained_elapsed,sm__cycles_active.avg,sm__throughput.avg.pct_of_peak_sustained_elapsed,launch__waves_per_multiprocessor,sm__warps_active.avg.per_cycle_active
		-- ./lud -s 256`)
	if !slices.Equal(arguments, want) {
		t.Errorf("ncu gets\n%q, want\n%q", arguments, want)
	}
	environment := read(t, dir, "environment")
	for _, v := range []string{"LC_ALL=C", "CUDA_VISIBLE_DEVICES=MIG-1", "SIZE=3"} {
		if !slices.Contains(environment, v) {
			t.Errorf("the environment lacks %s", v)
		}
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if k.Argv[0] != "./lud" || k.Timeout != time.Nanosecond {
		t.Errorf("the kernel was changed: %+v", k)
	}
}

// What is collected is a table of datasets/hardware.
func TestCountersCanBeKept(t *testing.T) {
	// The first launch cannot tell its cycles, so that their sum is not available.
	_, k := fake(t, "echo PASSED", map[string]string{"log": strings.Replace(ncuText(t), `"1,400,000"`, `"n/a"`, 1)})
	c, err := Collect(t.Context(), k, profiling.Instance{Env: []string{"CUDA_VISIBLE_DEVICES=GPU-1"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	from := datasets.Provenance{GPU: "H200", Name: "NVIDIA H200", Driver: "570.1", Source: string(profiling.WholeGPU), Date: "2026-11-21"}
	want := []datasets.KernelCounters{{Provenance: from, Kernel: k.Name, Counters: c}}
	var w bytes.Buffer
	if err := datasets.WriteHardware(&w, want); err != nil {
		t.Fatal(err)
	}
	h, err := datasets.ReadHardware(fstest.MapFS{"mine.counters.csv": {Data: w.Bytes()}})
	if err != nil {
		t.Fatalf("%v\n%s", err, &w)
	}
	if got := h.Counters[0].Rows; fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) || !strings.Contains(w.String(), "NaN") { // NaN equals nothing
		t.Errorf("%#v, want %#v", got, want)
	}
}

func TestCollectFails(t *testing.T) {
	for _, c := range []struct {
		name, program string
		files         map[string]string
		wrap          error
		says          []string
	}{
		{
			name: "no permission", program: "echo PASSED",
			files: map[string]string{"log": "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0.\n", "exit": "1"},
			wrap:  profiling.ErrPermission, says: []string{"read the counters of lud: no permission to read hardware counters (ERR_NVGPUCTRPERM); run as root", "NVreg_RestrictProfilingToAdminUsers=0"},
		},
		{
			name: "no permission, said elsewhere", program: "echo PASSED; echo ==ERROR== ERR_NVGPUCTRPERM",
			files: map[string]string{"exit": "1"}, wrap: profiling.ErrPermission,
		},
		{
			name: "no launch", program: "echo PASSED", files: map[string]string{"log": "==PROF== Connected to process 1\n==WARNING== No kernels were profiled.\n"},
			says: []string{"lud: ncu.csv:1: there is no table", "; Nsight Compute says: ==WARNING== No kernels were profiled."},
		},
		{name: "no log", program: "echo PASSED", says: []string{"there is no table"}},
		{
			name: "not all", program: "echo PASSED", files: map[string]string{"log": ncuText(t) + "==WARNING== Late.\n==ERROR== Failed to profile.\n==ERROR== Again.\n"},
			says: []string{"not all was read; Nsight Compute says: ==ERROR== Failed to profile."},
		},
		{
			name: "wrong result", program: "echo FAILED", files: map[string]string{"log": ncuText(t)},
			says: []string{"it ended with wrong: ", "FAILED"},
		},
		{
			name: "crash", program: "echo PASSED; exit 3", files: map[string]string{"log": ncuText(t) + "==ERROR== The application returned an error code (3).\n"},
			says: []string{"it ended with crash: exit status 3", "Nsight Compute says: ==ERROR== The application returned an error code (3)."},
		},
		{name: "damaged", program: "echo PASSED", files: map[string]string{"log": strings.Replace(ncuText(t), "75.00", "x", 1)}, says: []string{`ncu.csv:10: sm__throughput`}},
	} {
		_, k := fake(t, c.program, c.files)
		got, err := Collect(t.Context(), k, instance, Options{})
		if err == nil || c.wrap != nil && !errors.Is(err, c.wrap) {
			t.Errorf("%s: %+v, error %v, want %v", c.name, got, err, c.wrap)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: error %q, want %q", c.name, err, says)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than a line: %q", c.name, err)
		}
	}
}

func TestCollectTimeout(t *testing.T) {
	_, k := fake(t, "exec sleep 1000", nil)
	if _, err := Collect(t.Context(), k, instance, Options{Timeout: 10 * time.Millisecond}); err == nil || !strings.Contains(err.Error(), "ended with timeout") {
		t.Errorf("a program that hangs: %v", err)
	}
}

func TestCollectCancelled(t *testing.T) {
	_, k := fake(t, "exec sleep 1000", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Collect(ctx, k, instance, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestCollectWithoutTool(t *testing.T) {
	_, k := fake(t, "echo PASSED", nil)
	t.Setenv("PATH", t.TempDir())
	_, err := Collect(t.Context(), k, instance, Options{})
	if !errors.Is(err, ErrNoTool) || !strings.Contains(err.Error(), "; install NVIDIA Nsight Compute") {
		t.Errorf("error %v, want %v", err, ErrNoTool)
	}
}

func TestCollectUnderMPS(t *testing.T) {
	dir, k := fake(t, "echo PASSED", map[string]string{"log": ncuText(t)})
	on := profiling.Instance{Env: []string{"CUDA_VISIBLE_DEVICES=GPU-1", "CUDA_MPS_PIPE_DIRECTORY=/run/mps"}}
	if _, err := Collect(t.Context(), k, on, Options{}); !errors.Is(err, profiling.ErrUnsupported) || !strings.Contains(err.Error(), "whole GPU without MPS") {
		t.Errorf("error %v, want %v", err, profiling.ErrUnsupported)
	}
	if _, err := os.Stat(filepath.Join(dir, "arguments")); err == nil {
		t.Error("ncu was started")
	}
}
