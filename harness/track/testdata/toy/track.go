// Package toy is a track with a dataset and an algorithm, a file each. A test builds it into the
// program and takes it through the commands.
package toy

import (
	"context"
	"fmt"
	"io"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
)

// Numbers is an instance. An algorithm chooses one of the numbers, and the smallest is best.
type Numbers []float64

// Kind implements [task.Payload].
func (Numbers) Kind() string { return "numbers" }

// AddTo implements [task.Payload].
func (n Numbers) AddTo(d *task.Digest) { d.Floats(n) }

// WriteCSV implements [task.Payload].
func (n Numbers) WriteCSV(w io.Writer, _ *mig.GPU) error {
	_, err := fmt.Fprintln(w, "number")
	for _, v := range n {
		if err == nil {
			_, err = fmt.Fprintln(w, v)
		}
	}
	return err
}

// Chooser chooses a number by its index.
type Chooser interface {
	Choose(n Numbers) int
}

const name = "toy"

// NewChooser makes a [Chooser].
type NewChooser func(algo.Args) (Chooser, error)

// Track implements [algo.Constructor].
func (NewChooser) Track() string { return name }

// Make implements [algo.Constructor].
func (f NewChooser) Make(a algo.Args) (any, error) { return f(a) }

var _ = track.Register(track.Track{
	Name: name, Order: 100, Data: Numbers{}.Kind(), GPU: "A30",
	Count:  func(task.Payload) int { return 1 },
	Boards: []track.Board{{Metric: "chosen"}},
	Solve: func(_ context.Context, a algo.Algorithm, p track.Problem) (track.Answer, error) {
		c, err := algo.Make[Chooser](a)
		if err != nil {
			return track.Answer{}, err
		}
		n := p.Payload.(Numbers)
		i := c.Choose(n)
		if i < 0 || i >= len(n) {
			return track.Answer{}, &track.InvalidError{Err: fmt.Errorf("number %d of %d", i, len(n))}
		}
		return track.Answer{Metrics: []track.Metric{{Name: "chosen", Value: n[i]}}}, nil
	},
})
