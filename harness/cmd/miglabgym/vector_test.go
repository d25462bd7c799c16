package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
)

func open1(t *testing.T, name, options string, count int64, seed uint64) (*vector, *buffers) {
	t.Helper()
	v, err := newVector(name, options, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	n := int(count)
	return v, &buffers{
		observations: make([]float32, n*v.shape.Observation), masks: make([]bool, n*v.shape.Actions), facts: make([]float64, n*len(v.facts)),
		rewards: make([]float32, n), done: make([]bool, n), metrics: make([]float64, n*len(v.metrics)),
	}
}

// again resets the environments that are done.
func again(t *testing.T, v *vector, b *buffers) {
	t.Helper()
	if slices.Contains(b.done, true) {
		if err := v.reset(b.done, b); err != nil {
			t.Fatal(err)
		}
	}
}

// small are options of each kind that make episodes short.
var small = map[string]string{
	"deadline": `{"dataset":"deadline/tight?gpus=4-3+7","sparse":true}`,
	"own":      `{"tasks":3,"start":0.5}`,
	"batch":    `{"tasks":3,"levels":14,"encoding":"one-hot"}`,
}

// choose draws allowed actions.
func choose(rng *rand.Rand, v *vector, b *buffers) []int64 {
	actions := make([]int64, len(v.envs))
	for i := range actions {
		seen := int64(0)
		for a, ok := range b.masks[i*v.shape.Actions:][:v.shape.Actions] {
			if ok {
				if seen++; rng.Int64N(seen) == 0 {
					actions[i] = int64(a)
				}
			}
		}
	}
	return actions
}

// TestVectorIsItsEnvironments repeats each environment of a vector with one of its
// own, episode by episode.
func TestVectorIsItsEnvironments(t *testing.T) {
	for name := range kinds {
		v, b := open1(t, name, small[name], 3, 40)
		if err := v.reset(nil, b); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		var singles []*vector
		var shown []*buffers
		for i := range uint64(3) {
			s, sb := open1(t, name, small[name], 1, 40+i)
			if err := s.reset(nil, sb); err != nil {
				t.Fatal(err)
			}
			singles, shown = append(singles, s), append(shown, sb)
		}
		done := 0
		for steps := 0; steps < 5000 && (done < 6 || deep.On()); steps++ {
			actions := choose(rng, v, b)
			if err := v.step(actions, b); err != nil {
				t.Fatal(err)
			}
			for i, s := range singles {
				if err := s.step(actions[i:i+1], shown[i]); err != nil {
					t.Fatal(err)
				}
				m := len(v.metrics)
				alone := shown[i]
				same := slices.Equal(b.observations[i*v.shape.Observation:][:v.shape.Observation], alone.observations) &&
					slices.Equal(b.masks[i*v.shape.Actions:][:v.shape.Actions], alone.masks) && b.rewards[i] == alone.rewards[0] && b.done[i] == alone.done[0] &&
					(slices.Equal(b.metrics[i*m:][:m], alone.metrics) || !b.done[i] && math.IsNaN(alone.metrics[0]))
				if !same {
					t.Fatalf("%s: environment %d of %+v is another one alone: %+v", name, i, b, alone)
				}
				if b.done[i] == math.IsNaN(b.metrics[i*m]) {
					t.Fatalf("%s: done %v with metrics %v", name, b.done[i], b.metrics)
				}
				if b.done[i] {
					done++
				}
				again(t, s, alone)
			}
			again(t, v, b)
		}
		if done < 3 {
			t.Errorf("%s: %d episodes were done", name, done)
		}
	}
}

func TestWrongActionsChangeNothing(t *testing.T) {
	v, b := open1(t, "deadline", "{}", 2, 1)
	if err := v.step([]int64{0, 0}, b); err == nil || !strings.Contains(err.Error(), "call reset first") {
		t.Errorf("%v", err)
	}
	if err := v.reset(nil, b); err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(b)
	for action, want := range map[int64]string{-1: "allow action -1; choose one of [0 1 2", 20: "environment 1 does not allow action 20"} {
		if err := v.step([]int64{0, action}, b); err == nil || !strings.Contains(err.Error(), want) || fmt.Sprint(b) != before {
			t.Errorf("%v", err)
		}
	}
	// Until a slice is busy in one environment.
	rng := rand.New(rand.NewPCG(1, 1))
	for !slices.Contains(b.masks[20:], false) {
		if err := v.step(choose(rng, v, b), b); err != nil {
			t.Fatal(err)
		}
		again(t, v, b)
	}
	before = fmt.Sprint(b)
	actions := choose(rng, v, b)
	actions[1] = int64(slices.Index(b.masks[20:], false))
	if err := v.step(actions, b); err == nil || !strings.HasPrefix(err.Error(), "environment 1 does not allow") || fmt.Sprint(b) != before {
		t.Errorf("%v", err)
	}
}

func TestSeedBeginsAnew(t *testing.T) {
	v, b := open1(t, "own", "{}", 2, 1)
	var shown [3]string
	for i, seed := range []uint64{5, 6, 5} {
		v.seed(0, seed)
		v.seed(1, seed)
		if err := v.reset(nil, b); err != nil {
			t.Fatal(err)
		}
		shown[i] = fmt.Sprint(b.observations)
	}
	if shown[0] != shown[2] || shown[0] == shown[1] {
		t.Error("the seed does not decide")
	}
}

func TestMistakesOfCallers(t *testing.T) {
	for _, c := range []struct {
		name, options string
		count         int64
		want          string
	}{
		{"deadlin", "{}", 1, `unknown environment "deadlin"; did you mean "deadline"? (known: batch, deadline, own)`},
		{"deadline", "", 1, "environment deadline: options : line 1: the text is incomplete"},
		{"deadline", "{} {}", 1, "there is more text after the end"},
		{"deadline", `{"orginal":true}`, 1, `unknown field "orginal"`},
		{"deadline", `{"energy":"all"}`, 1, `unknown energy charge "all"`},
		{"deadline", `{"dataset":"rodinia"}`, 1, `unknown days to sample "rodinia"`},
		{"deadline", `{"gpu":"A30"}`, 1, "A30"},
		{"own", `{"workload":"rodinia"}`, 1, `unknown workload to sample "rodinia"`},
		{"own", `{"start":1.5}`, 1, "start is 1.5; it is a probability, from 0 to 1"},
		{"own", `{"tasks":0}`, 1, "tasks is 0; it is from 1 to 10000"},
		{"own", "{}", 0, "0 environments; there are from 1 to 65536"},
		{"own", `{"tasks":10000}`, 65536, "values; there may be 268435456"},
		{"own", `{"dataset":"rodinias"}`, 1, `unknown dataset "rodinias"`},
		{"own", `{"dataset":"rodinia","workload":"WIDETIMES"}`, 1, "workload is WIDETIMES and dataset is rodinia; give one of them"},
		{"own", `{"dataset":"rodinia","start":0.5}`, 1, "start has no meaning for the instances of a dataset, rodinia"},
		{"batch", `{"dataset":"rodinia","stream":20}`, 1, "stream and random_start have no meaning"},
		{"batch", `{"encoding":"onehot"}`, 1, `did you mean "one-hot"`},
		{"batch", `{"stream":10001}`, 1, "stream is 10001; it is at most 10000"},
		{"batch", `{"levels":-1}`, 1, "environment batch"},
		{"batch", `{"reconfiguration":"slow"}`, 1, "slow"},
	} {
		if _, err := newVector(c.name, c.options, c.count, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.name, c.options, err, c.want)
		}
	}
}

