package algotest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// Batch is the batch track.
var Batch = Track[algo.Problem, schedule.Schedule]{
	Name: algo.TrackBatch,
	Run: func(ctx context.Context, a algo.Algorithm, p algo.Problem) (schedule.Schedule, error) {
		s, err := a.Schedule(ctx, p)
		return s, checkName(a, s, err)
	},
	Check: checkSchedule,
}

// A StreamProblem is a problem of the stream track.
type StreamProblem struct {
	algo.Problem
	Lengths []int // the number of tasks of each batch
}

// Stream is the stream track.
var Stream = Track[StreamProblem, schedule.Schedule]{
	Name: algo.TrackStream,
	Run: func(ctx context.Context, a algo.Algorithm, p StreamProblem) (schedule.Schedule, error) {
		s, err := ScheduleStream(ctx, a, p.Problem, p.Lengths)
		return s, checkName(a, s, err)
	},
	Check: func(p StreamProblem, s schedule.Schedule) error { return checkSchedule(p.Problem, s) },
}

// ScheduleStream runs an algorithm of the stream track, as [algo.Algorithm.Schedule] runs one of the batch track.
func ScheduleStream(ctx context.Context, a algo.Algorithm, p algo.Problem, lengths []int) (schedule.Schedule, error) {
	made, err := algo.Make[algo.Stream](a)
	if err == nil {
		err = a.CheckFit(p)
	}
	if err != nil {
		return schedule.Schedule{}, err
	}
	s, err := made.ScheduleStream(ctx, p, lengths)
	s.Algorithm = a.ID
	return s, err
}

// checkName adds an error if a schedule does not name the algorithm that made it.
func checkName(a algo.Algorithm, s schedule.Schedule, err error) error {
	if err == nil && s.Algorithm != a.ID {
		return fmt.Errorf("the schedule of %s names %q", a.ID, s.Algorithm)
	}
	return err
}

func checkSchedule(p algo.Problem, s schedule.Schedule) error {
	if v := schedule.Check(p, s); len(v) > 0 {
		return fmt.Errorf("on %d x %s, %d tasks, %v: %d violations, first %v", p.GPUs(), p.GPU, len(p.Tasks), p.Model,
			len(v), v[0])
	}
	return nil
}

// RandomProblem draws a batch on one GPU of any model. There are batches of every kind that the paper and the referee
// allow: monotone and not, with sizes that do not fit, with equal times, with tasks that fit only the whole GPU.
func RandomProblem(rng *rand.Rand, n int) algo.Problem {
	gpus := mig.GPUs()
	p := algo.Problem{GPU: gpus[rng.IntN(len(gpus))]}
	sizes := p.GPU.Sizes()
	kind := rng.IntN(5)
	for i := range n {
		t := task.New(fmt.Sprintf("t%04d", i), nil)
		base := portable.Exp(float64(rng.Float64()*8) - 3)
		if kind == 1 {
			base = 10
		}
		for _, s := range sizes {
			d := base / portable.Pow(float64(s), rng.Float64()*1.2)
			switch {
			case kind == 1:
				d = base
			case kind == 2 && rng.IntN(3) == 0, kind == 3 && s < sizes[len(sizes)-1]:
				d = math.Inf(1)
			case kind == 4:
				d = float64(1 + rng.IntN(4))
			}
			t.Set(s, mig.Seconds(d))
		}
		if !slices.ContainsFunc(sizes, t.Fits) {
			t.Set(sizes[rng.IntN(len(sizes))], mig.Seconds(base))
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// AddRelease gives every task a release time.
func AddRelease(p *algo.Problem, rng *rand.Rand) {
	for range p.Tasks {
		p.Release = append(p.Release, mig.Seconds(rng.Float64()*20))
	}
}

// AddStart lets some instances of a random partition of each GPU exist at time 0.
func AddStart(p *algo.Problem, rng *rand.Rand) {
	parts := p.GPU.Partitions()
	for g := range p.GPUs() {
		for _, in := range parts[rng.IntN(len(parts))] {
			if rng.IntN(2) == 0 {
				p.Start = append(p.Start,
					schedule.Existing{GPU: g, Instance: in, BusyUntil: mig.Seconds(rng.IntN(3)) * 5})
			}
		}
	}
}

// ScheduleText writes a schedule or the error instead of one, times to the last bit: counters, then bars.
func ScheduleText(p algo.Problem, s schedule.Schedule, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		fmt.Fprintf(&b, "%s %d\n", name, s.Counters[name])
	}
	exact := func(t mig.Seconds) string { return strconv.FormatFloat(float64(t), 'g', -1, 64) }
	for _, bar := range schedule.Bars(p, s) {
		fmt.Fprintf(&b, "%s %s gpu %d slice %d+%d %v %s\n", exact(bar.Start), exact(bar.End), bar.GPU,
			bar.Slice, bar.Width, bar.Kind, bar.Label)
	}
	return b.String()
}
