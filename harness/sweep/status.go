package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
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

// Status is how a sweep stands.
type Status struct {
	// Cells counts the cells, or the units of a sweep of units: Done are those with a
	// result, Failed those of them whose result is an error row, Missing the others.
	Cells   int
	Done    int
	Failed  int
	Missing int
	// Tasks has every task by its number.
	Tasks []TaskStatus
	// Damaged are the files that are left out.
	Damaged []*store.Damage
}

// TaskStatus is how a task stands.
type TaskStatus struct {
	Task int
	// Done, Total and Failed are as in [Status].
	Done   int
	Total  int
	Failed int
	// Running means that an attempt was at work in the last two minutes.
	Running bool
	// Attempts are the runs of the task by the time at which they started.
	Attempts []Attempt
}

// State says what became of the last run of a task that misses results.
func (t *TaskStatus) State() string {
	if len(t.Attempts) == 0 {
		return "no run of it is known"
	}
	a := t.Attempts[len(t.Attempts)-1]
	switch {
	case t.Running:
		return fmt.Sprintf("running: %d of %d on %s", a.Done, a.Total, a.Host)
	case a.State == Running:
		return fmt.Sprintf("lost: no word from %s since %s", a.Host, a.Updated.UTC().Format(time.DateTime))
	case a.State == Failed:
		return "failed: " + a.Error
	case a.State == Done:
		return "ended, but results are damaged or gone"
	}
	return a.State
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

// ReadStatus says how a sweep stands, from its files alone. spans are all cells of the
// command; a sweep of units needs none. now is the time at which an attempt is
// running or is not. Errors are those of the file system, or say that the command has other cells
// than when it was planned.
func ReadStatus(folder string, p *Plan, spans []run.Span, now time.Time) (Status, error) {
	return p.status(folder, spans, now, nil)
}

// status counts the results of all tasks. Where there is a writer, it merges them.
func (p *Plan) status(folder string, spans []run.Span, now time.Time, into *store.Writer) (s Status, err error) {
	s.Tasks = make([]TaskStatus, p.Tasks)
	if p.Units == nil {
		if err := p.checkCells(spans); err != nil {
			return s, err
		}
	}
	planned := sharesOf(spans, p.Tasks)
	files, err := databases(folder)
	if err != nil {
		return s, err
	}
	for task := range s.Tasks {
		t := &s.Tasks[task]
		t.Task = task
		db, tally, damaged, err := store.OpenIntact(files[task]...)
		if err != nil {
			return s, err
		}
		s.Damaged = append(s.Damaged, damaged...)
		t.count(tally, planned)
		err = errors.Join(p.countUnits(t, db), t.readAttempts(db, now))
		if into != nil {
			err = errors.Join(err, into.Merge(db))
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return s, err
		}
		s.Cells += t.Total
		s.Done += t.Done
		s.Failed += t.Failed
	}
	s.Missing = s.Cells - s.Done
	return s, nil
}

// count compares what a task's databases have with how many cells of each series it has to compute.
func (t *TaskStatus) count(tally map[store.Series]store.Tally, planned map[string]*share) {
	for _, p := range planned {
		if total := p.cells[t.Task]; total > 0 {
			for _, series := range p.series {
				have := tally[series]
				t.Total += total
				t.Done += min(have.Done, total)
				t.Failed += have.Failed
			}
		}
	}
}

// countUnits counts the units of a task that are done.
func (p *Plan) countUnits(t *TaskStatus, db *store.DB) error {
	log := work.NewLog(db, "")
	for _, name := range p.unitsOf(t.Task) {
		u := p.unit(name)
		record, err := log.Find(&u)
		if err != nil {
			return err
		}
		if t.Total++; record != nil {
			t.Done++
		}
	}
	return nil
}

// readAttempts reads how the runs of a task stand.
func (t *TaskStatus) readAttempts(db *store.DB, now time.Time) error {
	all, err := db.Units(attemptKey)
	if err != nil {
		return err
	}
	for _, u := range all {
		var a Attempt
		if err := json.Unmarshal([]byte(u.Record), &a); err != nil {
			return fmt.Errorf("how a run of task %d stands: %w", t.Task, err)
		}
		t.Attempts = append(t.Attempts, a)
		t.Running = t.Running || a.State == Running && now.Sub(a.Updated) < silence
	}
	slices.SortStableFunc(t.Attempts, func(a, b Attempt) int { return a.Started.Compare(b.Started) })
	return nil
}
