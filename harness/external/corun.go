package external

import (
	"context"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

func init() {
	protocols[algo.TrackCorun] = func(p *program) algo.Constructor {
		return algo.NewCorun(func(algo.Args) (algo.Corun, error) { return &planner{client{program: p}}, nil })
	}
}

// The question of the co-run track.
type (
	window struct {
		Type        string      `json:"type"` // window
		ID          int64       `json:"id"`
		Concurrency int         `json:"concurrency"` // the number of jobs that may run at the same time
		Kappa       float64     `json:"kappa"`
		Delta       float64     `json:"delta"`
		Release     bool        `json:"release"`
		Jobs        []windowJob `json:"jobs"`
	}
	windowJob struct {
		Name        string      `json:"name"`
		Class       task.Class  `json:"class"`
		Solo        mig.Seconds `json:"solo_s"`
		Serial      float64     `json:"serial"`
		Compute     float64     `json:"compute"`
		Parallelism float64     `json:"parallelism"`
		Memory      float64     `json:"memory"`
	}
)

// newWindow returns the question for a window. Its ID is a hash of the other fields.
func newWindow(w *corun.Window) window {
	q := window{
		Type: "window", Concurrency: w.Concurrency,
		Kappa: w.Model.Kappa, Delta: w.Model.Delta, Release: w.Model.Release,
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		q.Jobs = append(q.Jobs, windowJob{j.Name, j.Class, j.Solo, j.Serial, j.Compute, j.Parallelism, j.Memory})
	}
	q.ID = hashID(encodeMessage(q))
	return q
}

// A planAnswer is the answer to a window.
type planAnswer struct {
	head
	Groups []planGroup `json:"groups"`
}

type planGroup struct {
	Jobs      []int  `json:"jobs"` // indices in the window, by slot of the partition
	Partition string `json:"partition"`
}

func (p *planAnswer) check(id int64) error {
	return p.expect(id, "groups are", []bool{p.Groups != nil}, "plan")
}

// read returns the plan, or an [*Error] without a program.
func (p *planAnswer) read() (out corun.Plan, err error) {
	for i, g := range p.Groups {
		setup, err := corun.Parse(g.Partition)
		if err != nil {
			return nil, newError(run.KindInvalid, "gives no plan: group %d: %v", i+1, err)
		}
		out = append(out, corun.Group{Jobs: g.Jobs, Setup: setup})
	}
	return out, nil
}

// A planner is a program of the co-run track.
type planner struct{ client }

// Plan implements [algo.Corun].
func (p *planner) Plan(ctx context.Context, w corun.Window) (out corun.Plan, err error) {
	question := newWindow(&w)
	err = p.converse(ctx, question.ID, func(c *conversation) error {
		var answer planAnswer
		if err := c.ask(question, &answer); err != nil {
			return err
		}
		out, err = answer.read()
		return err
	})
	return out, err
}
