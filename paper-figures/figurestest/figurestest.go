// Package figurestest has what the tests of the papers share.
package figurestest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/strictcsv"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
)

// Load returns a paper.
func Load(t testing.TB, load func() (figures.Paper, error)) figures.Paper {
	t.Helper()
	p, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Prepared returns a reproduction with results of its own, in a temporary folder unless it has one.
func Prepared(t testing.TB, r figures.Reproduction) *figures.Reproduction {
	t.Helper()
	if r.Dir == "" {
		r.Dir = t.TempDir()
	}
	st, err := store.Open(filepath.Join(r.Dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	r.Engine = &run.Engine{Store: st}
	return &r
}

// Reproduce runs a reproduction that is [Prepared], and returns how many artefacts are left.
func Reproduce(t testing.TB, r figures.Reproduction) (m *manifest.Manifest, left int) {
	t.Helper()
	m, err := Prepared(t, r).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Left
}

// Build returns a reproduction of one artefact that has no claims.
func Build(build func(*figures.Data)) figures.Reproduction {
	return figures.Reproduction{Papers: []figures.Paper{{
		Name: "test", Claims: &claim.Set{Paper: "test"}, Artefacts: []figures.Artefact{{Name: "a", Build: build}},
	}}}
}

// Hardware reads files of measurements, given by name.
func Hardware(t testing.TB, files map[string]string) datasets.HardwareSet {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(withoutSamples(name, text))}
	}
	h, err := datasets.ReadHardware(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// withoutSamples adds the columns of a load without samples to a file whose kind has them.
func withoutSamples(name, text string) string {
	if strings.HasSuffix(name, ".kernels.csv") || strings.HasSuffix(name, ".execution.csv") {
		return text
	}
	head, rows, _ := strings.Cut(text, "\n")
	return head + "," + strings.Join(strictcsv.Columns[datasets.Load](), ",") + "\n" +
		strings.ReplaceAll(rows, "\n", ",0,0,0,0,0,0,0,unknown\n")
}

// The first lines of files of measurements.
const (
	origin              = "gpu,gpu_name,driver,source,date,"
	ReconfigurationHead = origin +
		"partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts\n"
	IsolationHead = origin + "kernel,size,beside,runs,median_seconds,difference_percent,timed\n"
	ExecutionHead = origin +
		"algorithm,task,device,size,slice,simulated_start_s,simulated_end_s,real_start_s,real_end_s," +
		"deviation_percent\n"
)

// Executed returns the line of a task that was executed on a GPU.
func Executed(gpu, source, algorithm, task string, simulated, real float64) string {
	return fmt.Sprintf("%s,NVIDIA %[1]s,570.1,%s,2026-11-21,%s,%s,0,1,0,0,%g,0,%g,%.17g\n",
		gpu, source, algorithm, task, simulated, real, (1-simulated/real)*100)
}

// command matches the reason of a claim that cannot be run: the command to type, and the place of its file.
var command = regexp.MustCompile("`miglab (?:profile|execute) .*--out DIR`.*copy DIR/([a-z]+).csv to " +
	"FOLDER/NAME.([a-z]+).csv and run `miglab reproduce --hardware FOLDER`")

// CheckReason checks the reason of a claim that needs a GPU and a file of measurements of a kind.
func CheckReason(t testing.TB, claim, reason, kind, gpu string) {
	t.Helper()
	if m := command.FindStringSubmatch(reason); m == nil || m[1] != kind || m[2] != kind ||
		!strings.Contains(reason, "needs an "+gpu+" under MIG") {
		t.Errorf("%s: the reason %q lacks the command for an %s, or how its %s.csv is read", claim, reason, gpu, kind)
	}
}
