package hierarchical

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"miglab/harness/sim/corun"
	"miglab/harness/spec"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// The MIG partitions of Figs. 2 and 4: instances of 3 and 4 GPCs. The eighth GPC is off.
const (
	sharedMemory  = "[{0.375}+{0.5},1m]"
	privateMemory = "[{0.375},0.5m]+[{0.5},0.5m]"
)

// figure2 gives an example of each option.
func figure2(d *figures.Data) {
	t := d.Table("figure2", d.Title, reports.Left("option", "example"),
		"( ) is a share of the compute under MPS, { } a compute instance, [ ] a GPU instance with its share m of the "+
			"memory; 1 is the whole GPU")
	t.Row("MPS Only", corun.MustParse("[(0.3)+(0.7),1m]"))
	t.Row("MIG Only, shared memory", corun.MustParse(sharedMemory))
	t.Row("MIG Only, private memory", corun.MustParse(privateMemory))
	t.Row("MIG+MPS, hierarchical", corun.MustParse("[(0.3)+(0.7),{0.375},0.5m]+[(0.4)+(0.6),{0.5},0.5m]"))
}

// The first printedMixes of [memoryMixes] have a counterpart in the paper.
const printedMixes = 2

// The programs of Figs. 3 to 5. The text does not name them; these are our choice and show what it says of them.
var (
	// The first two splitMixes have their best split away from the middle, the last one near it (III-B).
	splitMixes = [][]string{{"hotspot3D", "stream"}, {"bt_solver_A", "kmeans"}, {"lavaMD", "gaussian"}}
	// memoryMixes gain from private memory, except the last one, which has no counterpart in the paper.
	memoryMixes = [][]string{{"huffman", "kmeans"}, {"bt_solver_A", "dwt2d"}, {"lud_A", "kmeans"}}
	// fourPrograms has all classes.
	fourPrograms = []string{"hotspot3D", "stream", "kmeans", "dwt2d"}
)

// ourChoice is a note of tables about those programs.
const ourChoice = "the text does not name the paper's programs: these are our choice, of programs that show " +
	"what the text says of its own"

// mix returns the dataset of a window of some programs.
func mix(programs []string, parameters string) string {
	return figures.Dataset("corun/mix?jobs=" + strings.Join(programs, "+") + parameters)
}

// runTogether lets the referee run programs on a partition, the first in the first slot. Nothing is scheduled,
// because the figures are about given partitions. It panics if the partition is not one.
func runTogether(programs []string, setup string) *corun.Result {
	g := corun.Group{Setup: corun.MustParse(setup)}
	for i := range programs {
		g.Jobs = append(g.Jobs, i)
	}
	r := spec.Must(corun.Measure(figures.Instance[corun.Window](mix(programs, ""), gpu, 0), corun.Plan{g}))
	return &r
}

func figure3(d *figures.Data) {
	chart := reports.Lines{
		Title: d.Title, Y: overTimeSharing,
		X: reports.Axis{Label: "Compute of the first program [%]", Ticks: []float64{10, 30, 50, 70, 90}},
	}
	t := d.Table("figure3",
		"Figure 3. Relative throughput by compute of the first program, simulated",
		reports.Right("first [%]"),
		ourChoice,
		simulated())
	var best []float64 // the first program's percentage with the highest throughput, by mix
	for k, programs := range splitMixes {
		name := strings.Join(programs, " + ")
		t.Columns = t.Columns.Right(name)
		line := reports.Series{Name: name, Markers: true}
		for i, percent := 0, 5; percent < 100; i, percent = i+1, percent+5 {
			setup := fmt.Sprintf("[(%g)+(%g),1m]", float64(percent)/100, float64(100-percent)/100)
			throughput := runTogether(programs, setup).Throughput()
			line.X, line.Y = append(line.X, float64(percent)), append(line.Y, throughput)
			if k == 0 {
				t.Row(percent)
			}
			t.Rows[i] = append(t.Rows[i], reports.Fixed(throughput, 3))
		}
		chart.Series = append(chart.Series, line)
		best = append(best, line.X[floats.MaxIdx(line.Y)])
	}
	apart := slices.Max(best) - slices.Min(best)
	d.Under("")[claim.Of("best percentages of two mixes apart")] = figures.Exactly(apart)
	d.Figure("figure3", chart.Title, chart)
}

