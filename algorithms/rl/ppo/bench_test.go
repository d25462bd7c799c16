package ppo_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
)

// wide costs next to nothing, and is as large as the DRL paper's environment.
type wide struct{ at int }

func (e *wide) Shape() env.Shape { return env.Shape{Observation: 106, Actions: 112} }
func (e *wide) Reset(*rand.Rand) { e.at = 0 }
func (e *wide) Observe(x []float32, mask []bool) {
	clear(x)
	x[e.at] = 1
	for j := range mask {
		mask[j] = (j+e.at)%4 == 0
	}
}

func (e *wide) Step(int) (float32, bool) {
	e.at++
	return 1, e.at == 50
}

// BenchmarkIterate is 256x256 with actor and critic apart.
func BenchmarkIterate(b *testing.B) {
	cfg := config()
	cfg.Envs, cfg.Horizon, cfg.Minibatch, cfg.Epochs = 64, 32, 512, 3
	for _, c := range []struct {
		name   string
		hidden []int
	}{{"linear", nil}, {"64x64", []int{64, 64}}, {"256x256", []int{256, 256}}} {
		b.Run(c.name, func(b *testing.B) {
			policy := nn.NewActorCritic(106, c.hidden, 112, nn.Fast(), rand.New(rand.NewPCG(1, 1)))
			tr := ppo.New(cfg, policy, func() env.Env { return &wide{} }, 1)
			iterate(b, tr, 1, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tr.Iterate(context.Background(), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*cfg.Envs*cfg.Horizon)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func TestAllocatesNothing(t *testing.T) {
	tr, _, _ := trainer(t, config(), 1)
	iterate(t, tr, 1, 1)
	if n := testing.AllocsPerRun(3, func() { iterate(t, tr, 1, 1) }); n > 0 {
		t.Errorf("an iteration allocates %v times", n)
	}
}
