package main

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
)

// rounded reports whether a file computes results, which must have the same bytes on every processor: all files but those of
// drawing, of measuring, and of tests.
func rounded(file string) bool {
	others := []string{module + "reports", module + "profiling"}
	return strings.HasPrefix(file, module) && !within(file, others) && !strings.HasSuffix(file, "_test.go")
}

// build compiles for a target, given as environment variables, and returns the program.
func build(t *testing.T, target []string, args ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	c := exec.Command("go", slices.Concat(args[:len(args)-1], []string{"-trimpath", "-o", program, args[len(args)-1]})...)
	c.Dir = root
	c.Env = append(os.Environ(), append(target, "GOOS=linux", "CGO_ENABLED=0")...)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%q for %q: %v\n%s", args, target, err, out)
	}
	return program
}

// isFused reports whether an instruction of arm64 is FMADD, FMSUB, FNMADD or FNMSUB (Arm Architecture Reference Manual,
// floating-point data-processing with three sources).
func isFused(instruction uint32) bool { return instruction>>24 == 0x1f }

// checkRounded fails where a program for arm64 has an instruction that adds to a product without rounding it. A processor
// may compute x*y + z so; an explicit conversion of the product forbids it.
func checkRounded(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(lines, text.Addr))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for at := 0; at+4 <= len(code); at += 4 {
		if !isFused(binary.LittleEndian.Uint32(code[at:])) {
			continue
		}
		file, line, in := table.PCToLine(text.Addr + uint64(at))
		if in != nil && rounded(file) {
			found[fmt.Sprintf("%s:%d in %s", file, line, in.Name)] = true
		}
	}
	exact := 0
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if strings.HasSuffix(place, "/portable.Exp") { // which asks for math.FMA
			exact++
			continue
		}
		t.Errorf("%s adds to a product that is not rounded; convert it: float64(x*y)", place)
	}
	if exact == 0 {
		t.Error("the instructions of portable.Exp, which asks for them, were not found")
	}
}

// The tests of all algorithms link the algorithms, the agents, the data sets, the bounds, the simulators and the referee.
func TestProductsAreRounded(t *testing.T) {
	if !deep.On() {
		t.Skip("compiles for another processor; make test-all sets " + deep.Variable)
	}
	checkRounded(t, build(t, []string{"GOARCH=arm64"}, "test", "-vet=off", "-c", "./algorithms/algotest"))
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
		program := build(t, p.target, "build", "-buildvcs=false", "./harness/cmd/miglab")
		if p.runner != nil {
			checkRounded(t, program)
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
	// The database has times, and the library that fills the shapes of PNG files rounds some pixels to the next grey.
	maps.DeleteFunc(files, func(name, _ string) bool {
		base := filepath.Base(name)
		return base == "results.db" || strings.HasPrefix(base, "timing") || filepath.Ext(name) == ".png"
	})
	files["log"] = log.String()
	for _, name := range []string{"export.csv", "suite/batch-001.json", "results/quick/claims.csv"} {
		if files[name] == "" {
			t.Errorf("%q has written no %s", program, name)
		}
	}
	return files
}
