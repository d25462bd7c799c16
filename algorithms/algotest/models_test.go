package algotest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// models are GPUs that the program's table does not have, with 1, 2, 3, 4 and 7 compute slices.
// Their names, memories, multiprocessors and times are their own. Some lack sizes that the models of
// the table have.
func models(t *testing.T) []*mig.GPU {
	t.Helper()
	profile := func(size, length mig.Slices, starts ...mig.Slices) *mig.Profile {
		return &mig.Profile{
			ID: 40 + int(size), Size: size, Length: length, Starts: starts, Max: len(starts), MemoryGB: 3 * int(length), SMs: 11 * int(size),
			Create: 0.1 * mig.Seconds(size), Destroy: 0.06 * mig.Seconds(length),
		}
	}
	double := func(p *mig.Profile) *mig.Profile { p.ID, p.DoubleMemory = 90, true; return p }
	media := func(p *mig.Profile) *mig.Profile { p.ID, p.MediaExtensions, p.Max = 91, true, 1; return p }
	one := func(starts ...mig.Slices) *mig.Profile { return profile(1, 1, starts...) }
	var out []*mig.GPU
	for _, g := range []*mig.GPU{
		{Name: "S1", ComputeSlices: 1, MemorySlices: 1, Profiles: []*mig.Profile{one(0)}},
		{Name: "S1-WIDE", ComputeSlices: 1, MemorySlices: 2, Profiles: []*mig.Profile{profile(1, 2, 0)}},
		{Name: "S2", ComputeSlices: 2, MemorySlices: 2, Profiles: []*mig.Profile{one(0, 1), double(profile(1, 2, 0)), profile(2, 2, 0)}},
		{Name: "S2-WHOLE", ComputeSlices: 2, MemorySlices: 4, Profiles: []*mig.Profile{profile(2, 4, 0)}},
		{Name: "S3", ComputeSlices: 3, MemorySlices: 4, Profiles: []*mig.Profile{one(0, 1, 2), profile(2, 2, 0), profile(3, 4, 0)}},
		{Name: "S4", ComputeSlices: 4, MemorySlices: 4, Profiles: []*mig.Profile{
			one(0, 1, 2, 3), media(one(0, 1, 2, 3)), profile(2, 2, 0, 2), profile(4, 4, 0),
		}},
		{Name: "S4-COARSE", ComputeSlices: 4, MemorySlices: 4, Profiles: []*mig.Profile{profile(2, 2, 0, 2), profile(4, 4, 0)}},
		{Name: "S7", ComputeSlices: 7, MemorySlices: 8, Profiles: []*mig.Profile{
			one(0, 1, 2, 3, 4, 5, 6), double(profile(1, 2, 0, 2, 4, 6)), profile(2, 2, 0, 2, 4), profile(3, 4, 0, 4), profile(4, 4, 0), profile(7, 8, 0),
		}},
		{Name: "S7-COARSE", ComputeSlices: 7, MemorySlices: 8, Profiles: []*mig.Profile{
			one(0, 1, 2, 3, 4, 5, 6), profile(2, 2, 0, 2, 4), profile(3, 4, 0, 4), profile(7, 8, 0),
		}},
	} {
		g.Origin, g.CostSource = "from a test", "a test"
		known, err := new(mig.Catalog).Add(g)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, known)
	}
	return out
}

var inf = math.Inf(1)

// gains draws how long a task takes on some slices, in seconds.
func gains(rng *rand.Rand, size mig.Slices) float64 {
	return (1 + 9*rng.Float64()) / math.Pow(float64(size), rng.Float64()*1.2)
}

