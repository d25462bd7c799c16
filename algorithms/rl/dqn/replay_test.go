package dqn

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"miglab/algorithms/rl/env"
)

// The ring holds the last transitions in order, each with what followed it.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		envs, rows := rapid.IntRange(1, 3).Draw(t, "environments"), rapid.IntRange(1, 5).Draw(t, "rows")
		steps := rapid.IntRange(0, 20).Draw(t, "steps")
		r := newReplay(env.Shape{Observation: 1, Actions: 1}, envs, envs*rows, false)
		show := func(row, step int) {
			for e := range envs {
				r.Observation(row*envs + e)[0] = float32(100*step + e)
			}
		}
		show(r.head, 0)
		for s := range steps {
			for e := range envs {
				r.actions[r.head*envs+e] = int32(100*s + e)
			}
			show(r.after(r.head), s+1)
			r.advance()
		}
		kept := min(steps, rows)
		if r.size() != kept*envs {
			t.Fatalf("%d transitions, want %d", r.size(), kept*envs)
		}
		for i := range r.size() {
			slot, want := r.slot(i), 100*(steps-kept+i/envs)+i%envs
			if r.actions[slot] != int32(want) || r.Observation(slot)[0] != float32(want) || r.Observation(r.next(slot))[0] != float32(want+100) {
				t.Fatalf("transition %d of %d: action %d, from %v to %v, want %d", i, r.size(),
					r.actions[slot], r.Observation(slot)[0], r.Observation(r.next(slot))[0], want)
			}
		}
	})
}

func TestHuber(t *testing.T) {
	for _, x := range []float64{-3, -1.5, -0.9, -0.1, 0, 0.5, 2} {
		const h = 1e-6
		up, _ := huber(x + h)
		down, _ := huber(x - h)
		loss, slope := huber(x)
		if math.Abs((up-down)/(2*h)-slope) > 1e-6 {
			t.Errorf("huber(%v) has the slope %v, want %v", x, slope, (up-down)/(2*h))
		}
		if want := min(x*x/2, math.Abs(x)-0.5); math.Abs(x) > 1 && loss != want {
			t.Errorf("huber(%v) = %v, want %v", x, loss, want)
		}
	}
}

func TestUniform(t *testing.T) {
	rng, counts, mask := rand.New(rand.NewPCG(1, 2)), [5]int{}, []bool{false, true, true, false, true}
	const n = 30_000
	for range n {
		counts[drawIndex(mask, rng)]++
	}
	for j, ok := range mask {
		want := 0.0
		if ok {
			want = n / 3
		}
		if math.Abs(float64(counts[j])-want) > 4*math.Sqrt(want*2/3) {
			t.Errorf("action %d was drawn %d times, want about %v", j, counts[j], want)
		}
	}
	if env.Likeliest([]float32{9, 1, 3, 9, 3}, mask) != 2 {
		t.Error("not the first allowed action of the highest value")
	}
}
