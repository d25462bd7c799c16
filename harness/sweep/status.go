package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"miglab/harness/store"
	"miglab/harness/work"
)

// A Status says how much of a sweep is done.
type Status struct {
	// Total counts the cells or units, Done those with a result, and Failed those whose result is an error row.
	Total, Done, Failed int
	// Unfinished are the tasks that miss results, ascending.
	Unfinished []int
	// Damaged are the files that are left out.
	Damaged []*store.Damage
}

// Lack says how many results are missing, and of which tasks.
func (s *Status) Lack() string {
	const shown = 10
	what := "task"
	if len(s.Unfinished) > 1 {
		what = "tasks"
	}
	first := s.Unfinished[:min(len(s.Unfinished), shown)]
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(first), "[]"), " ", ", ")
	if more := len(s.Unfinished) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d are missing, of %s %s", s.Total-s.Done, s.Total, what, list)
}

// ReadStatus counts the results of all tasks in the sweep's databases. It passes on the errors of
// [store.OpenIntact], and refuses a command that no longer computes the planned cells.
func ReadStatus(folder string, p *Plan, j Job) (Status, error) { return p.status(folder, j, nil) }

// Merge adds the results of all tasks, and the times that they took, to the database results.db of a store. If some are
// missing, those that exist are merged. Merge passes on the errors of [ReadStatus] and of the store.
func Merge(folder string, p *Plan, j Job, into *store.DB) (Status, error) {
	w, err := into.Writer(filepath.Join(into.Dir(), store.FileName(0, 1)))
	if err != nil {
		return Status{}, err
	}
	s, err := p.status(folder, j, w)
	// Close may repeat the error that Append returned.
	if closed := w.Close(); closed != nil && !errors.Is(err, closed) {
		err = errors.Join(err, closed)
	}
	return s, err
}

// status counts the results of all tasks. It merges them if there is a writer.
func (p *Plan) status(folder string, j Job, into *store.Writer) (s Status, err error) {
	if err := p.checkJob(j); err != nil {
		return s, err
	}
	planned := sharesOf(j.Spans, p.Tasks)
	files, err := databases(folder)
	if err != nil {
		return s, err
	}
	for task := range p.Tasks {
		db, tally, damaged, err := store.OpenIntact(files[task]...)
		if err != nil {
			return s, err
		}
		s.Damaged = append(s.Damaged, damaged...)
		missing := s.Total - s.Done
		s.countCells(task, tally, planned)
		err = s.countUnits(p.units(j, task), db)
		if s.Total-s.Done > missing {
			s.Unfinished = append(s.Unfinished, task)
		}
		if into != nil {
			err = errors.Join(err, into.Merge(db))
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return s, err
		}
	}
	return s, nil
}

// countCells compares the results of a task with the cells of each series that it has to compute.
func (s *Status) countCells(task int, tally map[store.Series]store.Tally, planned map[string]*share) {
	for _, p := range planned {
		total := p.cells[task]
		if total == 0 {
			continue
		}
		for _, series := range p.series {
			s.Total += total
			s.Done += min(tally[series].Done, total)
			s.Failed += tally[series].Failed
		}
	}
}

// countUnits counts the units that are done.
func (s *Status) countUnits(units []work.Unit, db *store.DB) error {
	log := work.NewLog(db, "")
	for i := range units {
		record, err := log.Find(&units[i])
		if err != nil {
			return err
		}
		s.Total++
		if record != nil {
			s.Done++
		}
	}
	return nil
}
