package datasets

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// A Table names a table of measured times.
type Table string

// The tables of measured times.
const (
	// RodiniaA100 holds 16 Rodinia kernels on A100 (FAR Figs. 3 and 12).
	RodiniaA100 Table = "rodinia-a100"
	// RodiniaA30 holds 16 Rodinia kernels on A30.
	RodiniaA30 Table = "rodinia-a30"
	// A30Batch holds 8 of the 9 kernels that FAR Table 3 runs on A30.
	A30Batch Table = "a30-batch"
)

// A Measurement is how long a kernel took on instances of one size.
type Measurement struct {
	// GPU is the model, as [mig.Lookup] knows it.
	GPU string `csv:"gpu"`
	// Suite is the benchmark suite that the kernel is from.
	Suite string `csv:"suite"`
	// Kernel is the name, spelled as in the FAR paper.
	Kernel string `csv:"kernel"`
	// Size is that of the instance.
	Size mig.Slices `csv:"size"`
	// Mean is the mean duration; +Inf if the kernel does not fit.
	Mean mig.Seconds `csv:"mean_seconds"`
	// StdDev is the standard deviation over the runs.
	StdDev mig.Seconds `csv:"std_seconds"`
	// Runs is the number of runs; 0 means that neither it nor StdDev was published.
	Runs int `csv:"runs"`
	// Source is where the times were published; manifest.json says more.
	Source string `csv:"source"`
}

// Measured returns the rows of a table: kernel by kernel in the published order, on which
// schedulers that take tasks as they come depend, and by ascending size within a kernel. It
// panics if there is no such table.
func Measured(t Table) []Measurement {
	rows, ok := tables()[t]
	if !ok {
		panic(fmt.Sprintf("datasets: there is no table %q", t))
	}
	return slices.Clone(rows)
}

//go:embed manifest.json measured
var files embed.FS

// manifest lists the embedded files.
type manifest struct {
	Files []manifestFile `json:"files"`
}

type manifestFile struct {
	Table   Table  `json:"table"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
}

var readManifest = sync.OnceValue(func() manifest {
	var m manifest
	text, err := files.ReadFile("manifest.json")
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		panic(fmt.Sprintf("datasets: manifest.json: %v", err))
	}
	return m
})

// tables returns the measured times. The files are part of the program: an invalid one is a
// mistake in the program.
var tables = sync.OnceValue(func() map[Table][]Measurement {
	out := map[Table][]Measurement{}
	for _, f := range readManifest().Files {
		text, err := files.ReadFile(f.Path)
		if err == nil {
			out[f.Table], err = parseMeasurements(f.Path, text)
		}
		if err != nil {
			panic(fmt.Sprintf("datasets: %v", err))
		}
	}
	return out
})

// measuredHeader is the first line of a file of measured times.
const measuredHeader = "gpu,suite,kernel,size,mean_seconds,std_seconds,runs,source\n"

// parseMeasurements reads a file of measured times.
func parseMeasurements(file string, text []byte) ([]Measurement, error) {
	if !bytes.HasPrefix(text, []byte(measuredHeader)) {
		return nil, fmt.Errorf("%s:1: the header must be %q", file, measuredHeader)
	}
	var rows []Measurement
	if err := gocsv.UnmarshalBytes(text, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: there are no rows", file)
	}
	if row, err := checkMeasurements(rows); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, row+2, err)
	}
	return rows, nil
}

// checkMeasurements returns the index of the first wrong row and what is wrong with it. Every
// kernel must have one row for each size of the GPU, in ascending order.
func checkMeasurements(rows []Measurement) (int, error) {
	g, err := mig.Lookup(rows[0].GPU)
	if err != nil {
		return 0, err
	}
	sizes := g.Sizes()
	seen := map[string]bool{}
	for i, m := range rows {
		first := i%len(sizes) == 0
		switch {
		case m.GPU != g.Name:
			return i, fmt.Errorf("the row is for %s, the table for %s", m.GPU, g)
		case m.Suite == "" || m.Kernel == "" || m.Source == "":
			return i, errors.New("suite, kernel and source must not be empty")
		case m.Size != sizes[i%len(sizes)] || !first && m.Kernel != rows[i-1].Kernel:
			return i, fmt.Errorf("found %s on %d slices; each kernel needs one row for each of the sizes %v, in this order", m.Kernel, m.Size, sizes)
		case first && seen[m.Kernel]:
			return i, fmt.Errorf("kernel %s is there twice", m.Kernel)
		case !(m.Mean > 0):
			return i, fmt.Errorf("the mean is %v s; it must be a positive number or inf", m.Mean)
		case !(m.StdDev >= 0) || math.IsInf(float64(m.StdDev), 1):
			return i, fmt.Errorf("the standard deviation is %v s; it must be a number from 0", m.StdDev)
		case m.Runs < 0 || m.Runs == 0 && m.StdDev != 0:
			return i, fmt.Errorf("%d runs cannot have a standard deviation of %v s", m.Runs, m.StdDev)
		}
		seen[m.Kernel] = true
	}
	if len(rows)%len(sizes) != 0 {
		return len(rows) - 1, fmt.Errorf("the last kernel lacks rows; each needs the sizes %v", sizes)
	}
	return 0, nil
}

// batch returns the tasks of a table. The means are the durations.
func batch(rows []Measurement) task.Batch {
	var b task.Batch
	for _, m := range rows {
		if len(b) == 0 || b[len(b)-1].Name != m.Kernel {
			b = append(b, task.Task{Name: m.Kernel})
		}
		b[len(b)-1].Set(m.Size, m.Mean)
	}
	return b
}
