package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

func init() {
	protocols[algo.TrackBatch] = func(p *program) algo.Constructor {
		return algo.NewBatch(func(algo.Args) (algo.Batch, error) { return newScheduler(p), nil })
	}
}

// The questions of the batch track.
type (
	instance struct {
		Type            string       `json:"type"` // instance
		ID              int64        `json:"id"`
		GPU             gpu[profile] `json:"gpu"`
		GPUs            int          `json:"gpus"`
		Reconfiguration string       `json:"reconfiguration"`
		Start           []existing   `json:"start"`
		Tasks           []job        `json:"tasks"`
	}
	gpu[Profile any] struct {
		Name          string     `json:"name"`
		ComputeSlices mig.Slices `json:"compute_slices"`
		MemorySlices  mig.Slices `json:"memory_slices"`
		Profiles      []Profile  `json:"profiles"`
	}
	profile struct {
		Size    mig.Slices   `json:"size"`
		Length  mig.Slices   `json:"length"`
		Starts  []mig.Slices `json:"starts"`
		Create  mig.Seconds  `json:"create_s"`
		Destroy mig.Seconds  `json:"destroy_s"`
	}
	existing struct {
		GPU       int         `json:"gpu"`
		Size      mig.Slices  `json:"size"`
		Slice     mig.Slices  `json:"slice"`
		BusyUntil mig.Seconds `json:"busy_until_s"`
	}
	job struct {
		Name    string                     `json:"name"`
		Release mig.Seconds                `json:"release_s"`
		Seconds map[mig.Slices]mig.Seconds `json:"seconds"` // lacks the sizes that the task does not fit
	}
)

// newInstance returns the question for the first n tasks of a problem. Its ID is a hash of
// the other fields, so that the same instance always gives the same line.
func newInstance(p *schedule.Problem, n int) instance {
	q := instance{
		Type: "instance", GPUs: p.GPUs(), Reconfiguration: p.Model.String(), Tasks: jobs(p, 0, n),
		GPU: gpu[profile]{Name: p.GPU.Name, ComputeSlices: p.GPU.ComputeSlices, MemorySlices: p.GPU.MemorySlices},
	}
	for _, size := range p.GPU.Sizes() {
		own := p.GPU.Profile(size)
		q.GPU.Profiles = append(q.GPU.Profiles, profile{
			Size: size, Length: own.Length, Starts: own.Starts,
			Create: p.Model.Cost(own.Create), Destroy: p.Model.Cost(own.Destroy),
		})
	}
	q.Start = existingInstances(p.Start)
	tasks := p.Tasks[:n].Hash()
	q.ID = hashID(fmt.Appendln(tasks[:], q.GPU.Name, q.GPUs, q.Reconfiguration, q.Start,
		p.Release[:min(n, len(p.Release))]))
	return q
}

func existingInstances(all []schedule.Existing) (out []existing) {
	for _, e := range all {
		out = append(out, existing{e.GPU, e.Instance.Size(), e.Instance.Start, e.BusyUntil})
	}
	return out
}

func jobs(p *schedule.Problem, from, to int) []job {
	out := make([]job, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, job{p.Tasks[i].Name, p.ReleaseOf(i), seconds(&p.Tasks[i], p.GPU)})
	}
	return out
}

func seconds(t *task.Task, g *mig.GPU) map[mig.Slices]mig.Seconds {
	out := map[mig.Slices]mig.Seconds{}
	for _, size := range g.Sizes() {
		if t.Fits(size) {
			out[size] = t.On(size)
		}
	}
	return out
}

// A solution is the answer to an instance, or to the tasks of a stream: a schedule or, since protocol 2, a plan.
type solution struct {
	head
	Schedule jsontext.Value `json:"schedule"`
	Plan     jsontext.Value `json:"plan"`
	protocol int            // the version that the program keeps to
}

func (s *solution) check(id int64) error {
	types := []string{"schedule"}
	if s.protocol >= withPlans {
		types = append(types, typePlan)
	}
	if err := s.expect(id, "schedule is", []bool{s.Schedule != nil}, types...); err != nil {
		return err
	}
	if s.Plan != nil && s.Type != typePlan {
		return fmt.Errorf("plan is no part of the type %s", s.Type)
	}
	if s.Plan == nil && s.Type == typePlan {
		return errors.New("plan is missing")
	}
	return nil
}

// Answer returns the line, with a line break, of a program that answers a problem with a schedule. It passes on the
// errors of [schedule.Encode].
func Answer(p schedule.Problem, s schedule.Schedule) ([]byte, error) {
	var text bytes.Buffer
	if err := schedule.Encode(&text, p, s); err != nil {
		return nil, err
	}
	return encodeMessage(struct {
		Type     string         `json:"type"`
		ID       int64          `json:"id"`
		Schedule jsontext.Value `json:"schedule"`
	}{"schedule", newInstance(&p, len(p.Tasks)).ID, text.Bytes()}), nil
}

// typePlan is the type of a solution that is a plan.
const typePlan = "plan"

// A scheduler is a program of the batch or the stream track.
type scheduler struct{ client }

func newScheduler(p *program) *scheduler { return &scheduler{client{program: p}} }

// Schedule implements [algo.Batch].
func (s *scheduler) Schedule(ctx context.Context, problem algo.Problem) (schedule.Schedule, error) {
	return s.ScheduleStream(ctx, problem, []int{len(problem.Tasks)})
}
