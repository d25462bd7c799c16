package sweep

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"miglab/harness/run"
	"miglab/harness/store"
)

// IncompleteError says that a sweep misses cells or units.
type IncompleteError struct {
	Status Status
}

func (e *IncompleteError) Error() string {
	const shown = 10
	tasks, what := e.Status.Unfinished(), "task"
	if len(tasks) > 1 {
		what = "tasks"
	}
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(tasks[:min(len(tasks), shown)]), "[]"), " ", ", ")
	if more := len(tasks) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d are missing, of %s %s", e.Status.Missing, e.Status.Cells, what, list)
}

// Merge adds the results of all tasks, and how long they took, to the database results.db of a
// store. spans are all cells of the command. If some are missing, it is an
// [*IncompleteError], after those that exist were merged. A sweep of units has nothing to
// merge, and the store may be nil. Other errors are those of [ReadStatus], a
// [*store.ConflictError] and those of the file system.
func Merge(folder string, p *Plan, spans []run.Span, into *store.DB) (s Status, err error) {
	var w *store.Writer
	if p.Units == nil {
		if w, err = into.Writer(filepath.Join(into.Dir(), store.FileName(0, 1))); err != nil {
			return s, err
		}
	}
	s, err = p.status(folder, spans, time.Now(), w)
	if w != nil {
		// Close may repeat the error that Append returned.
		if closed := w.Close(); closed != nil && !errors.Is(err, closed) {
			err = errors.Join(err, closed)
		}
	}
	if err == nil && s.Missing > 0 {
		err = &IncompleteError{s}
	}
	return s, err
}
