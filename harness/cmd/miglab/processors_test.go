package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
)

// computing are the packages whose results must have the same bytes on every processor, with all that they import.
var computing = []string{"./algorithms/...", "./bounds/...", "./datasets", "./harness/track", "./harness/stats", "./harness/curve"}

// fused matches a line of go tool objdump with an instruction that multiplies and adds without rounding the product.
var fused = regexp.MustCompile(`^\s+(\S+\.go):(\d+)\s.*\sFN?M(ADD|SUB)[SD]\s`)

// arm64 sets up a Go command for a processor on which the compiler fuses products with sums.
func arm64(args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir, c.Stderr = root, os.Stderr
	c.Env = append(os.Environ(), "GOARCH=arm64", "GOOS=linux", "CGO_ENABLED=0")
	return c
}

// A processor may compute x*y + z with one rounding or with two. An explicit conversion of the product asks for two.
func TestProductsAreRounded(t *testing.T) {
	if !deep.On() {
		t.Skip("compiles for another processor; make test-all sets " + deep.Variable)
	}
	list := arm64(append([]string{"list", "-deps", "-export", "-json=ImportPath,Export,GoFiles"}, computing...)...)
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Export string
			GoFiles            []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.ImportPath, module) {
			continue
		}
		packages++
		code, err := arm64("tool", "objdump", p.Export).Output()
		if err != nil {
			t.Fatal(err)
		}
		where, known := "", map[string]bool{}
		for line := range strings.Lines(string(code)) {
			if name, ok := strings.CutPrefix(line, "TEXT "); ok {
				where, _, _ = strings.Cut(name, "(SB)")
			}
			m := fused.FindStringSubmatch(line)
			exact := strings.HasSuffix(where, "portable.Exp") // which asks for math.FMA
			if m == nil || exact || !slices.Contains(p.GoFiles, m[1]) || known[m[1]+m[2]] {
				continue
			}
			known[m[1]+m[2]] = true
			t.Errorf("%s/%s:%s has a product that is fused with a sum; convert it: float64(x*y)", p.ImportPath, m[1], m[2])
		}
	}
	if packages < 20 {
		t.Errorf("only %d packages were compiled", packages)
	}
}

func TestFusedIsRecognised(t *testing.T) {
	for line, want := range map[string]bool{
		"  flow.go:194\t0x40\t1f420c23\t\tFMADDD F3, F2, F1, F3\t\n":  true,
		"  flow.go:194\t0x40\t1f420c23\t\tFNMSUBS F3, F2, F1, F3\t\n": true,
		"  flow.go:194\t0x40\t1e620820\t\tFMULD F2, F1, F0\t\n":       false,
	} {
		if got := fused.MatchString(line); got != want {
			t.Errorf("%q is recognised: %v, want %v", line, got, want)
		}
	}
}

// A compared track has two runs: quick algorithms on each dataset, and each algorithm on few datasets.
type compared struct{ track, quick, few string }

var comparedTracks = []compared{
	{"batch", "far,miso,fixpart,agent", "drl/WIDETIMES"},
	{"stream", "far-concat,nopart,miso-online,miso-stream", "miso/stream"},
	{"placement", "ff,mfi,bf-bi", "migbench,mfi/uniform,mfi/uniform?queue=fifo"},
	{"dispatch", "eft,least-slack", "deadline/tight"},
	{"corun", "greedy,local", "corun/queues,corun/drawn"},
}

// A processor is one for which the program is compiled, and what runs the program there.
type processor struct {
	name   string
	target []string // of go build, as environment variables
	runner []string
}

// The same commands write the same bytes however the program was compiled: for amd64, for amd64 with fused instructions,
// and for arm64, which qemu runs.
func TestSameBytesOnEveryProcessor(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("computes everything for three processors; make test-long sets MIGLAB_LONG=1")
	}
	var want map[string]string
	for _, p := range []processor{
		{"amd64", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil},
		{"amd64 with FMA", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil},
		{"arm64", []string{"GOARCH=arm64"}, []string{"qemu-aarch64"}},
	} {
		program := filepath.Join(t.TempDir(), "miglab")
		build := exec.Command("go", "build", "-buildvcs=false", "-o", program, "./harness/cmd/miglab")
		build.Dir = root
		build.Env = append(os.Environ(), append(p.target, "GOOS=linux", "CGO_ENABLED=0")...)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.name, err, out)
		}
		got := compute(t, append(p.runner, program))
		if want == nil {
			want = got
			continue
		}
		t.Logf("comparing %d files of %s", len(got), p.name)
		equal(t, got, want)
	}
}

// compute runs all that is compared and returns the files that it writes, and the exit status of each run.
func compute(t *testing.T, program []string) map[string]string {
	dir := t.TempDir()
	var log strings.Builder
	run := func(args ...string) string {
		c := exec.Command(program[0], append(slices.Clone(program[1:]), args...)...)
		c.Dir = dir
		out, err := c.Output()
		fmt.Fprintf(&log, "%q: %v\n", args, err)
		return string(out)
	}
	names := func(args ...string) (out []string) {
		rows, err := csv.NewReader(strings.NewReader(run(append(args, "--format", "csv")...))).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%q lists %d rows: %v", args, len(rows), err)
		}
		for _, row := range rows[1:] {
			if !strings.HasSuffix(row[0], ":FILE") {
				out = append(out, row[0])
			}
		}
		return out
	}
	cells := func(c compared, datasets, algorithms string) {
		run("run", "--track", c.track, "--datasets", datasets, "--algorithms", algorithms, "--instances", "2")
	}
	datasets := names("list", "datasets")
	for _, c := range comparedTracks {
		for _, d := range datasets { // those of other tracks are refused
			cells(c, d, c.quick)
			cells(c, d+"?noise=0.1", c.quick)
		}
		cells(c, c.few, strings.Join(names("list", "algorithms", "--track", c.track), ","))
	}
	run("export", "--out", "export.csv")
	run("suite", "export", "--out", "suite")
	run("suite", "export", "--check", "--out", "suite")
	run("reproduce", "--quick")
	files := contents(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool {
		base := filepath.Base(name)
		return base == "results.db" || strings.HasPrefix(base, "timing")
	})
	files["log"] = log.String()
	for _, name := range []string{"export.csv", "suite/batch-001.json", "results/quick/claims.csv"} {
		if files[name] == "" {
			t.Errorf("%q has written no %s", program, name)
		}
	}
	return files
}
