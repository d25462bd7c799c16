package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"miglab/harness/run"
	"miglab/harness/store"
)

// The states of an attempt.
const (
	Running = "running"
	// Stopped means that it was told to stop, and wrote what it had.
	Stopped = "stopped"
	Done    = "done"
	Failed  = "failed"
)

// An Attempt is how one run of a task stands, or ended.
type Attempt struct {
	Task int    `json:"task"`
	Run  string `json:"run"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
	// Started is when it began and Updated when it last said so.
	Started time.Time `json:"started"`
	Updated time.Time `json:"updated"`
	// Done and Total count the task's cells or units, those of earlier runs included.
	Done  int    `json:"done"`
	Total int    `json:"total"`
	State string `json:"state"`
	// Error is what failed.
	Error string `json:"error,omitempty"`
}

// An attempt says every heartbeat that it is alive, and counts as dead after
// silence. The clocks of the machines may differ by the rest.
const (
	heartbeat = 10 * time.Second
	silence   = 2 * time.Minute
)

// attemptsFolder has a file for each run of a task.
const attemptsFolder = "tasks"

// alive reports whether the attempt may be at work.
func (a *Attempt) alive(now time.Time) bool {
	return a.State == Running && now.Sub(a.Updated) < silence
}

// Status is how a sweep stands.
type Status struct {
	// Cells counts the cells, or the units of a sweep of units: Done are those with a
	// result, Failed those of them whose result is an error row, Missing the others.
	Cells   int `json:"cells"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Missing int `json:"missing"`
	// Tasks has every task by its number.
	Tasks []TaskStatus `json:"tasks"`
	// Damaged are the files that are left out.
	Damaged []Damage `json:"damaged"`
}

// Damage is a file that is left out, because it is not as it was written.
type Damage struct {
	Path string `json:"path"`
	// Reason is a sentence without its full stop.
	Reason string `json:"reason"`
}

func (d Damage) String() string { return d.Path + ": " + d.Reason }

// TaskStatus is how a task stands.
type TaskStatus struct {
	Task int `json:"task"`
	// Done, Total and Failed are as in [Status].
	Done   int `json:"done"`
	Total  int `json:"total"`
	Failed int `json:"failed"`
	// Running means that an attempt was at work in the last two minutes.
	Running bool `json:"running"`
	// Attempts are the runs of the task by the time at which they started.
	Attempts []Attempt `json:"attempts"`
}

// Unfinished returns the numbers of the tasks that miss cells or units.
func (s *Status) Unfinished() []int {
	var out []int
	for _, t := range s.Tasks {
		if t.Done < t.Total {
			out = append(out, t.Task)
		}
	}
	return out
}

// Look says how a sweep stands, from its files alone. cells are all cells of the
// command; a sweep of units needs none. now is the time at which an attempt is
// running or is not. Errors are those of [Plan.Of] and of the file system.
func Look(folder string, p *Plan, cells []run.Cell, now time.Time) (Status, error) {
	if p.Units != nil {
		return p.unitStatus(folder, now)
	}
	return p.status(folder, cells, now, nil)
}

// status counts the results of all tasks. Where there is a writer, it merges them.
func (p *Plan) status(folder string, cells []run.Cell, now time.Time, into *store.Writer) (Status, error) {
	s := Status{Tasks: make([]TaskStatus, len(p.Tasks))}
	planned, err := p.series(cells)
	if err != nil {
		return s, err
	}
	files, err := databases(folder)
	if err != nil {
		return s, err
	}
	for task := range s.Tasks {
		db, tally, damaged, err := store.OpenIntact(files[task]...)
		if err != nil {
			return s, err
		}
		for _, d := range damaged {
			s.Damaged = append(s.Damaged, Damage{d.File, d.Reason})
		}
		t := &s.Tasks[task]
		t.count(tally, planned[task])
		if into != nil {
			err = into.Merge(db)
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return s, err
		}
	}
	return s, s.finish(folder, now)
}

// count compares what a task's databases have with how many cells of each series it has to compute.
func (t *TaskStatus) count(tally map[store.Series]store.Tally, planned map[store.Series]int) {
	for series, total := range planned {
		t.Total += total
		t.Done += min(tally[series].Done, total)
		t.Failed += tally[series].Failed
	}
}

// series returns how many cells of which series each task has to compute.
func (p *Plan) series(cells []run.Cell) ([]map[store.Series]int, error) {
	type key struct {
		task   int
		series store.Series
	}
	spans := map[key][]Range{}
	if err := p.each(cells, func(task int, s run.Span) {
		k := key{task, s.Stored()}
		spans[k] = append(spans[k], Range{From: s.From, To: s.To})
	}); err != nil {
		return nil, err
	}
	out := make([]map[store.Series]int, len(p.Tasks))
	for i := range out {
		out[i] = map[store.Series]int{}
	}
	for k, of := range spans {
		slices.SortFunc(of, func(a, b Range) int { return a.From - b.From })
		end := 0 // a cell that is listed twice counts once
		for _, r := range of {
			out[k.task][k.series] += max(r.To-max(r.From, end), 0)
			end = max(end, r.To)
		}
	}
	return out, nil
}

// unitStatus counts the units that are done.
func (p *Plan) unitStatus(folder string, now time.Time) (Status, error) {
	s := Status{Tasks: make([]TaskStatus, len(p.Tasks))}
	for i, task := range p.Tasks {
		for _, r := range task {
			for u := r.From; u < r.To; u++ {
				done, damage, err := p.unitIsDone(folder, u)
				if err != nil {
					return Status{}, err
				}
				if damage != nil {
					s.Damaged = append(s.Damaged, *damage)
				}
				s.Tasks[i].Total++
				if done {
					s.Tasks[i].Done++
				}
			}
		}
	}
	return s, s.finish(folder, now)
}

// finish adds the tasks up and reads their attempts.
func (s *Status) finish(folder string, now time.Time) error {
	for i := range s.Tasks {
		t := &s.Tasks[i]
		t.Task = i
		s.Cells += t.Total
		s.Done += t.Done
		s.Failed += t.Failed
	}
	s.Missing = s.Cells - s.Done
	dir := filepath.Join(folder, attemptsFolder)
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".json" {
			continue // a temporary file
		}
		path := filepath.Join(dir, f.Name())
		var a Attempt
		damage, err := readIntact(path, &a)
		if err != nil {
			return err
		}
		if damage == nil && (a.Task < 0 || a.Task >= len(s.Tasks)) {
			damage = &Damage{path, fmt.Sprintf("it is about task %d, and there are %d tasks", a.Task, len(s.Tasks))}
		}
		if damage != nil {
			s.Damaged = append(s.Damaged, *damage)
			continue
		}
		t := &s.Tasks[a.Task]
		t.Attempts = append(t.Attempts, a)
		t.Running = t.Running || a.alive(now)
	}
	for i := range s.Tasks {
		slices.SortStableFunc(s.Tasks[i].Attempts, func(a, b Attempt) int { return a.Started.Compare(b.Started) })
	}
	return nil
}
