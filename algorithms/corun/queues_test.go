package corun

import (
	"fmt"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
)

// queues returns the windows of Q1 to Q12.
func queues(t testing.TB) []corun.Window {
	t.Helper()
	var out []corun.Window
	spec := datasets.MustParse("corun/queues")
	for i := range spec.Instances() {
		in, err := datasets.InstanceOf[corun.Window](spec, mig.MustLookup("A100"), i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, in)
	}
	return out
}

// throughputs returns those of a scheduler on some windows, and their mean.
func throughputs(t *testing.T, id string, windows []corun.Window) (each []float64, mean float64) {
	t.Helper()
	for _, w := range windows {
		r := measure(t, id, w)
		each = append(each, r.Throughput())
		mean += r.Throughput() / float64(len(windows))
	}
	return each, mean
}

func TestDefaultPartitionIsTheBestOnTheMeanOfTheQueues(t *testing.T) {
	qs := queues(t)
	best, highest := "", 0.0
	for _, f := range []corun.Family{corun.DefaultShared, corun.DefaultPrivate, corun.DefaultWhole, corun.DefaultThree} {
		p := strings.TrimPrefix(string(f), "default-")
		_, mean := throughputs(t, "mig-mps-default?partition="+p, qs)
		t.Logf("%s: %.4f", p, mean)
		if mean > highest {
			best, highest = p, mean
		}
	}
	if best != defaultPartition {
		t.Errorf("%s is the best partition, with %.4f; the default is %s", best, highest, defaultPartition)
	}
}

// TestLocalIsCloseToExact: within 1 % on the mean and 5 % on each window.
func TestLocalIsCloseToExact(t *testing.T) {
	var drawn []corun.Window
	for i := range deep.N(8, 100) {
		drawn = append(drawn, paperWindow(uint64(i), 12))
	}
	for name, windows := range map[string][]corun.Window{"Q1-Q12": queues(t), "drawn": drawn} {
		exact, best := throughputs(t, "exact", windows)
		local, mean := throughputs(t, "local", windows)
		t.Logf("%s: local %.4f, exact %.4f", name, mean, best)
		if mean < 0.99*best {
			t.Errorf("%s: the mean of local is %.4f, that of exact %.4f", name, mean, best)
		}
		for i := range windows {
			if local[i] < 0.95*exact[i] {
				t.Errorf("%s, window %d: %.4f, and exact has %.4f", name, i+1, local[i], exact[i])
			}
		}
	}
}

// golden writes the plans for Q1 to Q12.
func golden(t *testing.T, a algo.Algorithm) string {
	t.Helper()
	var b strings.Builder
	for i, w := range queues(t) {
		plan, r := planned(t, a, w)
		fmt.Fprintf(&b, "# Q%d: throughput %.6f, mean slowdown %.6f, fairness %.6f\n", i+1, r.Throughput(), r.MeanSlowdown(), r.Fairness())
		for _, g := range plan {
			b.WriteString(g.Setup.String())
			for _, j := range g.Jobs {
				b.WriteByte(' ')
				b.WriteString(w.Jobs[j].Name)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestPlansChangeWithTheVersionOnly(t *testing.T) {
	var answers []algotest.Answer
	for _, a := range variants() {
		answers = append(answers, algotest.Answer{Key: algotest.GoldenName(a.ID, a.Spec), Text: golden(t, a)})
	}
	algotest.Golden(t, "testdata/golden", answers)
}
