package env

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// Encoding is the representation of task times in an observation (DRL 6.4).
type Encoding uint8

const (
	Float  Encoding = iota // writes a time as a fraction of the largest one
	OneHot                 // writes a time as a vector with a 1 at its level
)

// UnmarshalText reads "float" or "one-hot". The error is a [*nearest.UnknownError].
func (e *Encoding) UnmarshalText(name []byte) error {
	names := []string{Float: "float", OneHot: "one-hot"}
	i := slices.Index(names, string(name))
	if i < 0 {
		return nearest.Unknown("encoding", string(name), names)
	}
	*e = Encoding(i)
	return nil
}

// BatchOptions choose a variant of the DRL paper's MDP. The zero values of all fields except GPU and Tasks are the
// paper's first model, in continuous time. Fields with a name in JSON are options of the library for Python.
type BatchOptions struct {
	GPU *mig.GPU `json:"-"`
	// Model is the cost model of [Batch.Device]. In the MDP itself, slices always reconfigure in parallel (DRL 4.2).
	Model    mig.Reconfiguration `json:"-"`
	Tasks    int                 `json:"-"`        // N, the number of tasks that the agent sees at once
	Levels   int                 `json:"levels"`   // M, the levels of time, up to MaxLevels; 0 means continuous time
	Encoding Encoding            `json:"encoding"` // Float in continuous time
	Direct   bool                `json:"direct"`   // makes every reconfiguration wait for its slices (DRL 6.5.2)
	// Stream is the number of tasks of an episode that Reset draws. Those beyond the first N replenish the batch in
	// order of arrival (DRL 3, online). 0 means N, the offline batch.
	Stream int `json:"stream"`
	// RandomStart makes Reset begin in a random canonical partition. Each of its instances is busy
	// with probability 1/2, for a random time up to the largest time of a task. Without RandomStart, Reset begins
	// with the whole GPU as one idle instance.
	RandomStart bool `json:"random_start"`
	// Released follows the released code where it differs from the text. There are M+1 levels, round(t/step)+1.
	// Observations are plain numbers divided by the largest of M+1, N and the number of partitions. Slices are renamed
	// only as the partition requires. Rewards are levels. At a random start each instance is busy for 0 to M levels.
	Released bool `json:"released"`
	// Reconfiguration is the time of reconfiguring a slice in the MDP; 0 means the times of the
	// GPU model. The released code of the online agent has 0.7 s.
	Reconfiguration mig.Seconds `json:"-"`
	// StartInLevels shows a slice that is busy for x seconds as busy for x levels when Load begins on an unused
	// device. In the released evaluation the environment draws levels, which compute_makespan counts as seconds.
	StartInLevels bool `json:"-"`
	// Listed shows the tasks of the batch one by one in order of arrival, each as a class of its own, instead
	// of sorting and grouping them (DRL 4.1, "Canonical state representation").
	Listed bool `json:"-"`
	// Penalty, unless it is 0, allows every action, for training without action masking (end of DRL 4.2). A forbidden
	// action then costs the penalty and has no other effect; Step goes by the last Observe. A penalty of 1 is as much
	// as waiting for the largest time of the episode's tasks.
	Penalty float32 `json:"-"`
	// Unmerged makes each of the useful partitions a state and an action of its own and keeps the slices under
	// their real names, instead of unifying equivalent partitions (DRL 4.1, "Equivalent configurations").
	Unmerged bool `json:"-"`
}

// MaxLevels is the largest M.
const MaxLevels = 1000
