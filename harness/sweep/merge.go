package sweep

import (
	"errors"
	"fmt"
	"time"

	"miglab/harness/run"
	"miglab/harness/store"
)

// IncompleteError says that a sweep misses cells or units.
type IncompleteError struct {
	Status Status
}

func (e *IncompleteError) Error() string {
	tasks := e.Status.Unfinished()
	of := "of task"
	if len(tasks) > 1 {
		of = "of tasks"
	}
	const shown = 10
	for i, t := range tasks[:min(len(tasks), shown)] {
		if i > 0 {
			of += ","
		}
		of += fmt.Sprintf(" %d", t)
	}
	if more := len(tasks) - shown; more > 0 {
		of += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d are missing, %s", e.Status.Missing, e.Status.Cells, of)
}

// Merge appends the results of all tasks, and how long they took, to shard 0 of 1 of
// a store. cells are all cells of the command. If some are missing, it is an
// [*IncompleteError], after what there is was merged. A sweep of units has nothing to
// merge, and the store may be nil. Other errors are a [*ChangedError], a
// [*store.ConflictError] and those of the file system.
func Merge(folder string, p *Plan, cells []run.Cell, into *store.Store) (Status, error) {
	s, err := p.merge(folder, cells, into)
	if err == nil && s.Missing > 0 {
		err = &IncompleteError{s}
	}
	return s, err
}

func (p *Plan) merge(folder string, cells []run.Cell, into *store.Store) (Status, error) {
	if p.Units != nil {
		return p.unitStatus(folder, time.Now())
	}
	w, err := into.Writer(0, 1)
	if err != nil {
		return Status{}, err
	}
	found := outcomes{}
	damaged, err := store.ReadSegments(segments(folder), "", func(path string, records []store.Record) error {
		found.add(records)
		if err := w.Append(records...); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
	if err := errors.Join(err, w.Close()); err != nil {
		return Status{}, err
	}
	return p.status(folder, cells, found, damaged, time.Now())
}
