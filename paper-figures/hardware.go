package figures

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// needsReconfiguration says how to get the times of creating and destroying instances of a GPU.
func needsReconfiguration(gpu string) string {
	return fmt.Sprintf("NOT RUNNABLE: needs an %s under MIG: run `miglab profile reconfiguration --out DIR` there, put DIR/reconfiguration.csv into datasets/hardware as NAME.reconfiguration.csv and build again", gpu)
}

// under yields the tables of a GPU that were measured under MIG, the newest last. A100 also
// matches A100-80GB, because the papers do not say how much memory their GPUs have.
func under[Row any](tables []datasets.HardwareTable[Row], gpu string) iter.Seq[datasets.HardwareTable[Row]] {
	return func(yield func(datasets.HardwareTable[Row]) bool) {
		for _, t := range tables {
			model, _, _ := strings.Cut(t.GPU, "-")
			if t.Source == datasets.SourceMIG && model == gpu && !yield(t) {
				return
			}
		}
	}
}

// An Operation creates or destroys instances of a size.
type Operation struct {
	// Name is create or destroy.
	Name string
	Size mig.Slices
}

// Reconfigurations returns how long it took to create and to destroy a single instance
// of a GPU. If there are several times, the newest one counts.
func Reconfigurations(h datasets.HardwareSet, gpu string) map[Operation]datasets.ReconfigurationTime {
	out := map[Operation]datasets.ReconfigurationTime{}
	for t := range under(h.Reconfiguration, gpu) {
		for _, r := range t.Rows {
			if r.Partition == fmt.Sprint(r.Size) {
				out[Operation{r.Operation, r.Size}] = r
			}
		}
	}
	return out
}

// A KernelOn is a kernel on instances of a size.
type KernelOn struct {
	Kernel string
	Size   mig.Slices
}

// Isolation returns, for each kernel and size on a GPU, the row with the largest absolute
// difference between the times alone and beside other kernels. If several tables have the
// kernel, the newest one counts.
func Isolation(h datasets.HardwareSet, gpu string) map[KernelOn]datasets.IsolationTime {
	out := map[KernelOn]datasets.IsolationTime{}
	for t := range under(h.Isolation, gpu) {
		largest := map[KernelOn]datasets.IsolationTime{}
		for _, r := range t.Rows {
			at := KernelOn{r.Kernel, r.Size}
			if old, ok := largest[at]; r.Beside != "" && (!ok || math.Abs(r.Difference) > math.Abs(old.Difference)) {
				largest[at] = r
			}
		}
		maps.Copy(out, largest)
	}
	return out
}

// Execution returns the rows of the newest execution of exactly this batch on one GPU,
// scheduled by an algorithm, in the order of the batch. It returns nil if there is none. If
// a kernel is in the batch twice, it is named CFD#1 and CFD#2, by real end.
func Execution(h datasets.HardwareSet, gpu, algorithm string, batch []string) []datasets.ExecutionTime {
	var newest []datasets.ExecutionTime
	for t := range under(h.Execution, gpu) {
		if t.Rows[0].Algorithm == algorithm {
			if rows := arrange(t.Rows, batch); rows != nil {
				newest = rows
			}
		}
	}
	return newest
}

// arrange returns the rows in the order of a batch, or nil if they belong to another batch.
func arrange(rows []datasets.ExecutionTime, batch []string) []datasets.ExecutionTime {
	if len(rows) != len(batch) {
		return nil
	}
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b datasets.ExecutionTime) int { return cmp.Compare(a.RealEnd, b.RealEnd) })
	out := make([]datasets.ExecutionTime, len(batch))
	for i, task := range batch {
		j := slices.IndexFunc(rows, func(r datasets.ExecutionTime) bool { return kernel(r.Task) == kernel(task) && r.Device == 0 })
		if j < 0 {
			return nil
		}
		out[i] = rows[j]
		rows = slices.Delete(rows, j, j+1)
	}
	return out
}

// kernel returns what a task runs: CFD of CFD#2.
func kernel(task string) string {
	name, _, _ := strings.Cut(task, "#")
	return name
}

// Sampled is the mean of a sample of which only the deviation and the size are known.
func Sampled(mean, deviation float64, n int) Measurement {
	m := Exactly(mean)
	m.Replicates, m.Unit = n, verdict.Measurements
	if n > 1 {
		m.StdErr = deviation / math.Sqrt(float64(n))
		half := stats.HalfWidth(m.StdErr, n)
		m.Low, m.High = mean-half, mean+half
	}
	return m
}

// WithOrigin adds a note on where measured numbers come from, once.
func WithOrigin(notes []string, p datasets.Provenance) []string {
	if note := fmt.Sprintf("measured on %s; %s", p.GPU, p); !slices.Contains(notes, note) {
		notes = append(notes, note)
	}
	return notes
}

// onHardware is the reading of an input that was also measured.
const onHardware = "measured on a GPU"

// ReconfigurationTable is Table 1 of the FAR paper and of the DRL paper: the seconds that
// creating and destroying an instance takes. The GPU models use these numbers, so the claims
// are inputs. What was measured on a GPU is a second reading, which is judged.
func ReconfigurationTable(h datasets.HardwareSet) Artefact {
	return Artefact{
		Name: "table1", Title: "seconds to create and to destroy an instance",
		Build: func(*Data) (*Output, error) {
			measured, inputs := Values{}, map[string]float64{}
			t := reports.Table{
				Title: "Table 1. Seconds to create and to destroy an instance, as the GPU models have them and as measured",
				Columns: reports.Left("GPU").Right("size [slices]", "create [s]", "destroy [s]", "create, measured [s]",
					"destroy, measured [s]"),
				Notes: []string{"create and destroy: taken from the paper; the models' cost of every operation comes from here"},
			}
			for _, name := range []string{"A30", "A100", "H100"} {
				times := Reconfigurations(h, name)
				g := mig.MustLookup(name)
				for _, s := range g.Sizes() {
					p := g.Profile(s)
					row := []string{name, fmt.Sprint(s), fmt.Sprintf("%.2f", p.Create), fmt.Sprintf("%.2f", p.Destroy)}
					for i, operation := range []string{"create", "destroy"} {
						claim := fmt.Sprintf("%s %s size %d", name, operation, s)
						inputs[claim] = float64([]mig.Seconds{p.Create, p.Destroy}[i])
						r, ok := times[Operation{operation, s}]
						if !ok {
							row = append(row, reports.Missing)
							continue
						}
						row = append(row, fmt.Sprintf("%.3f", r.Mean))
						t.Notes = WithOrigin(t.Notes, r.Provenance)
						m := Sampled(float64(r.Mean), float64(r.StdDev), r.Runs)
						m.Detail = "The paper names neither board nor driver; " + r.String() + "."
						measured[claim] = m
					}
					t.Rows = append(t.Rows, row)
				}
				if len(times) == 0 {
					t.Notes = append(t.Notes, needsReconfiguration(name))
				}
			}
			return Read(Reading{}, Reading{Name: onHardware, Values: measured}).
				Take("cost of the GPU model", inputs).Table("table1", t), nil
		},
	}
}
