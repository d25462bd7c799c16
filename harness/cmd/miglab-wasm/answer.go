//go:build js && wasm

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// tasksFile is the name that errors give to the pasted text.
const tasksFile = "tasks.csv"

// The page refuses larger problems; the command line has no limit.
const (
	mostTasks = 200
	mostGPUs  = 4
)

// A request is a problem and a question about it.
type request struct {
	Want  string `json:"want"` // "problem", "bound", or the ID of an algorithm
	GPU   string `json:"gpu"`
	Count int    `json:"count"` // the number of GPUs
	Model string `json:"model"` // the reconfiguration model
	Tasks string `json:"tasks"` // the text of a tasks file
}

// An answer has an error, or the part that the request wants.
type answer struct {
	Error string `json:"error,omitempty"`
	*problemFacts
	*boundFacts
	*plan
}

// problemFacts describes a problem: the compute slices of a GPU, the names of the tasks, and the area bound in seconds.
type problemFacts struct {
	Slices mig.Slices  `json:"slices"`
	Tasks  []string    `json:"tasks"`
	Area   mig.Seconds `json:"area"`
}

// boundFacts has a bound that package certificate has verified, and the name of its proof.
type boundFacts struct {
	Bound mig.Seconds `json:"bound"`
	Proof string      `json:"proof"`
}

// A plan is a schedule that the referee has accepted.
type plan struct {
	Makespan         mig.Seconds    `json:"makespan"`
	Utilisation      float64        `json:"utilisation"`
	Reconfigurations int            `json:"reconfigurations"`
	Bars             []schedule.Bar `json:"bars"`
	// Used and Waiting count slices in use and tasks that have not begun over time.
	Used    []schedule.Step `json:"used"`
	Waiting []schedule.Step `json:"waiting"`
	File    string          `json:"file"` // the bytes that miglab schedule prints
}

// reply answers a request in JSON.
func reply(text string) (a answer) {
	var r request
	err := json.Unmarshal([]byte(text), &r)
	if err == nil {
		a, err = r.answer(context.Background())
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (r *request) answer(ctx context.Context) (a answer, err error) {
	p, lines, err := r.problem()
	if err != nil {
		return a, err
	}
	switch r.Want {
	case "problem":
		a.problemFacts, err = describe(p)
	case "bound":
		a.boundFacts, err = bound(ctx, p)
	default:
		a.plan, err = solve(ctx, p, r.Want)
		if infeasible, ok := errors.AsType[*algo.InfeasibleError](err); ok {
			err = fmt.Errorf("%s: %w", locate(infeasible.Task, p.Tasks, lines), err)
		}
	}
	return a, err
}

// problem reads the problem and the line of each task.
func (r *request) problem() (p schedule.Problem, lines []int, err error) {
	if p.GPU, err = new(mig.Catalog).Lookup(r.GPU); err != nil {
		return p, nil, err
	}
	if p.Model, err = mig.ParseReconfiguration(r.Model); err != nil {
		return p, nil, err
	}
	if r.Count < 1 || r.Count > mostGPUs {
		return p, nil, fmt.Errorf("%d GPUs: this page takes 1 to %d; miglab schedule --gpus takes more", r.Count,
			mostGPUs)
	}
	p.Count = r.Count
	p.Tasks, lines, err = task.ReadCSVLines(strings.NewReader(r.Tasks), tasksFile, p.GPU)
	if err == nil && len(p.Tasks) > mostTasks {
		err = fmt.Errorf("%s: there are %d tasks; this page takes at most %d, miglab schedule any number", tasksFile,
			len(p.Tasks), mostTasks)
	}
	return p, lines, err
}

// locate returns the file and the line of a task, or the file if it has no such task.
func locate(name string, tasks task.Batch, lines []int) string {
	i := slices.IndexFunc(tasks, func(t task.Task) bool { return t.Name == name })
	if i < 0 {
		return tasksFile
	}
	return fmt.Sprintf("%s:%d", tasksFile, lines[i])
}

func describe(p schedule.Problem) (*problemFacts, error) {
	area, err := bounds.Area(p)
	facts := &problemFacts{Slices: p.GPU.ComputeSlices, Area: area}
	for _, t := range p.Tasks {
		facts.Tasks = append(facts.Tasks, t.Name)
	}
	return facts, err
}

func bound(ctx context.Context, p schedule.Problem) (*boundFacts, error) {
	w, err := bounds.Prove(ctx, p, mig.Seconds(math.Inf(1)))
	if err == nil {
		err = certificate.VerifyWitness(p, w)
	}
	return &boundFacts{Bound: w.Bound, Proof: w.Kind}, err
}

// solve runs an algorithm and checks its schedule with the referee.
func solve(ctx context.Context, p schedule.Problem, id string) (*plan, error) {
	a, err := algo.ParseFor(id, algo.TrackBatch)
	if err != nil {
		return nil, err
	}
	s, err := a.Schedule(ctx, p)
	if err != nil {
		return nil, err
	}
	m, err := schedule.Measure(p, s)
	if invalid, broken := errors.AsType[*schedule.InvalidError](err); broken {
		return nil, invalid.List("the schedule of " + id)
	}
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	err = schedule.Encode(&file, p, s)
	used, waiting, _ := schedule.NewHistory(p, s, nil).Steps()
	return &plan{
		Makespan: m.Makespan, Utilisation: m.Utilisation, Reconfigurations: m.Reconfigurations,
		Bars: schedule.Bars(p, s), Used: used, Waiting: waiting, File: file.String(),
	}, err
}
