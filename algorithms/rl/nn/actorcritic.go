package nn

import (
	"math"
	"math/rand/v2"
	"slices"
)

// An ActorCritic is two separate tanh networks of the same hidden layers, one for
// the preferences and one for the value, as Stable-Baselines3's MlpPolicy. The
// actor's parameters come first. It implements [Policy].
type ActorCritic struct {
	network
	actor, critic *MLP
}

// NewActorCritic returns a network with freshly drawn parameters.
func NewActorCritic(inputs int, hidden []int, actions int, kernel Kernel, rng *rand.Rand) *ActorCritic {
	a := &ActorCritic{network: network{inputs: inputs, actions: actions, hidden: slices.Clone(hidden), kernel: kernel}}
	a.parameters = make([]float32, a.actorSize()+MLPSize(chain(inputs, hidden, 1)...))
	a.build()
	a.actor.Initialise(math.Sqrt2, 0.01, rng)
	a.critic.Initialise(math.Sqrt2, 1, rng)
	return a
}

func (a *ActorCritic) actorSize() int { return MLPSize(chain(a.inputs, a.hidden, a.actions)...) }

func (a *ActorCritic) build() {
	a.gradients = make([]float32, len(a.parameters))
	size := a.actorSize()
	a.actor = NewMLP(chain(a.inputs, a.hidden, a.actions), Tanh, None, a.parameters, a.gradients)
	a.critic = NewMLP(chain(a.inputs, a.hidden, 1), Tanh, None, a.parameters[size:], a.gradients[size:])
}

// Actor returns the network without its critic, on the same parameters.
func (a *ActorCritic) Actor() *Actor {
	return actorOn(a.parameters[:a.actorSize()], a.inputs, a.hidden, a.actions, a.kernel)
}

// String implements [Policy].
func (a *ActorCritic) String() string {
	return "actor-critic " + architecture(chain(a.inputs, a.hidden, a.actions)) + " tanh"
}

// Forward implements [Policy].
func (a *ActorCritic) Forward(observations []float32, n int) (preferences, values []float32) {
	return a.actor.Forward(a.kernel, observations, n), a.critic.Forward(a.kernel, observations, n)
}

// Backward implements [Policy].
func (a *ActorCritic) Backward(dPreferences, dValues []float32) {
	a.actor.Backward(a.kernel, dPreferences)
	a.critic.Backward(a.kernel, dValues)
}

// Share implements [Policy].
func (a *ActorCritic) Share() Policy {
	s := *a
	s.build()
	return &s
}

// An Actor is an [ActorCritic]'s first half, all that decisions need. It
// implements [Policy]; its values are nil.
type Actor struct {
	network
	actor *MLP
}

// NewActor returns an actor whose parameters are zero, for weights to be loaded.
func NewActor(inputs int, hidden []int, actions int, kernel Kernel) *Actor {
	parameters := make([]float32, MLPSize(chain(inputs, hidden, actions)...))
	return actorOn(parameters, inputs, slices.Clone(hidden), actions, kernel)
}

func actorOn(parameters []float32, inputs int, hidden []int, actions int, kernel Kernel) *Actor {
	a := &Actor{network: network{inputs, actions, hidden, kernel, parameters, make([]float32, len(parameters))}}
	a.actor = NewMLP(chain(inputs, hidden, actions), Tanh, None, a.parameters, a.gradients)
	return a
}

// String implements [Policy].
func (a *Actor) String() string {
	return "actor " + architecture(chain(a.inputs, a.hidden, a.actions)) + " tanh"
}

// Forward implements [Policy].
func (a *Actor) Forward(observations []float32, n int) (preferences, values []float32) {
	return a.actor.Forward(a.kernel, observations, n), nil
}

// Backward implements [Policy].
func (a *Actor) Backward(dPreferences, _ []float32) { a.actor.Backward(a.kernel, dPreferences) }

// Share implements [Policy].
func (a *Actor) Share() Policy {
	return actorOn(a.parameters, a.inputs, a.hidden, a.actions, a.kernel)
}

var _, _ Policy = (*ActorCritic)(nil), (*Actor)(nil)
