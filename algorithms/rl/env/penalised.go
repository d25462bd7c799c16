package env

import "math/rand/v2"

// Penalised allows every action of a [Batch], for training without action masking (end of DRL 4.2). A
// forbidden action costs a penalty and has no other effect.
type Penalised struct {
	*Batch
	penalty float32
	allowed []bool
}

// NewPenalised returns such an environment. A penalty of 1 is as much as waiting for the largest time of the
// episode's tasks.
func NewPenalised(b *Batch, penalty float32) *Penalised {
	return &Penalised{b, penalty, make([]bool, b.Shape().Actions)}
}

// Reset implements [Env].
func (p *Penalised) Reset(rng *rand.Rand) {
	p.Batch.Reset(rng)
	p.allow(p.allowed)
}

// Observe implements [Env]. The mask allows everything.
func (p *Penalised) Observe(observation []float32, mask []bool) {
	p.observe(observation)
	for i := range mask {
		mask[i] = true
	}
}

// Step implements [Env].
func (p *Penalised) Step(action int) (reward float32, done bool) {
	if !p.allowed[action] {
		return -p.penalty, false
	}
	reward, done = p.Batch.Step(action)
	if !done {
		p.allow(p.allowed)
	}
	return reward, done
}
