package train

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/nn"
	"miglab/harness/curve"
)

const root = "../../.."

// TestShippedRunsHaveCurves: each training run of a shipped agent is there, and its weights are
// those at the end of its curve.
func TestShippedRunsHaveCurves(t *testing.T) {
	for _, r := range Recipes() {
		if !r.Shipped {
			continue
		}
		for _, seed := range r.Seeds {
			file := filepath.Join(root, CurvesFolder, r.Folder(uint64(seed))+".csv")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			points, err := curve.Read(bytes.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			file = filepath.Join(root, WeightsFolder, agents.RunName(r.Name, uint64(seed))+agents.Extension)
			if text, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			meta, _, err := nn.ReadWeights(bytes.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			if steps := points[len(points)-1].Steps; meta.Agent != r.Name || meta.Seed != uint64(seed) || meta.Steps != uint64(steps) || steps < r.Steps {
				t.Errorf("%s: agent %s, seed %d, %d steps; want %s, %d and %d, at least %d", file, meta.Agent, meta.Seed, meta.Steps, r.Name, seed, steps, r.Steps)
			}
		}
	}
}

// What is shipped is what the curve shows: the weights, rounded to half precision and
// evaluated with the portable kernel, score as the curve ends.
func TestShippedWeightsScoreAsTheirCurves(t *testing.T) {
	for _, r := range Recipes() {
		if !r.Shipped || !sampled(r) || r.Score == latePercent {
			continue // days of jobs take too long here
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(r.Seeds[0])
			file := filepath.Join(root, CurvesFolder, r.Folder(seed)+".csv")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			points, err := curve.Read(bytes.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			file = filepath.Join(root, WeightsFolder, r.Name+agents.Extension)
			if text, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			meta, parameters, err := nn.ReadWeights(bytes.NewReader(text), file)
			if err != nil {
				t.Fatal(err)
			}
			last := points[len(points)-1]
			if meta.Steps != uint64(last.Steps) || meta.Seed != seed {
				t.Errorf("the weights are of %d steps and seed %d, the curve of %d and %d", meta.Steps, meta.Seed, last.Steps, seed)
			}
			s, err := r.setup(nn.Portable(), r.Steps, seed)
			if err != nil {
				t.Fatal(err)
			}
			p := s.policy
			if a, ok := p.(*nn.ActorCritic); ok {
				p = a.Actor()
			}
			if err := nn.LoadInto(p, file, meta, parameters); err != nil {
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
