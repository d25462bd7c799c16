package nn

// A Policy is a network that maps observations to the preferences of actions and to the value of the state: an actor
// with a critic, or action values without one. It is used by one goroutine at a time.
type Policy interface {
	// Inputs and Actions are the lengths of one observation and of its preferences.
	Inputs() int
	Actions() int
	// Forward computes n observations, stored one after the other: preferences holds n times Actions() values, values n
	// (nil if the network has no critic). Both belong to the policy and are valid until the next Forward.
	Forward(observations []float32, n int) (preferences, values []float32)
	// Backward sets Gradients to the gradients of a loss. The arguments are the derivatives of the loss by the results
	// of the last Forward; dValues is nil if the network has no critic.
	Backward(dPreferences, dValues []float32)
	// Parameters and Gradients return the network's own slices, which have the same length.
	Parameters() []float32
	Gradients() []float32
	// Share returns a policy for another goroutine: it has the same parameters but its own gradients and activations.
	Share() Policy
	// String describes the architecture, for example "actor-critic 106-256-256-112
	// tanh". Weights fit every policy with the same description.
	String() string
}

// A network holds the common fields of the policies of fully connected layers.
type network struct {
	inputs, actions       int
	hidden                []int
	kernel                Kernel
	parameters, gradients []float32
}

func (n *network) Inputs() int { return n.inputs }

func (n *network) Actions() int { return n.actions }

func (n *network) Parameters() []float32 { return n.parameters }

func (n *network) Gradients() []float32 { return n.gradients }
