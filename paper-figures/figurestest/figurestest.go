// Package figurestest helps to test the papers: it loads them, runs reproductions in temporary folders, and writes the
// files of measurements that a GPU would give.
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

// Load loads a paper. An error ends the test.
func Load(t testing.TB, load func() (figures.Paper, error)) figures.Paper {
	t.Helper()
	p, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Prepare returns the reproduction with a store in its folder, or in a temporary folder if it has none.
func Prepare(t testing.TB, r figures.Reproduction) *figures.Reproduction {
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

// Reproduce prepares and runs a reproduction. It returns the manifest and the number of artefacts that are not done.
func Reproduce(t testing.TB, r figures.Reproduction) (m *manifest.Manifest, left int) {
	t.Helper()
	m, err := Prepare(t, r).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Left
}

// Build returns a reproduction of one artefact of a paper without claims.
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
		dir[name] = &fstest.MapFile{Data: []byte(addLoad(name, text))}
	}
	h, err := datasets.ReadHardware(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// addLoad adds the columns of a [datasets.Load] without samples, unless files of the kind have no load.
func addLoad(name, text string) string {
	if strings.HasSuffix(name, ".kernels.csv") || strings.HasSuffix(name, ".execution.csv") {
		return text
	}
	head, rows, _ := strings.Cut(text, "\n")
	return head + "," + strings.Join(strictcsv.Columns[datasets.Load](), ",") + "\n" +
		strings.ReplaceAll(rows, "\n", ",0,0,0,0,0,0,0,unknown\n")
}

// The headers of files of measurements, without the columns of a load. Each begins with the provenance.
const (
	provenance          = "gpu,gpu_name,driver,source,date,"
	ReconfigurationHead = provenance +
		"partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts\n"
	IsolationHead = provenance + "kernel,size,beside,runs,median_seconds,difference_percent,timed\n"
	ExecutionHead = provenance +
		"algorithm,task,device,size,slice,simulated_start_s,simulated_end_s,real_start_s,real_end_s," +
		"deviation_percent\n"
)

// ExecutionLine returns the line of a task that was executed on a GPU, in a file with [ExecutionHead].
func ExecutionLine(gpu, source, algorithm, task string, simulated, real float64) string {
	return fmt.Sprintf("%s,NVIDIA %[1]s,570.1,%s,2026-11-21,%s,%s,0,1,0,0,%g,0,%g,%.17g\n",
		gpu, source, algorithm, task, simulated, real, (1-simulated/real)*100)
}

// command matches the reason why a claim cannot be tested: the command to run, and where to put its file.
var command = regexp.MustCompile("`miglab (?:profile|execute) .*--out DIR`.*copy DIR/([a-z]+).csv to " +
	"FOLDER/NAME.([a-z]+).csv and run `miglab reproduce --hardware FOLDER`")

// CheckReason checks the reason of a claim that needs a GPU: it must name the command that writes files of the kind.
func CheckReason(t testing.TB, claim, reason, kind, gpu string) {
	t.Helper()
	if m := command.FindStringSubmatch(reason); m == nil || m[1] != kind || m[2] != kind ||
		!strings.Contains(reason, "needs an "+gpu+" under MIG") {
		t.Errorf("%s: the reason %q lacks the command for an %s, or how its %s.csv is read", claim, reason, gpu, kind)
	}
}