// failing is an environment with a mistake.
type failing struct{ environment }

func (failing) Step(int) (float32, bool) { panic("oh") }

func TestMistakesOfEnvironmentsAreErrors(t *testing.T) {
	v, b := open1(t, "own", "{}", 1, 1)
	if err := v.reset(nil, b); err != nil {
		t.Fatal(err)
	}
	v.envs[0] = failing{v.envs[0]}
	const want = "environment own failed, a mistake in miglab: oh"
	err := v.step(choose(rand.New(rand.NewPCG(1, 1)), v, b), b)
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	if err := v.reset(nil, b); err == nil || err.Error() != want {
		t.Errorf("the state is lost, but reset says %v", err)
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	for name := range kinds {
		v, b := open1(t, name, small[name], 2, 1)
		if err := v.reset(nil, b); err != nil {
			t.Fatal(err)
		}
		actions := make([]int64, 2)
		step := func() {
			for i := range actions {
				actions[i] = int64(slices.Index(b.masks[i*v.shape.Actions:], true))
			}
			if err := v.step(actions, b); err != nil {
				t.Fatal(err)
			}
			again(t, v, b)
		}
		for range 10000 { // until buffers are as long as they get
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n > 0 {
			t.Errorf("%s: %v allocations a step", name, n)
		}
	}
}
