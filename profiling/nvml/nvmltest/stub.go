//go:build unix

package nvmltest

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocarina/gocsv"

	"miglab/harness/deep"
	"miglab/profiling/internal/filelock"
)

//go:embed testdata/stub.c testdata/listings.csv
var source embed.FS

// Build compiles the stub and returns the folder of libnvidia-ml.so.1, which is removed after the test. flags are
// additional flags for the compiler, for example -DOLD_DRIVER. The compiler is $CC or cc. Without one the test is
// skipped, or fails if MIGLAB_REQUIRE_CC is 1.
func Build(t testing.TB, flags ...string) (dir string) {
	t.Helper()
	cc := strings.Fields(cmp.Or(os.Getenv("CC"), "cc"))
	if _, err := exec.LookPath(cc[0]); err != nil {
		if os.Getenv("MIGLAB_REQUIRE_CC") == "1" {
			t.Fatalf("the stub of NVML needs a C compiler: %v", err)
		}
		t.Skipf("the stub of NVML needs a C compiler: %v", err)
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/NVIDIA/go-nvml").Output()
	if err != nil {
		t.Fatalf("where is nvml.h: go list -m github.com/NVIDIA/go-nvml: %v", err)
	}
	dir = t.TempDir()
	from := filepath.Join(dir, "testdata")
	if err := os.CopyFS(dir, source); err != nil {
		t.Fatal(err)
	}
	optimise := fmt.Sprintf("-O%d", deep.N(0, 1)) // in deep tests with -O1, at which compilers find more to warn of
	cc = append(cc,
		"-shared", "-fPIC", optimise, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter",
		"-I", filepath.Join(strings.TrimSpace(string(module)), "pkg", "nvml"), "-Wa,-I"+from,
		"-o", filepath.Join(dir, "libnvidia-ml.so.1"), filepath.Join(from, "stub.c"))
	cc = append(cc, flags...)
	if out, err := exec.Command(cc[0], cc[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cc, " "), err, out)
	}
	return dir
}

// Listings returns the rows of testdata/listings.csv by column: one row for each profile of each GPU model that a state
// can name. Fields that have not been published are empty.
func Listings(t testing.TB) (rows []map[string]string) {
	t.Helper()
	text, err := source.ReadFile("testdata/listings.csv")
	if err != nil {
		t.Fatal(err)
	}
	if rows, err = gocsv.CSVToMaps(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Variable is the environment variable with the path of the stub's state.
const Variable = "MIGLAB_NVML_STUB"

// A100 is a line of a state: an empty A100 with 40 GB and MIG mode on.
const A100 = "gpu 0 A100 GPU-11111111-2222-3333-4444-555555555555 1 1"

// A State is the file that describes the stub's GPUs.
type State string

// New writes a state with the given lines (see testdata/stub.c). The file is removed after the test.
func New(t testing.TB, lines ...string) State {
	t.Helper()
	s := State(filepath.Join(t.TempDir(), "gpus.txt"))
	if err := os.WriteFile(string(s), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// Env returns the environment variables with which a process uses the stub in the folder that [Build] returned, with
// this state.
func (s State) Env(dir string) []string {
	return []string{"LD_LIBRARY_PATH=" + dir, Variable + "=" + string(s)}
}

// Lines returns the lines of the state that begin with one of the words, or all lines if no word is given.
func (s State) Lines(t testing.TB, words ...string) (lines []string) {
	t.Helper()
	s.change(t, func(all []string) []string {
		lines = all
		return nil
	})
	return slices.DeleteFunc(lines, func(l string) bool {
		word, _, _ := strings.Cut(l, " ")
		return len(words) > 0 && !slices.Contains(words, word)
	})
}

// Instances returns the lines of the existing GPU and compute instances.
func (s State) Instances(t testing.TB) []string {
	t.Helper()
	return s.Lines(t, "gi", "ci")
}

// Add adds lines to the state, even while processes use it.
func (s State) Add(t testing.TB, lines ...string) {
	t.Helper()
	s.change(t, func(all []string) []string { return append(all, lines...) })
}

// Remove removes the lines of the state that begin with a word, for example fail.
func (s State) Remove(t testing.TB, word string) {
	t.Helper()
	s.change(t, func(all []string) []string {
		return slices.DeleteFunc(all, func(l string) bool { return strings.HasPrefix(l, word+" ") })
	})
}

// change replaces the lines by the result of f, which is nil to leave them alone. No process changes the state
// meanwhile.
func (s State) change(t testing.TB, f func(lines []string) []string) {
	t.Helper()
	lock, err := filelock.Open(string(s) + ".lock")
	for ; lock == nil && err == nil; lock, err = filelock.Open(string(s) + ".lock") {
		time.Sleep(100 * time.Microsecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	old, err := os.ReadFile(string(s))
	if err != nil {
		t.Fatal(err)
	}
	lines := f(strings.FieldsFunc(string(old), func(r rune) bool { return r == '\n' }))
	if lines == nil {
		return
	}
	if err := os.WriteFile(string(s), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