// kinds are the batches of the suite. seconds draws how long a task takes on an instance of a size.
var kinds = []struct {
	name    string
	tasks   int
	seconds func(rng *rand.Rand, i int, size mig.Slices, sizes []mig.Slices) float64
}{
	{"no task", 0, nil},
	{"one task", 1, func(rng *rand.Rand, _ int, size mig.Slices, _ []mig.Slices) float64 { return gains(rng, size) }},
	{"many tasks", 11, func(rng *rand.Rand, _ int, size mig.Slices, _ []mig.Slices) float64 { return gains(rng, size) }},
	{"alike", 5, func(*rand.Rand, int, mig.Slices, []mig.Slices) float64 { return 3 }},
	{"ties", 6, func(_ *rand.Rand, _ int, size mig.Slices, sizes []mig.Slices) float64 {
		return 12 / float64(min(size, sizes[len(sizes)/2]))
	}},
	{"slower when larger", 5, func(_ *rand.Rand, i int, size mig.Slices, _ []mig.Slices) float64 {
		return float64(i+1) * float64(size)
	}},
	{"some sizes", 9, func(rng *rand.Rand, i int, size mig.Slices, sizes []mig.Slices) float64 {
		if size != sizes[i%len(sizes)] && rng.IntN(2) == 0 {
			return inf
		}
		return gains(rng, size)
	}},
	{"one size each", 6, func(rng *rand.Rand, i int, size mig.Slices, sizes []mig.Slices) float64 {
		if size != sizes[i%len(sizes)] {
			return inf
		}
		return gains(rng, size)
	}},
	{"the whole GPU", 10, func(rng *rand.Rand, _ int, size mig.Slices, sizes []mig.Slices) float64 {
		if size != sizes[len(sizes)-1] {
			return inf
		}
		return math.Exp(8*rng.Float64() - 3)
	}},
	{"shortest", 6, func(*rand.Rand, int, mig.Slices, []mig.Slices) float64 { return task.MinSeconds }},
	{"too short", 6, func(*rand.Rand, int, mig.Slices, []mig.Slices) float64 { return 1e-9 }},
	{"huge", 6, func(rng *rand.Rand, _ int, size mig.Slices, _ []mig.Slices) float64 { return 1e9 * gains(rng, size) }},
	{"longest", 3, func(*rand.Rand, int, mig.Slices, []mig.Slices) float64 { return task.MaxSeconds }},
	{"short and huge", 6, func(rng *rand.Rand, i int, size mig.Slices, _ []mig.Slices) float64 {
		return []float64{1e-5, 1, 1e9}[i%3] * gains(rng, size)
	}},
	{"one fits nothing", 3, func(rng *rand.Rand, i int, size mig.Slices, _ []mig.Slices) float64 {
		if i == 1 {
			return inf
		}
		return gains(rng, size)
	}},
	{"none fits", 2, func(*rand.Rand, int, mig.Slices, []mig.Slices) float64 { return inf }},
}

// settings is the number of settings of a problem: reconfiguration models, one GPU or several, and
// what the GPUs hold at time 0.
const settings = 3 * 2 * 3

// draw draws a problem of a kind in a setting.
func draw(rng *rand.Rand, g *mig.GPU, kind, setting int) algo.Problem {
	p := algo.Problem{GPU: g, Model: mig.Reconfiguration(setting % 3)}
	k := kinds[kind]
	for i := range k.tasks {
		t := task.New(fmt.Sprintf("t%02d", i), nil)
		for _, size := range g.Sizes() {
			t.Set(size, mig.Seconds(k.seconds(rng, i, size, g.Sizes())))
		}
		p.Tasks = append(p.Tasks, t)
	}
	if setting/3%2 == 1 {
		p.Count = 3
	}
	if setting/6 > 0 {
		algotest.AddStart(&p, rng)
	}
	if setting/6 > 1 {
		algotest.AddRelease(&p, rng)
	}
	return p
}

// patience is much longer than anything in these tests takes, also on a busy machine.
const patience = 2 * time.Minute

// errHung is the error of a call that goes on although its context has ended.
var errHung = errors.New("it goes on although its context has ended")

// A panicError is a panic, and where it came from.
type panicError string

func (e panicError) Error() string { return string(e) }

// guarded calls a function with a context that ends. A panic is an error, and so is a call that does not
// return in time.
func guarded(t *testing.T, f func(ctx context.Context) error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				_, stack, _ := strings.Cut(string(debug.Stack()), "\npanic(")
				done <- panicError(fmt.Sprintf("panic: %v\n%.600s", v, stack))
			}
		}()
		done <- f(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(2 * patience):
		return errHung
	}
}
