package agents

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// writeOwn writes weights with the parameters of embedded ones to a file of the user.
func writeOwn(t *testing.T, embedded string, change func(*nn.Meta)) (path string) {
	t.Helper()
	text, err := readFile("weights/" + embedded + Extension)
	if err != nil {
		t.Fatal(err)
	}
	meta, parameters, err := nn.ReadWeights(text, embedded)
	if err != nil {
		t.Fatal(err)
	}
	change(&meta)
	var b bytes.Buffer
	if err := nn.WriteWeights(&b, meta, parameters); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "own"+Extension)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOwnWeights: a user's copy of built-in weights has their identity and makes their decisions.
func TestOwnWeights(t *testing.T) {
	for _, c := range []struct{ builtIn, weights, id, gpu string }{
		{"agent?workload=POORSCALING", "agent-POORSCALING", "agent", "A100"},
		{"agent", "agent-A30-ANY", "agent", "A30"},
		{"rl-direct?seed=2&workload=POORSCALING", "rl-direct-POORSCALING-seed2", "rl-direct", "A100"},
	} {
		path := writeOwn(t, c.weights, func(*nn.Meta) {})
		own, builtIn := algo.MustParse(c.id+"?weights="+path), algo.MustParse(c.builtIn)
		if own.Weights() == "" || !strings.HasSuffix(builtIn.Weights(), own.Weights()) {
			t.Errorf("%s: weights %s, want the end of %s", c.weights, own.Weights(), builtIn.Weights())
		}
		p := algo.Problem{GPU: mig.MustLookup(c.gpu)}
		for i := range 12 {
			s := mig.Seconds(i + 3)
			p.Tasks = append(p.Tasks, task.New("t", map[mig.Slices]mig.Seconds{1: 3 * s, 2: 2 * s, 3: s + 1, 4: s, 7: s / 2}))
		}
		got, err := answer(own, p)
		want, failed := answer(builtIn, p)
		if err != nil || failed != nil || got.Makespan() != want.Makespan() {
			t.Errorf("%s: makespan %v, %v; want %v, %v", c.weights, got.Makespan(), err, want.Makespan(), failed)
		}
	}
	path := writeOwn(t, "agent-A30-ANY", func(*nn.Meta) {})
	p := algo.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 9})}}
	if _, err := answer(algo.MustParse("agent?weights="+path), p); err == nil || !strings.Contains(err.Error(), "partitions of A30") {
		t.Errorf("weights for the A30 on the A100: %v", err)
	}
}

// TestOwnDeadlineWeights: the training is the one that the file names.
func TestOwnDeadlineWeights(t *testing.T) {
	path := writeOwn(t, "rl-deadline-original", func(*nn.Meta) {})
	own, builtIn := algo.MustParse("rl-deadline?weights="+path), algo.MustParse("rl-deadline?training=original")
	d, err := own.Dispatcher(sim.DispatchSetting{Slices: DeadlineSlices})
	if err != nil || own.Weights() != builtIn.Weights() || !d.(*deadline).options.Original {
		t.Errorf("%v, weights %s, want %s and the original's options", err, own.Weights(), builtIn.Weights())
	}
	for _, with := range []string{"seed=1", "training=original"} {
		if _, err := algo.Parse("rl-deadline?" + with + "&weights=" + path); err == nil || !strings.Contains(err.Error(), "give either it or weights") {
			t.Errorf("with %s: %v", with, err)
		}
	}
}

// TestOwnWeightsOfAnotherEnvironment: weights whose observations would be wrong are refused.
func TestOwnWeightsOfAnotherEnvironment(t *testing.T) {
	for want, change := range map[string]func(*nn.Meta){
		"learned with N=14 M=7, and rl-float decides with N=14 M=14": func(m *nn.Meta) { m.Levels = 7 },
		"learned with N=14 M=14 released,":                           func(m *nn.Meta) { m.Environment = "released" },
		`it holds agent "rl-floats", want rl-float`:                  func(m *nn.Meta) { m.Agent = "rl-floats" },
	} {
		path := writeOwn(t, "rl-float-WIDETIMES", change)
		_, err := algo.Parse("rl-float?weights=" + path)
		if !errors.Is(err, nn.ErrNetwork) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
