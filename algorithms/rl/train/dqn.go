package train

import (
	"errors"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
)

func (p paperRun) setupDQN(k nn.Kernel, shape env.Shape, make func() env.Env, score func(nn.Policy) (float64, error), steps int64, seed uint64) (setup, error) {
	return setup{}, errors.New("not yet")
}
