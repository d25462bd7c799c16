package dqn_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"miglab/algorithms/rl/dqn"
	"miglab/algorithms/rl/env"
)

// deals is two decisions. In each there are two to four candidates, numbers from 0 to 4 without
// repetition; action 0 earns the number of the candidate over 10, and action 1, which only even
// numbers allow, a little more. The second decision has what is left of the first.
type deals struct {
	left    []int
	current int
	illegal *int
}

func (d *deals) Shape() env.Shape { return env.Shape{Observation: places, Actions: 4} }

func (d *deals) Reset(rng *rand.Rand) {
	d.left = rng.Perm(places)[:3+rng.IntN(2)]
	d.current = 0
}

func (d *deals) Candidates() int { return len(d.left) }

func (d *deals) Choose(k int) { d.current = k }

// Observe shows the number and, as a half, what would be left.
func (d *deals) Observe(x []float32, mask []bool) {
	clear(x)
	clear(mask)
	for i, v := range d.left {
		x[v] = 0.5
		if i == d.current {
			x[v] = 1
			mask[0], mask[1] = true, v%2 == 0
		}
	}
}

func (d *deals) Step(action int) (float32, bool) {
	v := d.left[d.current]
	if action > 1 || action == 1 && v%2 > 0 {
		*d.illegal++
	}
	// The number itself is lost, and one below it with it: greed does not pay.
	reward := float32(v)/10 + float32(action)/20
	rest := d.left[:0:0]
	for _, o := range d.left {
		if o != v && (o != v-1 || action == 0) {
			rest = append(rest, o)
		}
	}
	first := len(d.left) > 2
	d.left, d.current = rest, 0
	return reward, !first || len(rest) == 0
}

// best returns the highest sum of rewards from a state, by trying everything.
func (d *deals) best() float64 {
	best := 0.0
	for k := range d.left {
		for action := range 2 {
			if action == 1 && d.left[k]%2 > 0 {
				continue
			}
			next := deals{left: d.left, current: k}
			reward, done := next.Step(action)
			total := float64(reward)
			if !done {
				total += gamma * next.best()
			}
			best = max(best, total)
		}
	}
	return best
}

// The agent chooses the candidate and the action together, and plays as well as is possible.
func TestChoosesAmongCandidates(t *testing.T) {
	cfg := config()
	cfg.Double, cfg.TotalSteps = true, 24_000
	illegal := new(int)
	policy := network([]int{32}, true, 1)
	tr := dqn.New(cfg, policy, network([]int{32}, true, 2), func() env.Env { return &deals{illegal: illegal} }, 1)
	iterate(t, tr, 24_000/128, 1)
	if *illegal > 0 {
		t.Errorf("%d masked actions taken", *illegal)
	}
	var d deals
	d.illegal = illegal
	var candidates env.Candidates
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		d.Reset(rng)
		want, got, discount := d.best(), 0.0, 1.0
		for done := false; !done; discount *= gamma {
			choice := candidates.Best(&d, policy.Forward)
			d.Choose(choice.Candidate)
			var reward float32
			reward, done = d.Step(choice.Action)
			got += discount * float64(reward)
		}
		if math.Abs(got-want) > 0.03 {
			t.Errorf("%v, and %v is possible", got, want)
		}
	}
}

// The number of workers changes nothing, and a run that continues after a checkpoint is the same.
func TestCandidatesAreDeterministic(t *testing.T) {
	var want []float32
	for workers := 1; workers <= 3; workers++ {
		policy := network([]int{8}, true, 1)
		tr := dqn.New(config(), policy, network([]int{8}, true, 2), func() env.Env { return &deals{illegal: new(int)} }, 1)
		iterate(t, tr, 4, workers)
		tr.Restart(1)
		iterate(t, tr, 4, workers)
		if want == nil {
			want = policy.Parameters()
			continue
		}
		for i, v := range policy.Parameters() {
			if v != want[i] {
				t.Fatalf("%d workers: parameter %d is %v, want %v", workers, i, v, want[i])
			}
		}
	}
}
