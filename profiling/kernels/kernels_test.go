package kernels

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/harness/deep"
	"miglab/profiling/launch"
)

// Embedded, the sources are part of this test, so that go test's cache notices when
// they change.
//
//go:embed *.cu *.h Makefile testdata
var sources embed.FS

// The sizes at which each kernel is verified: the smallest, one that leaves tiles or
// blocks in part empty, and one that fills several.
var sizes = map[string][]string{
	"bfs":          {"1", "100", "5000"},
	"gaussian":     {"1", "33", "70"},
	"gemm":         {"1", "100", "256"},
	"lu":           {"1", "150", "192"},
	"nw":           {"1", "150", "160"},
	"randomaccess": {"1", "1000", "4096"},
	"reduction":    {"1", "1000", "70000"},
	"stream":       {"1", "1000", "4096"},
}

var cflags = strings.Fields("-x c++ -std=c++17 -O1 -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all")

const (
	forward = "MIGLAB_EMULATED_ORDER=forward"
	reverse = "MIGLAB_EMULATED_ORDER=reverse"
)

// orders returns the orders of threads in which a kernel is verified at one of its sizes. Unless the tests are deep, the
// smallest has one thread and the largest takes long: both orders are tried at the size between them.
func orders(size int) []string {
	if size == 1 || deep.On() {
		return []string{forward, reverse}
	}
	return []string{forward}
}

// unavailable skips the test, or fails it where the environment says that everything
// it needs is there.
func unavailable(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("MIGLAB_REQUIRE_CC") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// compile builds a source file into dir.
func compile(t *testing.T, dir, source string) (program string) {
	t.Helper()
	program = filepath.Join(dir, strings.TrimSuffix(filepath.Base(source), ".cu"))
	out, err := exec.CommandContext(t.Context(), compiler(), append(cflags, "-o", program, source)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler(), source, err, out)
	}
	return program
}

func compiler() string {
	if name := os.Getenv("CXX"); name != "" {
		return name
	}
	return "g++"
}

// needCompiler skips a test that compiles unless it is asked for, as compiling takes
// half a minute, and fails it where there is no compiler that can make what it runs.
func needCompiler(t *testing.T) {
	t.Helper()
	if os.Getenv("MIGLAB_REQUIRE_CC") != "1" {
		t.Skip("compiles for half a minute: make test-gpu runs it")
	}
	if runtime.GOOS != "linux" {
		unavailable(t, "host.h is for Linux, as the GPUs' drivers are")
	}
	source := filepath.Join(t.TempDir(), "empty.cu")
	if err := os.WriteFile(source, []byte("int main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), compiler(), append(cflags, "-o", source+".out", source)...).CombinedOutput()
	if err != nil {
		unavailable(t, "no C++17 compiler with sanitizers (install g++, or name one in CXX): %v\n%s", err, out)
	}
}

// fiberWarning is what the address sanitizer says of every program with fibers.
var fiberWarning = regexp.MustCompile(`(?m)^==\d+==WARNING: ASan doesn't fully support makecontext.*\n`)

// run runs a program with a further environment.
func run(t *testing.T, program string, env []string, args ...string) (status int, output string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	// Fibers that were left in the middle are no leak.
	cmd.Env = append(append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0"), env...)
	out, err := cmd.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	return cmd.ProcessState.ExitCode(), fiberWarning.ReplaceAllString(string(out), "")
}

// expect runs a program and checks its exit status and that its output matches.
func expect(t *testing.T, status int, pattern, program string, env []string, args ...string) {
	t.Helper()
	got, output := run(t, program, env, args...)
	if got != status || !regexp.MustCompile(pattern).MatchString(output) {
		t.Errorf("%s %s %s: status %d, want %d; want output that matches %q, got:\n%s",
			strings.Join(env, " "), filepath.Base(program), strings.Join(args, " "), got, status, pattern, output)
	}
}

func TestKernels(t *testing.T) {
	t.Parallel()
	needCompiler(t)
	names, err := filepath.Glob("*.cu")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".cu")
	}
	if want := slices.Sorted(maps.Keys(sizes)); !slices.Equal(names, want) {
		t.Fatalf("sources of %q, sizes for %q", names, want)
	}
	if len(names) != len(Programs()) {
		t.Errorf("%d programs in C and %d in Go", len(names), len(Programs()))
	}
	dir := t.TempDir()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := compile(t, dir, name+".cu")
			t.Run("verify", func(t *testing.T) { verify(t, name, program) })
			t.Run("defects", func(t *testing.T) { defects(t, name, program) })
			t.Run("interface", func(t *testing.T) { interfaces(t, name, program) })
			t.Run("manifest", func(t *testing.T) { manifest(t, name, program) })
			t.Run("in Go", func(t *testing.T) { sameInGo(t, name, program) })
		})
	}
}

