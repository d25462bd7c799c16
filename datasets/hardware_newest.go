package datasets

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"miglab/harness/mig"
)

// tablesFor returns the tables of a GPU, the newest last. A100 also matches A100-80GB, because the papers do not give
// the memory of their GPUs.
func tablesFor[Row any](tables []HardwareTable[Row], gpu string) []HardwareTable[Row] {
	return slices.DeleteFunc(slices.Clone(tables), func(t HardwareTable[Row]) bool {
		model, _, _ := strings.Cut(t.GPU, "-")
		return model != gpu
	})
}

// An Operation creates or destroys instances of a size.
type Operation struct {
	Name string // create or destroy
	Size mig.Slices
}

// Reconfigurations returns the times to create and to destroy a single instance of a GPU. If several tables have a
// time, the newest one counts.
func (h HardwareSet) Reconfigurations(gpu string) map[Operation]ReconfigurationTime {
	out := map[Operation]ReconfigurationTime{}
	for _, t := range tablesFor(h.Reconfiguration, gpu) {
		for _, r := range t.Rows {
			if r.Partition == fmt.Sprint(r.Size) { // a round of one instance
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

// WorstIsolation returns, for each kernel and size on a GPU, the row with the largest absolute difference between the
// times alone and beside other kernels. If several tables have the kernel, the newest one counts.
func (h HardwareSet) WorstIsolation(gpu string) map[KernelOn]IsolationTime {
	out := map[KernelOn]IsolationTime{}
	for _, t := range tablesFor(h.Isolation, gpu) {
		largest := map[KernelOn]IsolationTime{}
		for _, r := range t.Rows {
			at := KernelOn{r.Kernel, r.Size}
			old, ok := largest[at]
			if r.Beside != "" && (!ok || math.Abs(r.Difference) > math.Abs(old.Difference)) {
				largest[at] = r
			}
		}
		maps.Copy(out, largest)
	}
	return out
}

// NewestExecution returns the rows of the newest execution of exactly this batch on one GPU by the schedule of an
// algorithm, in the order of the batch. It returns nil without such an execution. If the batch has a kernel several
// times, as CFD#1 and CFD#2, the tasks of the kernel are taken by their real end.
func (h HardwareSet) NewestExecution(gpu, algorithm string, batch []string) []ExecutionTime {
	var newest []ExecutionTime
	for _, t := range tablesFor(h.Execution, gpu) {
		if t.Rows[0].Algorithm == algorithm {
			rows := inBatchOrder(t.Rows, batch)
			if rows != nil {
				newest = rows
			}
		}
	}
	return newest
}

// inBatchOrder returns the rows of an execution in the order of a batch; nil if they belong to another batch.
func inBatchOrder(rows []ExecutionTime, batch []string) []ExecutionTime {
	if len(rows) != len(batch) {
		return nil
	}
	rows = slices.SortedStableFunc(slices.Values(rows), func(a, b ExecutionTime) int {
		return cmp.Compare(a.RealEnd, b.RealEnd)
	})
	out := make([]ExecutionTime, len(batch))
	for i, task := range batch {
		j := slices.IndexFunc(rows, func(r ExecutionTime) bool {
			return kernelName(r.Task) == kernelName(task) && r.Device == 0
		})
		if j < 0 {
			return nil
		}
		out[i] = rows[j]
		rows = slices.Delete(rows, j, j+1)
	}
	return out
}

// kernelName returns the kernel of a task: CFD for CFD#2.
func kernelName(task string) string {
	name, _, _ := strings.Cut(task, "#")
	return name
}