func figure4(d *figures.Data) {
	shared, private := reports.BarGroup{Name: "shared memory"}, reports.BarGroup{Name: "private memory"}
	chart := reports.Bars{
		Title: d.Title, X: reports.Axis{Label: "Programs, with the GPCs of each"}, Y: overTimeSharing,
	}
	t := d.Table("figure4", "Figure 4. Relative throughput with shared and private memory, simulated",
		reports.Left("programs", "GPCs").Right("shared memory", "private memory", "private / shared"),
		ourChoice+"; the last mix, which needs the bandwidth, is one that loses by private memory",
		"one of eight GPCs is off, as in the paper",
		simulated())
	least := math.Inf(1) // private over shared
	for i, programs := range memoryMixes {
		name := strings.Join(programs, " + ")
		for _, gpcs := range []string{"3:4", "4:3"} {
			inShared := runTogether(programs, sharedMemory).Throughput()
			inPrivate := runTogether(programs, privateMemory).Throughput()
			chart.Categories = append(chart.Categories, name+" "+gpcs)
			shared.Values = append(shared.Values, inShared)
			private.Values = append(private.Values, inPrivate)
			t.Row(name, gpcs, reports.Cells(3, inShared, inPrivate, inPrivate/inShared))
			if i < printedMixes {
				least = min(least, inPrivate/inShared)
			}
			programs = []string{programs[1], programs[0]}
		}
	}
	chart.Groups = []reports.BarGroup{shared, private}
	const quantity = "throughput with private memory over that with shared, " +
		"least of the mixes that stand for the paper's two"
	d.Under("")[claim.Of(quantity)] = figures.Exactly(least)
	d.Figure("figure4", chart.Title, chart)
}

func figure5(d *figures.Data) {
	hierarchical := method{title: "MIG+MPS, hierarchical", algorithm: exact.algorithm}
	bars := reports.BarGroup{Name: strings.Join(fourPrograms, ", ")}
	chart := reports.Bars{Title: d.Title, X: reports.Axis{Label: "Option"}, Y: overTimeSharing}
	t := d.Table("figure5", fmt.Sprintf("Figure 5. The options on %s, simulated", bars.Name),
		reports.Left("option").Right("throughput", "groups", "mean slowdown"),
		ourChoice,
		"pairs, partitions and percentages by exhaustive search; MIG+MPS takes any partition, those of MIG+MPS "+
			"Default included; one group is all four programs at once",
		simulated())
	for _, m := range []method{mpsOnly, migShared, migPrivate, hierarchical} {
		data := mix(fourPrograms, "&cmax=2") // pairs
		if m == hierarchical {
			data = mix(fourPrograms, "")
		}
		of := func(metric string) float64 { return d.First(m.on(data), metric) }
		throughput := of(track.MetricThroughput)
		chart.Categories, bars.Values = append(chart.Categories, m.title), append(bars.Values, throughput)
		t.Row(m.title, reports.Fixed(throughput, 3), reports.Fixed(of(track.MetricGroups), 0),
			reports.Fixed(of(track.MetricSlowdownMean), 3))
	}
	chart.Groups = []reports.BarGroup{bars}
	last := len(bars.Values) - 1
	ahead := bars.Values[last] - slices.Max(bars.Values[:last])
	d.Under("")[claim.Of("throughput of MIG+MPS less that of the best other option")] = figures.Exactly(ahead)
	d.Figure("figure5", chart.Title, chart)
}