// emulatedDevice is what a program says of the device it runs on.
const emulatedDevice = `sms: 1\ndevice_mib: 1024\nl2_bytes: 0\nuuid: 656d756c-6174-6564-0000-000000000000\n`

// verify compares a kernel with its reference.
func verify(t *testing.T, name, program string) {
	for i, size := range sizes[name] {
		for _, order := range orders(i) {
			expect(t, 0, `\Amemory_mb: \d+\nemulated\n`+emulatedDevice+`ok\n\z`, program, []string{order}, "--verify", "--size", size)
		}
	}
	for _, seed := range []string{"18446744073709551615", "0", "2"}[:deep.N(1, 3)] {
		expect(t, 0, `\nok\n\z`, program, nil, "--verify", "--seed", seed)
	}
	expect(t, 0, `\nok\n\z`, program, nil, "--verify", "--iterations", "3")
}

var (
	launches = regexp.MustCompile(`LAUNCH\((\w+),`)
	barriers = regexp.MustCompile(`__syncthreads\(\)`)
	wrong    = regexp.MustCompile(`wrong at |ERROR: AddressSanitizer`)
)

// defects shows that verification would notice if any of the kernel's functions did
// not do all its work, or any of its barriers were missing.
func defects(t *testing.T, name, program string) {
	source, err := sources.ReadFile(name + ".cu")
	if err != nil {
		t.Fatal(err)
	}
	drop := map[string]bool{}
	for i, line := range strings.Split(string(source), "\n") {
		if m := launches.FindStringSubmatch(line); m != nil {
			drop[m[1]] = true
		}
		if barriers.MatchString(line) {
			drop[strconv.Itoa(i+1)] = true
		}
	}
	if len(drop) == 0 {
		t.Fatal("no launch found")
	}
	for what := range drop {
		seen := slices.ContainsFunc([]string{forward, reverse}, func(order string) bool {
			status, output := run(t, program, []string{order, "MIGLAB_EMULATED_DROP=" + what}, "--verify")
			return status == 1 && wrong.MatchString(output)
		})
		if !seen {
			t.Errorf("without %s nothing is wrong", what)
		}
	}
}

// interfaces checks options, what is printed, and exit statuses.
func interfaces(t *testing.T, name, program string) {
	size := sizes[name][1]
	// The time of an emulation means nothing and is not printed.
	expect(t, 0, `\Amemory_mb: \d+\nemulated\n`+emulatedDevice+`ok\n\z`, program, nil, "--size", size, "--iterations", "2")
	expect(t, 3, name+`: .*cudaMalloc of \d+ bytes: out of memory\n`, program, []string{"MIGLAB_EMULATED_MEMORY=0"}, "--size", size)

	expect(t, 0, `(?s)\Ausage: `+name+` .*memory_mb: 1\n\z`, program, nil, "--help", "--size", size)
	for _, test := range []struct {
		args    string
		message string
	}{
		{"--sizes 3", `unknown option --sizes: want --size, --iterations, --seed, --verify or --help`},
		{"3", `unknown option 3: want `},
		{"--size", `--size without a number: want an integer from 1 to \d+`},
		{"--size 0", `--size 0: want an integer from 1 to \d+`},
		{"--size -1", `--size -1: want an integer from 1 to \d+`},
		{"--size 1e3", `--size 1e3: want an integer from 1 to \d+`},
		{"--size 68719476737", `--size 68719476737: want an integer from 1 to \d+`},
		{"--size 18446744073709551617", `--size 18446744073709551617: want an integer from 1 to \d+`},
		{"--iterations 0", `--iterations 0: want an integer from 1 to 1000000000`},
		{"--seed x", `--seed x: want an integer from 0 to 18446744073709551615`},
	} {
		expect(t, 2, `\A`+name+`: `+test.message, program, nil, strings.Fields(test.args)...)
	}
}

