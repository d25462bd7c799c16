package datasets

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
	"miglab/harness/wholefile"
)

var _ = Register(Family{
	Tasks: true, Name: "profile:", File: "tasks file", Source: "the file",
	Doc: "the tasks of a CSV file with the header task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4); a stream has a column " +
		"batch, and arrival_s if its tasks arrive in time; or, with draw at the end, batches of tasks drawn from it",
	Params: []spec.Param{
		whole("draw", 0, 0, maxCount,
			"tasks of a batch, drawn from the file with replacement; 0 takes the file as it is"),
		whole("batches", 1, 1, maxCount, "batches of drawn tasks; several are a stream"),
		seedParam("seed", "of the draws"),
	},
	New: func(_ string, a spec.Args) (Dataset, error) {
		p := profile{
			filePath: filePath(a[FileKey]), draw: a.Int("draw"), batches: a.Int("batches"), seed: a.Uint("seed"),
		}
		if p.draw == 0 && (p.batches != 1 || p.seed != 1) {
			return nil, refuse(a, "draw", "the number of tasks to draw, where batches or seed is given")
		}
		if p.draw*p.batches > maxCount {
			return nil, refuse(a, "batches", fmt.Sprintf("at most %d tasks in all batches", maxCount))
		}
		return p, nil
	},
})

// profile has the tasks of a file, or batches that are drawn from them.
type profile struct {
	filePath
	// draw is the number of tasks in a drawn batch; 0 takes the file as it is.
	draw, batches int
	seed          uint64
}

func (p profile) Instances() int {
	if p.draw > 0 {
		return 0
	}
	return 1
}

// AddTo implements [Varied]: the first instance has only some of the file's tasks.
func (p profile) AddTo(d *task.Digest) {
	if p.draw == 0 {
		return
	}
	hash, err := wholefile.SHA256(string(p.filePath))
	if err != nil {
		hash = err.Error() // Instance reports it
	}
	d.Text(hash)
}

func (p profile) Instance(g *mig.GPU, index int) (task.Payload, error) {
	b, err := readFile(p.filePath, g, task.ReadStream)
	if err != nil {
		return nil, err
	}
	if p.draw == 0 {
		return b, nil
	}
	if len(b.Tasks) == 0 {
		return nil, errors.New(string(p.filePath) + " has no tasks to draw from")
	}
	rng := rand.New(pcg("workload=profile", p.seed, g, index))
	var out task.Batches
	for range p.batches {
		for range p.draw {
			t := b.Tasks[rng.IntN(len(b.Tasks))]
			t.Name = fmt.Sprintf("%s-%d", t.Name, len(out.Tasks)+1)
			out.Tasks = append(out.Tasks, t)
		}
		out.Lengths = append(out.Lengths, p.draw)
	}
	return out, nil
}
