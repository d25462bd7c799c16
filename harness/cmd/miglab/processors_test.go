package main

import (
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/track"
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

func TestProductsAreRounded(t *testing.T) {
	if os.Getenv("MIGLAB_REQUIRE_CC") != "1" {
		t.Skip("compiles for another processor; make test-all sets MIGLAB_REQUIRE_CC=1")
	}
	// Without SQLite, which computes no results and takes longer to compile than all else.
	checkRounded(t, build(t, []string{"GOARCH=arm64"}, "build", "-tags=nosqlite", "-buildvcs=false", "./harness/cmd/miglab"))
}

// fileSources are the families that read a file, and a dataset that is written to one.
var fileSources = map[string]string{
	"corunfile:": "corun/queues", "jobs:": "deadline/tight", "profile:": "rodinia", "requests:": "mfi/uniform",
}

// variants are datasets with parameters that lead to other code.
var variants = []string{"corun/queues?release=true", "drl/WIDETIMES?batches=3", "mfi/uniform?queue=fifo", "openb?queue=fifo"}

// A processor is one for which the program is compiled, and what runs the program there.
type processor struct {
	name   string
	target []string // of go build, as environment variables
	runner []string
}

// The same commands write the same bytes however the program was compiled: for amd64, for amd64 with fused instructions,
// and for arm64, which qemu runs. Every algorithm runs on every dataset that it takes, on two instances.
func TestSameBytesOnEveryProcessor(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("computes everything for three processors; make test-long sets MIGLAB_LONG=1")
	}
	var runs [][]string
	var want map[string]string
	for _, p := range []processor{
		{"amd64", []string{"GOARCH=amd64", "GOAMD64=v1"}, nil},
		{"amd64 with FMA", []string{"GOARCH=amd64", "GOAMD64=v3"}, nil},
		{"arm64", []string{"GOARCH=arm64"}, []string{"qemu-aarch64"}},
	} {
		program := append(p.runner, build(t, p.target, "build", "-buildvcs=false", "./harness/cmd/miglab"))
		if runs == nil {
			runs = planRuns(t, t.TempDir(), program)
		}
		got := compute(t, program, runs)
		if want == nil {
			want = got
			continue
		}
		t.Logf("comparing %d files of %s", len(got), p.name)
		equal(t, got, want)
	}
}

// execute runs the program in a folder, and returns its standard output, and its standard error if it fails.
func execute(dir string, program []string, args ...string) (out, failure string) {
	c := exec.Command(program[0], append(slices.Clone(program[1:]), args...)...)
	c.Dir = dir
	text, err := c.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(text), fmt.Sprintf("%v: %s", err, e.Stderr)
	}
	return string(text), ""
}

// generateFiles writes an instance for each family that reads a file, and returns the datasets that read them.
func generateFiles(t *testing.T, dir string, program []string) (datasets []string) {
	for family, source := range fileSources {
		if _, failure := execute(dir, program, "generate", "--dataset", source, "--out", "files"); failure != "" {
			t.Fatal(failure)
		}
		datasets = append(datasets, family+"files/"+strings.ReplaceAll(source, "/", "-")+"-0000.csv")
	}
	return datasets
}

// planRuns returns the commands that run every algorithm on every dataset that it takes, on the track's GPU as well as on
// A30. It tries each dataset in each track.
func planRuns(t *testing.T, dir string, program []string) [][]string {
	names := func(args ...string) (out []string) {
		text, failure := execute(dir, program, append([]string{"list", "--format", "csv"}, args...)...)
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Fatalf("%q lists %d rows: %v %s", args, len(rows), err, failure)
		}
		for _, row := range rows[1:] {
			out = append(out, row[0])
		}
		return out
	}
	datasets, missing := slices.Concat(variants, generateFiles(t, dir, program)), map[string]bool{}
	for _, d := range names("datasets") {
		if !strings.HasSuffix(d, ":FILE") {
			missing[d] = true
			datasets = append(datasets, d)
		}
	}
	var runs [][]string
	for _, name := range track.Names() {
		algorithms := names("algorithms", "--track", name)
		for _, a := range algorithms {
			missing[a] = true
		}
		for _, gpu := range [][]string{nil, {"--gpu", "A30"}} {
			conditions := append([]string{"run", "--instances", "2", "--track", name}, gpu...)
			taken := map[string][]string{} // datasets by the algorithms that take them
			for _, d := range datasets {
				takers := strings.Join(takers(dir, program, append(conditions, "--datasets", d), algorithms), ",")
				taken[takers] = append(taken[takers], d)
			}
			delete(taken, "")
			for _, takers := range slices.Sorted(maps.Keys(taken)) {
				for _, found := range append(strings.Split(takers, ","), taken[takers]...) {
					delete(missing, found)
				}
				runs = append(runs, append(conditions, "--algorithms", takers, "--datasets", strings.Join(taken[takers], ",")))
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("these run with nothing: %q", slices.Sorted(maps.Keys(missing)))
	}
	return runs
}

// refusal is the error of an algorithm that does not take a dataset.
var refusal = regexp.MustCompile(`miglab: (\S+) on dataset`)

// takers returns the algorithms that a command runs, those that refuse its dataset left out. It returns nil if the track
// refuses the dataset.
func takers(dir string, program, command, algorithms []string) []string {
	for len(algorithms) > 0 {
		_, failure := execute(dir, program, append(command, "--algorithms", strings.Join(algorithms, ","))...)
		if !strings.Contains(failure, fmt.Sprintf("exit status %d", exitBadInput)) {
			break
		}
		m := refusal.FindStringSubmatch(failure)
		if m == nil {
			return nil
		}
		algorithms = slices.DeleteFunc(slices.Clone(algorithms), func(a string) bool { return a == m[1] })
	}
	return algorithms
}

// compute runs all that is compared and returns the files that it writes, and how each command ended.
func compute(t *testing.T, program []string, runs [][]string) map[string]string {
	dir := t.TempDir()
	generateFiles(t, dir, program)
	var log strings.Builder
	for _, args := range append(runs,
		[]string{"export", "--out", "export.csv"},
		[]string{"suite", "export", "--out", "suite"},
		[]string{"suite", "export", "--check", "--out", "suite"},
		[]string{"reproduce", "--quick"},
	) {
		_, failure := execute(dir, program, args...)
		failure, _, _ = strings.Cut(failure, ":") // What follows names folders and times.
		fmt.Fprintf(&log, "%q: %s\n", args, failure)
	}
	if _, failure := execute(dir, program, "export", "--results", "results/quick", "--out", "quick.csv"); failure != "" {
		t.Error(failure)
	}
	files := contents(t, dir)
	// The database and these tables have times.
	maps.DeleteFunc(files, func(name, _ string) bool {
		base := filepath.Base(name)
		return strings.HasPrefix(base, "results.db") || strings.HasPrefix(base, "timing")
	})
	files["log"] = log.String()
	for _, name := range []string{"export.csv", "quick.csv", "suite/batch-001.json", "results/quick/claims.csv"} {
		if files[name] == "" {
			t.Errorf("%q has written no %s", program, name)
		}
	}
	return files
}
