package nn

import (
	"math"
	"math/rand/v2"
	"slices"
)

// An ActorCritic is two separate tanh networks of the same hidden layers, one for the preferences and one for the
// value, as Stable-Baselines3's MlpPolicy. The actor's parameters come first. Without a critic it is an actor alone,
// all that decisions need, and its values are nil. It implements [Policy].
type ActorCritic struct {
	network
	alone         bool // there is no critic
	actor, critic *MLP
}

// NewActorCritic returns a network with freshly drawn parameters. Without rng they are zero.
func NewActorCritic(inputs int, hidden []int, actions int, kernel Kernel, rng *rand.Rand) *ActorCritic {
	a := &ActorCritic{network: network{inputs: inputs, actions: actions, hidden: slices.Clone(hidden), kernel: kernel}}
	a.parameters = make([]float32, a.actorSize()+MLPSize(chain(inputs, hidden, 1)...))
	a.build()
	a.actor.Initialise(math.Sqrt2, 0.01, rng)
	a.critic.Initialise(math.Sqrt2, 1, rng)
	return a
}

// NewActor returns an actor whose parameters are zero, for weights to be loaded.
func NewActor(inputs int, hidden []int, actions int, kernel Kernel) *ActorCritic {
	return NewActorCritic(inputs, hidden, actions, kernel, nil).Actor()
}

func (a *ActorCritic) actorSize() int { return MLPSize(chain(a.inputs, a.hidden, a.actions)...) }

func (a *ActorCritic) build() {
	a.gradients = make([]float32, len(a.parameters))
	a.actor = NewMLP(chain(a.inputs, a.hidden, a.actions), Tanh, None, a.parameters, a.gradients)
	if !a.alone {
		size := a.actorSize()
		a.critic = NewMLP(chain(a.inputs, a.hidden, 1), Tanh, None, a.parameters[size:], a.gradients[size:])
	}
}

// Actor returns the network without its critic, on the same parameters.
func (a *ActorCritic) Actor() *ActorCritic {
	actor := &ActorCritic{network: a.network, alone: true}
	actor.parameters = a.parameters[:a.actorSize()]
	actor.build()
	return actor
}

// String implements [Policy].
func (a *ActorCritic) String() string {
	name := "actor-critic "
	if a.alone {
		name = "actor "
	}
	return name + architecture(chain(a.inputs, a.hidden, a.actions)) + " tanh"
}

// Forward implements [Policy].
func (a *ActorCritic) Forward(observations []float32, n int) (preferences, values []float32) {
	if !a.alone {
		values = a.critic.Forward(a.kernel, observations, n)
	}
	return a.actor.Forward(a.kernel, observations, n), values
}

// Preferences is [ActorCritic.Forward] without the values.
func (a *ActorCritic) Preferences(observations []float32, n int) []float32 {
	return a.actor.Forward(a.kernel, observations, n)
}

// Values is [ActorCritic.Forward] without the preferences. There must be a critic.
func (a *ActorCritic) Values(observations []float32, n int) []float32 {
	return a.critic.Forward(a.kernel, observations, n)
}

// Backward implements [Policy].
func (a *ActorCritic) Backward(dPreferences, dValues []float32) {
	a.actor.Backward(a.kernel, dPreferences)
	if !a.alone {
		a.critic.Backward(a.kernel, dValues)
	}
}

// Share implements [Policy].
func (a *ActorCritic) Share() Policy {
	s := *a
	s.build()
	return &s
}
