package far

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// measuredOn returns a number that was measured on a GPU.
func measuredOn(v float64, detail string, p datasets.Provenance) figures.Measurement {
	m := figures.Exactly(v)
	m.Detail = fmt.Sprintf("%sMeasured on %s; %s.", detail, p.GPU, p)
	return m
}

func table2(d *figures.Data) {
	values := d.Under("")
	worst := d.Hardware.WorstIsolation("A100")
	kernels := []string{"Backprop", "Gaussian", "HotSpot", "LavaMD"}
	for kernel, size := range figures.Each(kernels, []mig.Slices{1, 2, 3, 4}) {
		if r, ok := worst[datasets.KernelOn{Kernel: kernel, Size: size}]; ok {
			m := measuredOn(math.Abs(r.Difference), "Beside "+r.Beside+". ", r.Provenance)
			values[claim.Cell{Row: kernel, Column: fmt.Sprint("size ", size)}] = m
		}
	}
}

// batch3 are the kernels of Table 3 in its order. The times of unpublished on A30 are not public.
var batch3 = strings.Fields("PathFinder LavaMD " + unpublished + " Gaussian NW Huffman HeartWall ParticleFilter LU")

const unpublished = "HotSpot"

// table3 judges real end times of an execution on an A30, and end times simulated with the authors' published times.
func table3(d *figures.Data) {
	values := d.Under("")
	p, s := d.Schedule(seriesOn("A30", 1, batch(figures.Dataset("a30-batch"), "far", mig.Sequential)), 0)
	ends := map[string]float64{} // by name in lower case
	for _, pl := range s.Placements {
		ends[strings.ToLower(p.Tasks[pl.Task].Name)] = float64(pl.End)
	}
	executed := d.Hardware.NewestExecution("A30", "far", batch3)
	for i, k := range batch3 {
		if k != unpublished {
			values[claim.At(k, "simulated end")] = figures.Exactly(ends[strings.ToLower(k)])
		}
		if executed != nil {
			r := executed[i]
			values[claim.At(k, "real end")] = measuredOn(float64(r.RealEnd), "", r.Provenance)
			values[claim.At(k, "deviation")] = measuredOn(r.Deviation, "", r.Provenance)
		}
	}
	d.Figure("table3", "The simulated schedule behind Table 3",
		reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel("FAR, eight kernels, A30", p, s)}})
}

// Claims of the text about what was measured on GPUs.
var (
	largestDifference = claim.Of("isolation, largest difference")
	largestDeviation  = claim.Of("simulation error, largest")
)

// inText measures what the text says about GPUs. Isolation needs all kernels, on every size except the largest.
func inText(h datasets.HardwareSet, values figures.Values) {
	worst := h.WorstIsolation("A100")
	largest, complete := 0.0, true
	for k, s := range figures.Each(kernels("A100"), a100.Sizes()) {
		r, ok := worst[datasets.KernelOn{Kernel: k.Name, Size: s}]
		complete = complete && (ok || s == a100.ComputeSlices)
		largest = max(largest, math.Abs(r.Difference))
	}
	if complete {
		values[largestDifference] = figures.Exactly(largest)
	}
	if rows := h.NewestExecution("A30", "far", batch3); rows != nil {
		deviations := figures.Map(rows, func(r datasets.ExecutionTime) float64 { return math.Abs(r.Deviation) })
		values[largestDeviation] = figures.Exactly(slices.Max(deviations))
	}
}
