package learn

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func TestAnneal(t *testing.T) {
	linear := Anneal{{Until: 0.8, From: 1, To: 0.2}}
	steps := Anneal{{0.25, 0.01, 0.01}, {0.5, 0.00075, 0.00075}, {0.75, 0.0005, 0.0005}, {1, 0, 0}}
	for _, c := range []struct {
		a        Anneal
		at, want float64
	}{
		{nil, 0.5, 0},
		{linear, 0, 1},
		{linear, 0.4, 0.6},
		{linear, 0.8, 0.2},
		{linear, 2, 0.2},
		{steps, 0, 0.01},
		{steps, 0.2499, 0.01},
		{steps, 0.25, 0.00075},
		{steps, 0.6, 0.0005},
		{steps, 0.75, 0},
		{steps, 1, 0},
		{Anneal{{0.5, 1, 1}, {1, 1, 0}}, 0.75, 0.5},
	} {
		if got := c.a.At(c.at); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v at %v is %v, want %v", c.a, c.at, got, c.want)
		}
	}
}

func TestExplainedVariance(t *testing.T) {
	actual := []float32{1, 2, 3, 6}
	for _, c := range []struct {
		predicted []float32
		want      float64
	}{{actual, 1}, {[]float32{0, 1, 2, 5}, 1}, {[]float32{3, 3, 3, 3}, 0}, {[]float32{-1, -2, -3, -6}, -3}} {
		if got := ExplainedVariance(c.predicted, actual); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", c.predicted, got, c.want)
		}
	}
	if got := ExplainedVariance([]float32{1, 2}, []float32{4, 4}); got != 0 {
		t.Errorf("returns that do not vary: %v, want 0", got)
	}
}

// Streams of different seeds, segments, purposes and numbers have nothing in common.
func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(4) {
		for segment := range uint64(4) {
			for purpose := range 3 {
				for index := range 4 {
					var p rand.PCG
					seedStream(&p, seed, segment, purpose, index)
					x := p.Uint64()
					if seen[x] {
						t.Fatal("two streams begin alike")
					}
					seen[x] = true
				}
			}
		}
	}
}

// Whatever is changed in a checkpoint, even with a hash that agrees, is refused with
// a CheckpointError and changes nothing.
func FuzzCheckpoint(f *testing.F) {
	make := func(owner, note string, v float32) *checkpoint {
		n := int64(v)
		return &checkpoint{owner, note, []*int64{&n}, [][]float32{{v, v}, {v}}}
	}
	var whole bytes.Buffer
	if err := make("ppo", "note", 5).write(&whole); err != nil {
		f.Fatal(err)
	}
	short := make("ppo", "", 5)
	short.Vectors[1] = nil
	for _, other := range []*checkpoint{make("dqn", "", 5), short} {
		var foreign *CheckpointError
		if err := other.read(bytes.NewReader(whole.Bytes())); !errors.As(err, &foreign) {
			f.Errorf("the checkpoint of another trainer: %v", err)
		}
	}
	f.Add(whole.Bytes())
	f.Add([]byte(magic))
	f.Add(whole.Bytes()[:whole.Len()-1])
	f.Add(withHash([]byte(magic)))
	f.Add(withHash(bytes.Clone(whole.Bytes()[:whole.Len()-sha256.Size-1])))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := make("ppo", "", 7)
		n := c.Counters[0]
		err := c.read(bytes.NewReader(b))
		if bytes.Equal(b, whole.Bytes()) {
			if err != nil || c.Note != "note" || *n != 5 || c.Vectors[0][1] != 5 || c.Vectors[1][0] != 5 {
				t.Fatalf("not what was written: %v %q %v %v", err, c.Note, *n, c.Vectors)
			}
			return
		}
		var bad *CheckpointError
		if err != nil && (!errors.As(err, &bad) || *n != 7 || c.Vectors[0][0] != 7) {
			t.Fatalf("error %v, counter %d, vectors %v", err, *n, c.Vectors)
		}
	})
}
