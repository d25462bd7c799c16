package train

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/train/curve"
)

// The project's folders for weights and curves.
const (
	weightsFolder = "../agents/weights"
	curvesFolder  = "curve/runs"
)

// readWeights reads the shipped weights of a run.
func readWeights(t *testing.T, r *Recipe, seed uint) (nn.Meta, []float32) {
	t.Helper()
	file := filepath.Join(weightsFolder, agents.RunName(r.Name, uint64(seed))+agents.Extension)
	meta, parameters, err := nn.ReadWeights([]byte(mustRead(t, file)), file)
	if err != nil {
		t.Fatal(err)
	}
	return meta, parameters
}

// lastPoint returns the end of a run's curve.
func lastPoint(t *testing.T, r *Recipe, seed uint) curve.Point {
	t.Helper()
	file := filepath.Join(curvesFolder, r.Folder(uint64(seed))+".csv")
	points, err := curve.Read(strings.NewReader(mustRead(t, file)), file)
	if err != nil {
		t.Fatal(err)
	}
	return points[len(points)-1]
}

// Each training run of a shipped agent has weights, which are those at the end of its curve. There are no others.
func TestShippedRunsHaveCurves(t *testing.T) {
	runs := 0
	for _, r := range Recipes() {
		for _, seed := range r.Seeds[:r.Shipped] {
			runs++
			meta, _ := readWeights(t, r, seed)
			steps := lastPoint(t, r, seed).Steps
			if meta.Agent != r.Name || meta.Seed != uint64(seed) || meta.Steps != uint64(steps) || steps < r.Steps {
				t.Errorf("%s, seed %d: agent %s, seed %d, %d steps; want %d, at least %d", r.Name, seed, meta.Agent, meta.Seed, meta.Steps, steps, r.Steps)
			}
		}
	}
	if files, err := filepath.Glob(filepath.Join(weightsFolder, "*"+agents.Extension)); len(files) != runs {
		t.Errorf("%d files of weights, want one for each of %d runs; %v", len(files), runs, err)
	}
}

// What is shipped is what the curve shows: the weights, rounded to half precision and
// evaluated with the portable kernel, score as the curve ends.
func TestShippedWeightsScoreAsTheirCurves(t *testing.T) {
	for _, r := range Recipes() {
		if r.Shipped == 0 || !sampled(r) || r.Score == latePercent {
			continue // days of jobs take too long here
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			last := lastPoint(t, r, r.Seeds[0])
			meta, parameters := readWeights(t, r, r.Seeds[0])
			s, err := r.setup(nn.Portable(), r.Steps, uint64(r.Seeds[0]))
			if err != nil {
				t.Fatal(err)
			}
			p := s.policy
			if a, ok := p.(*nn.ActorCritic); ok {
				p = a.Actor()
			}
			if err := nn.LoadInto(p, r.Name, meta, parameters); err != nil {
				t.Fatal(err)
			}
			score, err := s.score(p)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.3f, with single precision %.3f", score, last.Score)
			// A tenth of a point: a decision between equals may turn. Throughput is in units
			// of time sharing's.
			tolerance := 0.1
			if r.Score == throughput {
				tolerance = 0.002
			}
			if math.Abs(score-last.Score) > tolerance {
				t.Errorf("%s is %.4f, and %.4f at the end of the curve", r.Score, score, last.Score)
			}
		})
	}
}

// TestTrainedAgain: a recipe of each kind, trained again, has the curve that the project keeps. Those that are quick
// go to the end, where the weights too must have the same bytes; of the others the first segments are compared.
func TestTrainedAgain(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" || nn.Fast() == nn.Portable() {
		t.Skip("takes minutes, with AVX2 and GOEXPERIMENT=simd; make test-long sets MIGLAB_LONG=1")
	}
	const toTheEnd = math.MaxInt
	for _, again := range []struct {
		name     string
		segments int
	}{
		{"agent-WIDETIMES", toTheEnd},
		{"rl-deadline-original", toTheEnd},
		{"d3qn-own", toTheEnd},
		{"rl-float-WIDETIMES", toTheEnd},
		{"rl-onehot-WIDETIMES", 2},
		{"rl-direct-WIDETIMES", 2},
		{"rl-online-WIDETIMES", 1},
		{"rl-float-GOODSCALING-dqn-64", 1},
		{"rl-float-WIDETIMES-released", 2},
	} {
		t.Run(again.name, func(t *testing.T) {
			t.Parallel()
			r, err := Find(again.name)
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Steps: r.Steps, Seed: 1, Dir: t.TempDir(), Workers: 1, Kernel: nn.Fast()}
			s := &session{Options: o, recipe: r}
			if err := s.begin(); err != nil {
				t.Fatal(err)
			}
			for s.done() < o.Steps && len(s.curve) < again.segments {
				if err := s.advance(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			want := mustRead(t, filepath.Join(curvesFolder, r.Folder(1)+".csv"))
			got := mustRead(t, r.CurveFile(o))
			if same := strings.HasPrefix(want, got); !same || again.segments == toTheEnd && got != want {
				t.Errorf("another curve:\n%s", got)
			}
			if again.segments < toTheEnd {
				return
			}
			if _, err := s.finish(); err != nil {
				t.Fatal(err)
			}
			kept := filepath.Join(weightsFolder, r.Name+agents.Extension)
			if mustRead(t, kept) != mustRead(t, r.WeightsFile(o)) {
				t.Error("other weights")
			}
		})
	}
}
