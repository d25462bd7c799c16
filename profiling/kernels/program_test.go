//go:build cgo && linux

package kernels

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"miglab/profiling/cuda"
)

// The emulated driver is compiled without sanitizers, which a Go program cannot load.
var stubFlags = strings.Fields("-x c++ -std=c++17 -O1 -Wall -Wextra -Werror -shared -fPIC")

// TestMain runs the test, or, in a process that verify started, one program.
func TestMain(m *testing.M) {
	if os.Getenv("MIGLAB_TEST_PROGRAM") == "" {
		status := m.Run()
		for _, dir := range stubs {
			_ = os.RemoveAll(dir)
		}
		os.Exit(status)
	}
	if os.Getenv("MIGLAB_TEST_PROGRAM") == "partitions" {
		partitionsMain(os.Getenv("MIGLAB_TEST_SIZE"))
		return
	}
	var size, seed uint64
	if _, err := fmt.Sscan(os.Getenv("MIGLAB_TEST_SIZE"), &size, &seed); err != nil {
		panic(err)
	}
	if err := verifyHere(os.Getenv("MIGLAB_TEST_PROGRAM"), size, seed); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func verifyHere(name string, size, seed uint64) (err error) {
	p, err := Lookup(name)
	if err != nil {
		return err
	}
	d, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	r, err := p.Start(d, size, seed)
	if err != nil {
		return err
	}
	// The second iteration begins with the same input.
	if err := r.Iterate(2); err != nil {
		return err
	}
	return r.Verify()
}

// stubs are the folders of emulated drivers by their flags.
var (
	stubs    = map[string]string{}
	stubbing sync.Mutex
)

// stub returns the environment in which programs load the emulated driver, which the first test that needs it compiles.
func stub(t *testing.T, flags ...string) []string {
	t.Helper()
	needCompiler(t)
	stubbing.Lock()
	defer stubbing.Unlock()
	key := strings.Join(flags, " ")
	if stubs[key] == "" {
		dir, err := os.MkdirTemp("", "libcuda-")
		if err != nil {
			t.Fatal(err)
		}
		stubs[key] = dir
		buildStub(t, dir, flags...)
	}
	return []string{"LD_LIBRARY_PATH=" + stubs[key]}
}

// verified runs a program on the emulated driver, and returns what it prints.
func verified(t *testing.T, env []string, name string, size, seed any) (status int, output string) {
	t.Helper()
	env = append(slices.Clone(env), "MIGLAB_TEST_PROGRAM="+name, fmt.Sprintf("MIGLAB_TEST_SIZE=%v %v", size, seed))
	return run(t, os.Args[0], env)
}

// The Go host side of every program makes the same input, launches the same kernels, and has
// a reference that notices when one of them does not do all its work.
func TestPrograms(t *testing.T) {
	t.Parallel()
	env := stub(t)
	for _, p := range Programs() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			for i, size := range sizes[p.Name] {
				for _, order := range orders(i) {
					if status, output := verified(t, append(env, order), p.Name, size, 1); status != 0 {
						t.Errorf("size %s, %s: %s", size, order, output)
					}
				}
			}
			if status, output := verified(t, env, p.Name, p.VerifySize, ^uint64(0)); status != 0 {
				t.Errorf("another seed: %s", output)
			}
			source, err := sources.ReadFile(p.Name + ".cu")
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range launches.FindAllStringSubmatch(string(source), -1) {
				// What was not made may also be an index that crashes.
				seen := slices.ContainsFunc([]string{forward, reverse}, func(order string) bool {
					status, _ := verified(t, append(env, order, "MIGLAB_EMULATED_DROP="+m[1]), p.Name, p.VerifySize, 1)
					return status != 0
				})
				if !seen {
					t.Errorf("without a block of %s nothing is wrong", m[1])
				}
			}
		})
	}
}

// What the driver refuses is said with the function that failed.
func TestDriverRefuses(t *testing.T) {
	t.Parallel()
	env := stub(t)
	for setting, want := range map[string]string{
		"MIGLAB_EMULATED_MEMORY=1":                          `80000 bytes of device memory: cuMemAlloc: out of memory \(CUDA error 2\)`,
		"MIGLAB_EMULATED_FAIL=cuInit=100":                   `open the CUDA device: cuInit: no CUDA-capable device is detected \(CUDA error 100\); check CUDA_VISIBLE_DEVICES; with the MIG mode on, .* without instances .*; in a container, .*nvidia-caps`,
		"MIGLAB_EMULATED_FAIL=cuInit=802":                   `cuInit: .*\(CUDA error 802\); .*nvidia-fabricmanager`,
		"MIGLAB_EMULATED_CAPABILITY=61":                     `the kernels are made for compute capability 7.0 or higher, and this GPU has 6.1`,
		"MIGLAB_EMULATED_FAIL=cuModuleLoadData=218":         `cuModuleLoadData: .*218`,
		"MIGLAB_EMULATED_FAIL=cuLaunchKernel=719":           `launch fill: .*719`,
		"MIGLAB_EMULATED_FAIL=cuStreamSynchronize=700":      `cuStreamSynchronize: .*700`,
		"MIGLAB_EMULATED_FAIL=cuMemcpyDtoH=700":             `cuMemcpyDtoH: .*700`,
		"MIGLAB_EMULATED_FAIL=cuDeviceGet=101":              `cuDeviceGet: .*101`,
		"MIGLAB_EMULATED_FAIL=cuDevicePrimaryCtxRetain=802": `cuDevicePrimaryCtxRetain: .*802`,
	} {
		status, output := verified(t, append(env, setting), "reduction", 10000, 1)
		if status != 1 || !regexp.MustCompile(want).MatchString(output) {
			t.Errorf("%s: status %d, %q, want %q", setting, status, output, want)
		}
	}
	if status, output := verified(t, []string{"LD_LIBRARY_PATH="}, "stream", 1, 1); status != 1 || !strings.Contains(output, "libcuda.so.1 was not found") {
		t.Errorf("without a driver: status %d, %q", status, output)
	}
}

// The PTX in ptx/ is what clang makes of the sources.
func TestPTX(t *testing.T) {
	t.Parallel()
	clang := "clang-14"
	if _, err := exec.LookPath(clang); err != nil {
		if os.Getenv("MIGLAB_REQUIRE_CLANG") == "1" {
			t.Fatalf("%v; it is in Debian's package %s", err, clang)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "make", "MAKEFLAGS=", "ptx", "PTX="+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range Programs() {
		made, err := os.ReadFile(filepath.Join(dir, p.Name+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		if committed, err := ptx.ReadFile("ptx/" + p.Name + ".ptx"); err != nil || !bytes.Equal(made, committed) {
			t.Errorf("ptx/%s.ptx is not what clang makes of %[1]s.cu: run make -C profiling/kernels ptx (%v)", p.Name, err)
		}
	}
}

// A kernel whose arrays do not fit in registers would put them into memory, and be bound by it.
func TestNoLocalMemory(t *testing.T) {
	for _, p := range Programs() {
		text, err := ptx.ReadFile("ptx/" + p.Name + ".ptx")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\n.target sm_70\n")) {
			t.Errorf("%s.ptx is not made for the compute capability that package cuda demands", p.Name)
		}
		if at := bytes.Index(text, []byte(".local")); at >= 0 {
			t.Errorf("%s.ptx uses local memory: %.60q", p.Name, text[at:])
		}
	}
}
