package train

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"miglab/algorithms/rl/agents"
	"miglab/algorithms/rl/env"
	"miglab/algorithms/rl/internal/learn"
	"miglab/algorithms/rl/nn"
	"miglab/algorithms/rl/ppo"
	"miglab/algorithms/rl/train/curve"
	"miglab/datasets"
	"miglab/harness/task"
)

// deadlineDays is the number of days over which a point of a learning curve is the mean.
const deadlineDays = 4

// deadlineRecipes lists the deadline report's agents (its Tables 5 and 9).
func deadlineRecipes() (out []*Recipe) {
	for i := range agents.DeadlineAgents {
		a := &agents.DeadlineAgents[i]
		learner, steps := "PPO, as printed", int64(a.Steps)
		if a.Released || a.First {
			learner = "PPO, as released"
		}
		out = append(out, &Recipe{
			Learner: learner, Updates: deadlineConfig(a.DeadlineOptions, steps).Updates(steps),
			Name: a.WeightsName(), Doc: "the deadline report's agent, " + a.Doc, Steps: steps,
			Seeds: firstSeeds(a.Runs), Shipped: a.Runs, Score: latePercent,
			setup: func(k nn.Kernel, steps int64, seed uint64) (setup, error) {
				return deadlineSetup(a, k, steps, seed)
			},
			meta: nn.Meta{Workload: a.Dataset},
		})
	}
	return out
}

// firstSeeds returns the seeds 1 to n.
func firstSeeds(n int) []uint {
	out := make([]uint, n)
	for i := range out {
		out[i] = uint(i + 1)
	}
	return out
}

// deadlineSegments is the number of segments: an episode takes about 4150 steps, and each
// segment restarts all episodes.
const deadlineSegments = 5

// deadlineConfig returns the settings of PPO. Those that neither the report nor the notebook
// names are the defaults of Stable-Baselines3.
//
// The agents of the authors' notebook (Released) are trained as the notebook does it, where
// that differs from the report's text:
//
//   - 1024 steps of each of the 8 environments before an update. The report does not print
//     this number; the agents that follow its text take 2048, the library's default.
//   - The learning rate stays at 3e-4. The notebook sets a falling rate at each step, but the
//     library sets the rate back before each update, so that the annealing of Table 5 has no
//     effect. The entropy coefficient does fall as in Table 5.
//   - The reward of the last step, the energy in it, and scales and bins of the observation
//     are options of the environment ([env.DeadlineOptions]).
//
// Three properties of the notebook are not taken over: the order of random draws; environments that run on between
// segments ([deadlineSegments]), except for agents with Float32 or First; and times in float32, except for agents with
// Float32.
//
// The agents of the earlier notebooks have the settings of these notebooks (RL_project_scheduling.ipynb, cell 10;
// RL_GPU_Scheduling_Production.ipynb and RL_GPU_Scheduling_Relaxed.ipynb, cell 8). Neither Table 1 nor Table 5 has all
// of them. Their learning rate stays constant, too.
//
// The agents that follow the report's text have the settings of Table 5.
func deadlineConfig(o env.DeadlineOptions, steps int64) ppo.Config {
	c := ppo.Config{
		TotalSteps: steps, Gamma: 0.99, Shards: 4,
		Envs: 8, Horizon: 2048, Minibatch: 4096, Epochs: 10, Clip: 0.15,
		LearningRate: learn.Anneal{{Until: 1, From: 3e-4, To: 1e-5}},
		Entropy:      learn.Anneal{{Until: 1, From: 0.02, To: 0.001}},
	}
	constant := learn.Anneal{{Until: 1, From: 3e-4, To: 3e-4}}
	switch {
	case o.First:
		c.Envs, c.Horizon, c.Minibatch, c.Epochs, c.Clip, c.LearningRate = 16, 1024, 2048, 5, 0.2, constant
		c.Entropy = learn.Anneal{{Until: 1, From: 0.001, To: 0.001}}
	case o.Penalty:
		c.Envs, c.Horizon, c.Epochs, c.LearningRate = 4, 1024, 8, constant
		c.Entropy = learn.Anneal{{Until: 1, From: 0.01, To: 0.001}}
	case o.Released:
		c.Horizon, c.LearningRate = 1024, constant
	case o.Original:
		c.Envs, c.Minibatch, c.Epochs, c.Clip = 4, 2048, 5, 0.2
		c.LearningRate = constant
		c.Entropy = learn.Anneal{{Until: 1, From: 0.001, To: 0.001}}
	}
	return c
}

func deadlineSetup(a *agents.DeadlineAgent, k nn.Kernel, steps int64, seed uint64) (setup, error) {
	fleet, draw, err := datasets.DaySampler(a.Dataset, gpu())
	if err != nil {
		return setup{}, err
	}
	source, segmentCount := env.JobSource(draw), int64(deadlineSegments)
	if a.Float32 {
		fleet.Float32, source = true, inFloat32(source)
	}
	if a.Float32 || a.First {
		segmentCount = 1
	}
	newEnv := func() env.Env {
		d, _ := env.NewDeadline(fleet, source, a.DeadlineOptions) // no error: fleet and options are right
		return d
	}
	shape := a.Shape()
	policy := nn.NewActorCritic(shape.Observation, a.Hidden(), shape.Actions, k, newRand(seed))
	c := deadlineConfig(a.DeadlineOptions, steps)
	score, err := deadlineScore(a)
	return setup{
		policy: policy, learner: ppo.New(c, policy, newEnv, seed), score: score, segments: segmentCount,
		text: fmt.Sprintf("%s %+v %+v", a.Dataset, a.DeadlineOptions, c),
	}, err
}

// inFloat32 draws jobs with all times in float32, as the authors' notebook keeps them.
func inFloat32(source env.JobSource) env.JobSource {
	round := func(t task.Minutes) task.Minutes { return task.Minutes(float32(t)) }
	return func(rng *rand.Rand, buf []task.Job) []task.Job {
		jobs := source(rng, buf)
		for i := range jobs {
			j := &jobs[i]
			j.Arrival, j.Deadline = round(j.Arrival), round(j.Deadline)
			for _, size := range gpu().Sizes() {
				j.Set(size, round(j.On(size)))
			}
		}
		return jobs
	}
}

// deadlineScore returns a function that computes the percentage of late jobs on fixed days.
func deadlineScore(a *agents.DeadlineAgent) (func(nn.Policy) (float64, error), error) {
	separator := "?"
	if strings.Contains(a.Dataset, separator) {
		separator = "&"
	}
	spec := fmt.Sprintf("%s%sseed=%d", a.Dataset, separator, curve.Seed)
	days, err := loadInstances[task.Queue](gpu(), spec, deadlineDays)
	if err != nil {
		return nil, err
	}
	begun := 0
	d, err := env.NewDeadline(days[0].Fleet, func(*rand.Rand, []task.Job) []task.Job {
		begun++
		return days[(begun-1)%deadlineDays].Jobs
	}, a.DeadlineOptions)
	if err != nil {
		return nil, err
	}
	return func(p nn.Policy) (float64, error) {
		p = p.Share()
		late, jobs := 0, 0
		for range days {
			d.Reset(nil)
			play(p, d)
			r := d.Result()
			late, jobs = late+r.Late, jobs+r.Jobs
		}
		return 100 * float64(late) / float64(jobs), nil
	}, nil
}