// manifest checks that the manifest runs a kernel at its default size, and says what
// memory that takes.
func manifest(t *testing.T, name, program string) {
	all, err := launch.Shipped("miglab", nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(k launch.Kernel) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("miglab.yaml has no %s", name)
	}
	k := all[i]
	_, help := run(t, program, nil, "--help")
	d := defaults.FindStringSubmatch(help)
	if d == nil {
		t.Fatalf("want defaults and memory_mb, got:\n%s", help)
	}
	want := []string{"/proc/self/exe", "kernel", name, "--size", d[1], "--iterations", d[2]}
	if memory := strconv.Itoa(k.MinMemoryMB); !slices.Equal(k.Argv, want) || memory != d[3] {
		t.Errorf("miglab.yaml: %q with min_mem_mb %s, want %q with %s", k.Argv, memory, want, d[3])
	}
	// The smallest instance of an A100 with 40 GB has 4.75 GiB, less what CUDA takes.
	if k.MinMemoryMB > 4000 {
		t.Errorf("min_mem_mb %d does not fit every instance", k.MinMemoryMB)
	}
}

// sameInGo checks that the two host sides describe the same program.
func sameInGo(t *testing.T, name, program string) {
	p, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint64{1, p.VerifySize, p.Size, min(12345, p.MaxSize)} {
		_, help := run(t, program, nil, "--help", "--size", strconv.FormatUint(size, 10))
		for _, want := range []string{
			p.What + "\n",
			fmt.Sprintf("%s, 1 to %d (default %d, with --verify %d)", p.Unit, p.MaxSize, p.Size, p.VerifySize),
			fmt.Sprintf("(default %d, with --verify 1)", p.Iterations),
			fmt.Sprintf("memory_mb: %d\n", (p.Bytes(size)+999999)/1000000),
		} {
			if !strings.Contains(help, want) {
				t.Errorf("size %d: the help has no %q:\n%s", size, want, help)
			}
		}
	}
}

var defaults = regexp.MustCompile(`(?s)--size N [^(]*\(default (\d+),.*--iterations K [^(]*\(default (\d+),.*memory_mb: (\d+)`)

// TestMakefile builds with a compiler that makes scripts.
func TestMakefile(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		unavailable(t, "%v", err)
	}
	dir := t.TempDir()
	nvcc := filepath.Join(dir, "nvcc")
	script := `#!/bin/sh
for argument; do
  [ "$last" = -o ] && program=$argument
  last=$argument
done
[ "$last" = lu.cu ] && status=1
printf '#!/bin/sh\necho ran "$@"\nexit %d\n' "$status" >"$program"
chmod +x "$program"
`
	if err := os.WriteFile(nvcc, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	bin := "BIN=" + filepath.Join(dir, "bin")
	alone := []string{"MAKEFLAGS=", "MFLAGS=", "MAKELEVEL="} // the test itself may be run by make
	expect(t, 2, `\AMakefile:\d+: \*\*\* .*/none not found: install the CUDA toolkit, .*\n\z`, "make", alone, bin, "NVCC="+dir+"/none")
	expect(t, 0, `nvcc -O3 -std=c\+\+17 .*compute_80,code=sm_80.* -o .*/bin/stream stream.cu`, "make", alone, bin, "NVCC="+nvcc)
	// The kernel that fails does not keep the others from being verified.
	expect(t, 2, `(?s)lu\nran --verify\nnw\nran --verify\n.*stream\nran --verify\n.*Error 1`, "make", alone, bin, "NVCC="+nvcc, "verify")
}
