package corun

import (
	"io"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// Kind implements [task.Payload].
func (Window) Kind() string { return "programs" }

// AddTo implements [task.Payload].
func (w Window) AddTo(d *task.Digest) {
	d.Int(w.Concurrency)
	d.Float(w.Model.Kappa)
	d.Float(w.Model.Delta)
	release := 0
	if w.Model.Release {
		release = 1
	}
	d.Int(release)
	d.Int(len(w.Jobs))
	for i := range w.Jobs {
		w.Jobs[i].AddTo(d)
	}
}

// WriteCSV implements [task.Payload].
func (w Window) WriteCSV(out io.Writer, _ *mig.GPU) error { return task.WritePrograms(out, w.Jobs) }
