//go:build cgo && linux

package kernels

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"miglab/profiling/cuda"
)

// partitionsHere splits the device, verifies stream in all partitions at the same time, and
// prints how many multiprocessors each has. Without counts it shares the device among two.
func partitionsHere(counts []int) (err error) {
	d, err := cuda.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	parts, err := elsewhere(func() ([]*cuda.Partition, error) {
		if len(counts) > 0 {
			return d.Split(counts)
		}
		return d.Share(2)
	})
	if err != nil {
		return err
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, p := range parts {
		fmt.Print(p.SMs, " ")
		wg.Go(func() { errs[i] = p.Do(func() error { return verifyOn(p) }) })
	}
	wg.Wait()
	for _, p := range parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// elsewhere makes partitions on a goroutine that did not open the device, while others keep all
// processors busy: a goroutine that comes back from a slow call of the driver then goes on on any thread.
func elsewhere(open func() ([]*cuda.Partition, error)) (parts []*cuda.Partition, err error) {
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for !done.Load() {
			}
		})
	}
	wg.Go(func() {
		parts, err = open()
		done.Store(true)
	})
	wg.Wait()
	return parts, err
}

// partitionsMain is what a process does that [partitioned] started.
func partitionsMain(text string) {
	var counts []int
	for _, field := range strings.Fields(text) {
		if n, err := strconv.Atoi(field); err == nil {
			counts = append(counts, n)
		}
	}
	if err := partitionsHere(counts); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ok")
}

func verifyOn(p *cuda.Partition) error {
	r, err := stream.Start(p, 1000, 1)
	if err != nil {
		return err
	}
	if took, err := p.Timed(func() error { return r.Iterate(2) }); err != nil || took <= 0 {
		return fmt.Errorf("two iterations took %v, %w", took, err)
	}
	return r.Verify()
}

// Partitions get as many multiprocessors as the driver gives: whole groups, rounded up. What
// is too much, or a driver without green contexts, is said.
func TestPartitions(t *testing.T) {
	t.Parallel()
	env := append(stub(t), "MIGLAB_EMULATED_SMS=132", "MIGLAB_EMULATED_SLOW=1")
	for _, c := range []struct {
		counts, want string
	}{
		{"16", `^16 ok`},
		{"132", `^132 ok`},
		{"60", `^60 ok`}, // in groups of 2, as groups of 8 do not make 60
		{"61", `^62 ok`},
		{"60 64", `^60 64 ok`},
		{"64 64", `^64 64 ok`},
		{"64 68", `^64 68 ok`}, // groups of 8 are too few
		{"40 40 48", `^40 40 48 ok`},
		{"1 1", `^2 2 ok`},
		{"share", `^132 132 ok`},
		{"66 68", `^give \[66 68\] of 132 multiprocessors to partitions: there are too few: the driver gives them in groups of 2, of which there are 66`},
		{"133", `too few`},
		{"0", `0 multiprocessors are not a partition`},
	} {
		if _, output := partitioned(t, env, c.counts); !regexp.MustCompile(c.want).MatchString(output) {
			t.Errorf("%s: %q, want %q", c.counts, output, c.want)
		}
	}
	for setting, want := range map[string]string{
		"cuDeviceGetDevResource=801":      `cuDeviceGetDevResource: .*801`,
		"cuDevSmResourceSplitByCount=914": `cuDevSmResourceSplitByCount: .*914`,
		"cuDevResourceGenerateDesc=915":   `cuDevResourceGenerateDesc: .*915`,
		"cuGreenCtxCreate=2":              `cuGreenCtxCreate: out of memory`,
		"cuStreamCreate=2":                `cuStreamCreate: out of memory`,
	} {
		if status, output := partitioned(t, append(env, "MIGLAB_EMULATED_FAIL="+setting), "64 64"); status == 0 || !regexp.MustCompile(want).MatchString(output) {
			t.Errorf("%s: status %d, %q, want %q", setting, status, output, want)
		}
	}
	if status, output := partitioned(t, append(stub(t, "-DOLD_DRIVER"), "MIGLAB_EMULATED_SMS=132"), "64"); status == 0 || !strings.Contains(output, "has no cuDeviceGetDevResource; install a driver of CUDA 12.4 or later, which is 550.54 or later") {
		t.Errorf("an old driver: status %d, %q", status, output)
	}
}

func partitioned(t *testing.T, env []string, counts string) (status int, output string) {
	t.Helper()
	return run(t, os.Args[0], append(slices.Clone(env), "MIGLAB_TEST_PROGRAM=partitions", "MIGLAB_TEST_SIZE="+counts))
}

// buildStub compiles the emulated driver into a folder.
func buildStub(t *testing.T, dir string, flags ...string) {
	t.Helper()
	library := filepath.Join(dir, "libcuda.so.1")
	flags = append(append(slices.Clone(stubFlags), flags...), "-o", library, "testdata/libcuda.cc")
	if out, err := exec.CommandContext(t.Context(), compiler(), flags...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
