// Package measure runs the experiments of the papers on a GPU: the times of kernels on every instance size (FAR 2.4,
// Figs. 2 and 3; DRL Fig. 7), the cost of reconfiguration (FAR 2.1, Table 1), how much instances disturb each other
// (FAR 2.5, Table 2), and co-runs on parts of the multiprocessors (corun, overlap) for the co-run track.
//
// An experiment is a [Plan]: a list of runs, and the rows of a file that finished runs become. [Measure] makes the
// runs on a [Bench], which remembers them in its folder. [Register] makes an experiment a command of miglab profile;
// those with flags of their own are in package command. See Adding an experiment in ../README.md.
//
// Given the outcomes of the runs, an experiment is deterministic. The clock only gives dates, the duration of
// reconfigurations and the windows of co-runs; the times of runs are in their outcomes.
package measure

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/stats"
	"miglab/profiling"
	"miglab/profiling/launch"
)

// A Launcher runs a kernel once on an instance. The program uses [Real]; tests use launchers in virtual time.
type Launcher interface {
	Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error)
}

// Real starts processes.
type Real struct{}

// Launch is [launch.Kernel.Run].
func (Real) Launch(ctx context.Context, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	return k.Run(ctx, on)
}

// OnSlices says on how many slices something ran.
func OnSlices(size mig.Slices) string {
	if size == 1 {
		return "on 1 slice"
	}
	return fmt.Sprintf("on %d slices", size)
}

// warmUp runs a kernel without measuring it, at least once, until the runs have taken as long as its Warmup. It stops
// at the first run that fails. It returns the last outcome. The detail of a failure says that the kernel was warming
// up.
func warmUp(ctx context.Context, l Launcher, k *launch.Kernel, on profiling.Instance) (launch.Outcome, error) {
	var took time.Duration
	for {
		out, err := l.Launch(ctx, k, on)
		took += out.End.Sub(out.Start)
		if err == nil && out.Status != launch.OK {
			out.Detail = "warming up: " + out.Detail
		}
		if err != nil || out.Status != launch.OK || took >= k.Warmup {
			return out, err
		}
	}
}

// oneLine turns a text from outside into a single line.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// Provenance says where something is measured, with today's date.
func Provenance(id profiling.Identity) datasets.Provenance {
	return datasets.Provenance{
		GPU: id.Model.Name, Name: oneLine(id.Name), Driver: oneLine(id.Driver), Source: id.Source,
		Date: time.Now().UTC().Format(time.DateOnly),
	}
}

// TitleWithSource ends a title with the GPU and the source, so that results of one source are not mistaken for others.
func TitleWithSource(title string, from datasets.Provenance) string {
	return fmt.Sprintf("%s; %s, source: %s", title, from.Name, from.Source)
}

// seed decides everything that is random: orders, draws and the inputs of the program's own kernels.
const seed = 1

// cellStream returns the random numbers of one cell of an experiment. They do not depend on the numbers drawn for other
// cells.
func cellStream(cell string) *rand.Rand {
	return rand.New(datasets.Hashed(fmt.Appendf(nil, "%d %s", seed, cell)))
}

// summarize describes at least one time of a run, all positive and finite. The deviation of a single one is 0.
func summarize(seconds []float64) stats.Summary {
	s, err := stats.Summarize(seconds)
	if err != nil {
		panic(fmt.Sprintf("measure: %v", err)) // The callers pass only such times.
	}
	if s.N == 1 {
		s.StdDev = 0
	}
	return s
}

// medianOf returns the median of a time over at least one record.
func medianOf[R any](records []R, seconds func(*R) float64) mig.Seconds {
	all := make([]float64, len(records))
	for i := range records {
		all[i] = seconds(&records[i])
	}
	return mig.Seconds(summarize(all).Median)
}

// joinTexts joins the texts of a list's elements by spaces.
func joinTexts[T fmt.Stringer](list []T) string {
	return strings.Join(nearest.Names(list, T.String), " ")
}

// distinct returns the first element of each text.
func distinct[T fmt.Stringer](list []T) []T {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool {
		text := x.String()
		again := seen[text]
		seen[text] = true
		return again
	})
}
