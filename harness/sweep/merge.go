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

// Lack says how much of a sweep is missing, and of which tasks.
func (s *Status) Lack() string {
	const shown = 10
	tasks, what := s.Unfinished(), "task"
	if len(tasks) > 1 {
		what = "tasks"
	}
	list := strings.ReplaceAll(strings.Trim(fmt.Sprint(tasks[:min(len(tasks), shown)]), "[]"), " ", ", ")
	if more := len(tasks) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%d of %d are missing, of %s %s", s.Missing, s.Cells, what, list)
}

// Merge adds the results of all tasks of a sweep of cells, and how long they took, to the database
// results.db of a store. spans are all cells of the command. If some are missing, those that exist
// are merged. Errors are those of [ReadStatus], a [*store.ConflictError] and those of the file system.
func Merge(folder string, p *Plan, spans []run.Span, into *store.DB) (s Status, err error) {
	w, err := into.Writer(filepath.Join(into.Dir(), store.FileName(0, 1)))
	if err != nil {
		return s, err
	}
	s, err = p.status(folder, spans, time.Now(), w)
	// Close may repeat the error that Append returned.
	if closed := w.Close(); closed != nil && !errors.Is(err, closed) {
		err = errors.Join(err, closed)
	}
	return s, err
}
