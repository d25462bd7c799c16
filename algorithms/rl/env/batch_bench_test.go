package env

import (
	"math/rand/v2"
	"testing"

	"miglab/harness/mig"
)

// BenchmarkBatch is one decision: observation, mask, a random allowed action and,
// once in an episode, the drawing of the next.
func BenchmarkBatch(b *testing.B) {
	for name, o := range map[string]BatchOptions{
		"float":      {Levels: 14},
		"direct":     {Levels: 14, Direct: true, RandomStart: true},
		"one-hot":    {Levels: 14, Encoding: OneHot},
		"continuous": {},
		"stream":     {Levels: 14, Direct: true, Stream: 100},
	} {
		b.Run(name, func(b *testing.B) {
			o.GPU, o.Tasks = mig.MustLookup("A100"), 14
			e, err := NewBatch(o, randomTasks(o.GPU))
			if err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 1))
			observation, mask := make([]float32, e.Shape().Observation), make([]bool, e.Shape().Actions)
			e.Reset(rng)
			b.ReportAllocs()
			for b.Loop() {
				e.Observe(observation, mask)
				if _, done := e.Step(choose(rng, mask)); done {
					e.Reset(rng)
				}
			}
		})
	}
}
