package datasets

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// Names of tables in manifest.json.
const (
	rodiniaA100 = "rodinia-a100" // 16 Rodinia kernels on A100 (FAR Figs. 3 and 12)
	rodiniaA30  = "rodinia-a30"  // 16 Rodinia kernels on A30
	a30Batch    = "a30-batch"    // 8 of the 9 kernels that FAR Table 3 runs on A30
)

// A measurement is the time of a kernel on instances of one size.
type measurement struct {
	GPU    string      `csv:"gpu"`
	Suite  string      `csv:"suite"`
	Kernel string      `csv:"kernel"` // spelled as in the FAR paper
	Size   mig.Slices  `csv:"size"`
	Mean   mig.Seconds `csv:"mean_seconds"` // over the runs; +Inf if the kernel does not fit
	StdDev mig.Seconds `csv:"std_seconds"`
	Runs   int         `csv:"runs"`   // 0 if neither the number of runs nor StdDev was published
	Source string      `csv:"source"` // the publication of the times; manifest.json has its details
}

//go:embed manifest.json measured traces/openb.csv
var files embed.FS

// A manifest is the contents of manifest.json.
type manifest struct {
	Files  []manifestFile `json:"files"`
	Traces []manifestFile `json:"traces"`
}

// A manifestFile describes a file of published data.
type manifestFile struct {
	Table string `json:"table"`
	Path  string `json:"path"`
	// Work is the kind of work that was measured: train, infer or kernels. It is "" for a table that repeats kernels of
	// another table; the measured/ datasets leave it out.
	Work string `json:"work"`
	// Unmeasured lists the sizes without measurements. An inf in the file says that the memory of the size is too
	// small.
	Unmeasured []mig.Slices `json:"unmeasured"`
	SHA256     string       `json:"sha256"`
	Summary    string       `json:"summary"`
	Source     string       `json:"source"`
}

var readManifest = sync.OnceValue(func() manifest {
	var m manifest
	if err := json.Unmarshal(spec.Must(files.ReadFile("manifest.json")), &m); err != nil {
		panic(fmt.Sprintf("datasets: manifest.json: %v", err))
	}
	return m
})

// tables returns the measured times by the name of the table, kernel by kernel in the published order. The order
// affects schedulers that take tasks as they come.
var tables = sync.OnceValue(func() map[string][]measurement {
	out := map[string][]measurement{}
	for _, f := range readManifest().Files {
		out[f.Table] = strictcsv.Embedded[measurement](files, f.Path, "std_seconds", "runs")
	}
	return out
})

// checkMeasurements returns the index of the first wrong row and an error that describes it. Every kernel must have one
// row for each size of the GPU that was measured, in ascending order.
func checkMeasurements(g *mig.GPU, rows []measurement, unmeasured ...mig.Slices) (int, error) {
	absent := func(s mig.Slices) bool { return slices.Contains(unmeasured, s) }
	sizes := slices.DeleteFunc(slices.Clone(g.Sizes()), absent)
	seen := map[string]bool{}
	for i, m := range rows {
		first := i%len(sizes) == 0
		switch {
		case m.GPU != g.Name:
			return i, fmt.Errorf("the row is for %s, the table for %s", m.GPU, g)
		case m.Size != sizes[i%len(sizes)] || !first && m.Kernel != rows[i-1].Kernel:
			return i,
				fmt.Errorf("found %s on %d slices; each kernel needs one row for each of the sizes %v, in this order",
					m.Kernel, m.Size, sizes)
		case first && seen[m.Kernel]:
			return i, fmt.Errorf("kernel %s is there twice", m.Kernel)
		case !(m.Mean > 0):
			return i, fmt.Errorf("the mean is %v s; it must be a positive number or inf", m.Mean)
		case !(m.StdDev >= 0) || math.IsInf(float64(m.StdDev), 1):
			return i, fmt.Errorf("the standard deviation is %v s; it must be a number from 0", m.StdDev)
		case m.Runs < 0:
			return i, fmt.Errorf("the number of runs is %d; it must be a whole number from 0", m.Runs)
		case m.Runs == 0 && m.StdDev != 0:
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
func batch(rows []measurement) task.Batch {
	var b task.Batch
	for _, m := range rows {
		if len(b) == 0 || b[len(b)-1].Name != m.Kernel {
			b = append(b, task.Task{Name: m.Kernel})
		}
		b[len(b)-1].Set(m.Size, m.Mean)
	}
	return b
}
