package agents

import (
	"cmp"
	"embed"
	"fmt"
	"slices"

	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/nearest"
	"miglab/harness/sim"
	"miglab/harness/strictcsv"
)

// DeadlineSlices is the number of slices of the fleet in the deadline report.
const DeadlineSlices = 20

// A DeadlineAgent is one way to train the deadline report's agent: a row of deadline.csv.
type DeadlineAgent struct {
	// Name is the value of the parameter training, and Doc its meaning.
	Name    string `csv:"training"`
	Doc     string `csv:"doc"`
	Dataset string `csv:"dataset"` // names the dataset that the agent learns from
	env.DeadlineOptions
	// Float32 trains with the clock of the authors' notebook. As there, no day is then cut short by the end of a
	// segment of the training. With First, no day is cut short either.
	Float32 bool `csv:"float32"`
	// Steps is the length of the training. If no day is cut short, it is a multiple of the steps of an update.
	Steps int `csv:"steps"`
	// Runs is the number of training runs. Numbers about an agent that the report prints are judged over all runs.
	Runs int `csv:"runs"`
}

// WeightsName is the name of the agent's weights, in the first run.
func (a *DeadlineAgent) WeightsName() string { return deadlinePrefix + a.Name }

// deadlinePrefix begins the names of weights.
const deadlinePrefix = "rl-deadline-"

//go:embed deadline.csv
var deadlineFile embed.FS

// DeadlineAgents lists the trained agents in the report's tables, and some more to compare with them. The first follows
// the authors' notebook of the enhanced version; [env.DeadlineOptions] and the recipe in package train say where the
// notebook differs from the report's text. The agent original is the original version as the report describes it. The
// agent notebook is the same version as in the authors' notebook, which pre-empts jobs.
var DeadlineAgents = strictcsv.Embedded[DeadlineAgent](deadlineFile, "deadline.csv",
	"released", "original", "sparse", "energy", "first", "penalty", "float32")

// Hidden are the hidden layers of actor and critic (Table 5).
func (a *DeadlineAgent) Hidden() []int {
	if a.First || a.Original && !a.Released {
		return []int{256, 256}
	}
	return []int{256, 256, 128}
}

var _ = algo.Register(algo.Spec{
	Name: "rl-deadline", Version: 2, Cite: "deadline report 3",
	Summary: "the report's agent: PPO on the slices' sizes and the queue",
	Params: []algo.Param{
		{
			Name: "training", Default: DeadlineAgents[0].Name, Doc: "how it was trained (miglab list agents)",
			Values: nearest.Names(DeadlineAgents, func(a DeadlineAgent) string { return a.Name }),
		},
		seedParam("rl-deadline", "; not every training has all"), fileParam("rl-deadline"),
	},
	Weights:  func(a algo.Args) string { return weightsHash(deadlineWeights(a)) },
	Together: together,
	New:      algo.NewDispatcher(newDeadline),
})

// deadlineAgent returns the agent of a training, or of the training of the user's weights.
func deadlineAgent(args algo.Args) (DeadlineAgent, error) {
	name := deadlinePrefix + args["training"]
	if path := args[fileKey]; path != "" {
		meta, _ := readMeta(path) // Parse has read it without an error
		name = meta.Agent
	}
	return nearest.Find("agent", name, DeadlineAgents, func(a DeadlineAgent) string { return a.WeightsName() })
}

// deadlineWeights returns the name of the weights of a training run, or the path of the user's weights.
func deadlineWeights(args algo.Args) string {
	return cmp.Or(args[fileKey], RunName(deadlinePrefix+args["training"], uint64(args.Int("seed"))))
}

// deadline implements [sim.BatchDispatcher].
type deadline struct {
	policy  nn.Policy
	options env.DeadlineOptions
	rows    env.Rows // by queue
}

func newDeadline(args algo.Args, s sim.DispatchSetting) (sim.Dispatcher, error) {
	if s.Slices != DeadlineSlices {
		return nil, &algo.UnsupportedError{
			What:   fmt.Sprintf("a fleet of %d slices", s.Slices),
			Reason: fmt.Sprint("it was trained for ", DeadlineSlices),
		}
	}
	a, err := deadlineAgent(args)
	if err != nil {
		return nil, err
	}
	shape := a.Shape()
	p, err := loadPolicy(deadlineWeights(args), func() nn.Policy {
		return nn.NewActor(shape.Observation, a.Hidden(), shape.Actions, nn.Portable())
	})
	if err != nil {
		return nil, err
	}
	return &deadline{policy: p.Share(), options: a.DeadlineOptions}, nil
}

// Shape returns the sizes of the agent's observations and actions.
func (a *DeadlineAgent) Shape() env.Shape { return a.DeadlineOptions.Shape(DeadlineSlices) }

// Dispatch implements [sim.Dispatcher]. A single free slice needs no network: more than
// half of the decisions on the report's days are of that kind.
func (d *deadline) Dispatch(q *sim.Queue) int {
	if q.Free() == 1 {
		return slices.IndexFunc(q.Slices(), func(s sim.Slice) bool { return !s.Busy })
	}
	var choice [1]int
	d.DispatchAll([]*sim.Queue{q}, choice[:])
	return choice[0]
}

// DispatchAll implements [sim.BatchDispatcher].
func (d *deadline) DispatchAll(queues []*sim.Queue, choices []int) {
	actions := d.policy.Actions()
	d.rows.Resize(env.Shape{Observation: d.policy.Inputs(), Actions: actions}, len(queues))
	for i, q := range queues {
		d.options.Observe(q, d.rows.Observation(i), d.rows.Mask(i))
	}
	preferences, _ := d.policy.Forward(d.rows.Observations, len(queues))
	for i := range queues {
		choices[i] = env.Likeliest(preferences[i*actions:(i+1)*actions], d.rows.Mask(i))
	}
}
