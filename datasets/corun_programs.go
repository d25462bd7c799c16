package datasets

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

//go:embed hierarchical
var hierarchicalTables embed.FS

// A tableProgram is a program of Table IV of the hierarchical paper.
type tableProgram struct {
	Name  string     `csv:"name"`
	Class task.Class `csv:"class"`
	// Trained is "no" for the programs that the table marks with a *: the agent is not trained on them.
	Trained string `csv:"trained"`
	// Kernel is the program's name in the table [rodiniaA100]; "" if its times on A100 are not public. The LU there is
	// lud with one input. It is not known whether that is lud_A, lud_B or lud_C, so that all three are drawn instead.
	Kernel string `csv:"kernel"`
}

var table4 = sync.OnceValue(func() []tableProgram {
	return strictcsv.Embedded[tableProgram](hierarchicalTables, "hierarchical/table4.csv", "kernel")
})

// table5 returns the names of the programs in the paper's queues Q1 to Q12 (Table V).
var table5 = sync.OnceValue(func() (queues [][]string) {
	text := spec.Must(hierarchicalTables.ReadFile("hierarchical/table5.txt"))
	unmarked := strings.ReplaceAll(string(text), "*", "") // a * marks a program on which the agent is not trained
	for line := range strings.Lines(unmarked) {
		queues = append(queues, strings.Split(strings.TrimSpace(line), ", "))
	}
	return queues
})

// Programs returns the 27 programs of the hierarchical paper's Table IV, in its order. The paper publishes no
// parameters. They are fitted ([KernelFits]) if public times on A100 exist, and otherwise drawn from the class.
func Programs() []task.Program { return slices.Clone(defaultPrograms()) }

var defaultPrograms = sync.OnceValue(func() []task.Program { return programs(1) })

// programs returns Table IV's programs. A program that is not fitted is drawn from a random stream of its own with the
// seed draw, so that more programs would not change it.
func programs(draw uint64) (out []task.Program) {
	fits := kernelFits()
	for _, row := range table4() {
		var p task.Program
		fit := slices.IndexFunc(fits, func(f KernelFit) bool { return f.Program == row.Name })
		if fit >= 0 {
			p = fits[fit].Fitted
		} else {
			rng := rand.New(Hashed(fmt.Appendf(nil, "program=%s\nclass=%s\ndraw=%d", row.Name, row.Class, draw)))
			p = drawProgram(rng, row.Class)
		}
		p.Name, p.Unseen = row.Name, row.Trained == "no"
		out = append(out, p)
	}
	return out
}

// findPrograms returns the programs of Table IV with some names, in the order of the names.
func findPrograms(names []string, draw uint64) []task.Program {
	all := programs(draw)
	out := make([]task.Program, len(names))
	for i, name := range names {
		out[i] = all[slices.IndexFunc(all, func(p task.Program) bool { return p.Name == name })]
	}
	return out
}

// An interval is the range from which a parameter is drawn uniformly.
type interval struct{ low, high float64 }

func (i interval) draw(rng *rand.Rand) float64 {
	return i.low + float64((i.high-i.low)*rng.Float64()) // rounded before it is added
}

func (i interval) middle() float64 { return (i.low + i.high) / 2 }

// A classShape has the intervals of the parameters of a class: the serial part s, the parallelism p and the memory work
// w_m. They are our assumptions; the paper only has the rule in [task.Program.ByRule].
type classShape struct{ serial, parallelism, memory interval }

var classShapes = map[task.Class]classShape{
	task.ComputeIntensive: {interval{.02, .15}, interval{.7, 1}, interval{.1, .5}},
	task.MemoryIntensive:  {interval{.02, .2}, interval{.3, .9}, interval{.5, .9}},
	task.Unscalable:       {interval{.2, .7}, interval{.06, .125}, interval{.01, .08}},
}

// Solo times are exp(N(soloMean, soloDeviation)) seconds, with a median of 20 s; drawWide shortens some of them.
var (
	soloMean      = portable.Log(20)
	soloDeviation = 0.5
)

// drawLogSolo draws the logarithm of a solo time.
func drawLogSolo(rng *rand.Rand) float64 {
	return soloMean + float64(soloDeviation*portable.Normal(rng)) // rounded before it is added
}

// drawProgram draws a program of a class. It draws again until the program follows the class's rule.
func drawProgram(rng *rand.Rand, class task.Class) task.Program {
	shape := classShapes[class]
	solo := mig.Seconds(portable.Exp(drawLogSolo(rng)))
	for {
		p := task.Program{
			Class: class, Solo: solo,
			Serial: shape.serial.draw(rng), Parallelism: shape.parallelism.draw(rng), Memory: shape.memory.draw(rng),
		}
		if p.Memory < 1-p.Serial {
			p.Compute = computeFor(p.Serial, p.Parallelism, p.Memory)
			if p.ByRule() == class {
				return p
			}
		}
	}
}

// drawWide draws a program outside the intervals of its class. Measured kernels are like this: some are mostly serial,
// and some take milliseconds. Half of the programs are up to exp(8), or 3,000, times shorter, and the parallelism is
// from exp(-2.8), or about half a GPC, to 1.
func drawWide(rng *rand.Rand, class task.Class) task.Program {
	shorter := 0.0
	if rng.IntN(2) == 0 {
		shorter = 8 * rng.Float64()
	}
	p := task.Program{
		Class: class, Solo: mig.Seconds(portable.Exp(drawLogSolo(rng) - shorter)),
		Serial: maxSerial * rng.Float64(), Parallelism: portable.Exp(-2.8 * rng.Float64()),
	}
	p.Memory = (1 - p.Serial) * rng.Float64()
	p.Compute = computeFor(p.Serial, p.Parallelism, p.Memory)
	return p
}

// computeFor returns the compute work w_c with which a program takes its solo time on the
// whole GPU: the smooth maximum of w_c/p and w_m is 1 - s.
func computeFor(serial, parallelism, memory float64) float64 {
	const q = task.Sharpness
	return parallelism * portable.Pow(portable.Pow(1-serial, q)-portable.Pow(memory, q), 1./q)
}
