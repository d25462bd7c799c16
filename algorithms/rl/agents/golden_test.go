package agents

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// goldenProblems are a batch of the DRL paper's, one that is decided upon in parts,
// and one with releases on a GPU at work.
func goldenProblems(t *testing.T) []algo.Problem {
	t.Helper()
	var out []algo.Problem
	for _, c := range []struct {
		spec, gpu string
		model     mig.Reconfiguration
	}{
		{"drl/WIDETIMES", "A100", mig.Sequential},
		{"drl/MIXSCALINGEXTREME?n=40", "A100", mig.Parallel},
		{"drl/GOODSCALING?n=9", "H100", mig.Sequential},
	} {
		p := algo.Problem{GPU: mig.MustLookup(c.gpu), Model: c.model}
		in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(c.spec), p.GPU, 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Tasks = in.Tasks
		out = append(out, p)
	}
	last := &out[len(out)-1]
	for i := range last.Tasks {
		last.Release = append(last.Release, mig.Seconds(3*i))
	}
	for _, in := range last.GPU.Partitions()[3] {
		last.Start = append(last.Start, schedule.Existing{Instance: in, BusyUntil: mig.Seconds(2 * in.Start)})
	}
	return out
}

// written is a schedule as text, times to the last bit.
func written(p algo.Problem, s schedule.Schedule) string {
	var b strings.Builder
	exact := func(t mig.Seconds) string { return strconv.FormatFloat(float64(t), 'g', -1, 64) }
	for _, bar := range schedule.Bars(p, s) {
		fmt.Fprintf(&b, "%s %s slice %d+%d %v %s\n", exact(bar.Start), exact(bar.End), bar.Slice, bar.Width, bar.Kind, bar.Label)
	}
	return b.String()
}

// golden returns what the variants of an agent decide.
func golden(t *testing.T, s algo.Spec) string {
	t.Helper()
	var b strings.Builder
	for v, id := range variants(s) {
		switch s.Track {
		case algo.TrackDispatch:
			jobs, fleet := dayOf(t, 1, 300)
			r := dispatched(t, id, jobs, fleet)
			fmt.Fprintf(&b, "# %s: %d late, %v min, %v Wmin; slices\n", id, r.Late, float64(r.Tardiness), float64(r.Energy))
			for _, run := range r.Runs {
				fmt.Fprintf(&b, "%d ", run.Slice)
			}
			b.WriteString("\n\n")
			continue
		case algo.TrackCorun:
			b.WriteString(corunGolden(t, id))
			continue
		}
		ids := []string{id}
		if v == 0 {
			ids = append(ids, id+"?k=4")
		}
		for _, id := range ids {
			for i, p := range goldenProblems(t) {
				got, err := answer(algo.MustParse(id), p)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				fmt.Fprintf(&b, "# problem %d: %s on %s, %s\n%s\n", i, id, p.GPU, p.Model, written(p, got))
			}
		}
	}
	return b.String()
}

func TestDecisionsChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, track := range []string{algo.TrackBatch, algo.TrackStream, algo.TrackDispatch, algo.TrackCorun} {
		for _, s := range specs(track) {
			answers = append(answers, algotest.Answer{Key: algotest.GoldenName(s.Name, s), Text: golden(t, s)})
		}
	}
	algotest.Golden(t, "testdata/golden", answers)
}
