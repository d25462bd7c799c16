package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train"
	"miglab/harness/deep"
)

// What recipes train is what agents load: each of them by its name, and networks of
// the same description.
func TestRecipesTrainWhatAgentsLoad(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	want, shipped := agents.Networks(), 0
	for _, r := range train.Recipes() {
		if !r.Shipped {
			continue
		}
		if shipped++; shipped%deep.N(6, 1) != 0 { // to prepare a network takes long
			if _, ok := want[r.Name]; !ok {
				t.Errorf("no agent loads %s", r.Name)
			}
			delete(want, r.Name)
			continue
		}
		dir := t.TempDir()
		// It writes down what the run is, and ends before the first step.
		if _, err := train.Run(ended, r, train.Options{Seed: 1, Dir: dir, Kernel: nn.Portable()}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, r.Folder(1), "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		var run struct{ Network string }
		if err := json.Unmarshal(text, &run); err != nil {
			t.Fatal(err)
		}
		// The critic is not shipped.
		trains := strings.Replace(run.Network, "actor-critic", "actor", 1)
		switch loads, ok := want[r.Name]; {
		case !ok:
			t.Errorf("no agent loads %s", r.Name)
		case trains != loads:
			t.Errorf("%s trains %q, and the agent loads %q", r.Name, trains, loads)
		}
		delete(want, r.Name)
	}
	for name := range want {
		t.Errorf("no recipe trains %s", name)
	}
}
