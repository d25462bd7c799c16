// Package work does pieces of work that must not be done twice, and keeps their records in a results database: the
// artefacts of papers, trainings, the simulations of advise, and measurements on GPUs. Package run keeps cells in the
// same database.
package work

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"miglab/harness/store"
)

// A Unit is a piece of work that must not be done twice.
type Unit struct {
	// Key names the unit. Messages print it.
	Key string
	// Digest identifies everything that the record depends on, such as the program and its inputs. A
	// record with another digest is void.
	Digest string
	// Do does the work and returns its record, which is kept as JSON. A nil record is not kept: the unit
	// has failed, and the next call tries it again. An error ends the run.
	Do func(context.Context) (any, error)
	// Holds reports whether a record is still true, for example whether its files exist; nil means that it is.
	Holds func(record json.RawMessage) bool
}

// A Log keeps the records of finished units in a database. It is safe for concurrent use.
type Log struct {
	db   *store.DB
	file string

	mu     sync.Mutex
	writer *store.Writer
}

// NewLog returns the log of a DB. New records go to one of its files; "" means results.db in its folder.
func NewLog(db *store.DB, file string) *Log {
	if file == "" {
		file = filepath.Join(db.Dir(), store.FileName(0, 1))
	}
	return &Log{db: db, file: file}
}

// Find returns the record of a unit, or nil if it is not done. It passes on the errors of [store.DB.Units].
func (l *Log) Find(u *Unit) (json.RawMessage, error) {
	all, err := l.db.Units(u.Key)
	for _, have := range all {
		record := json.RawMessage(have.Record)
		if have.Key == u.Key && have.Digest == u.Digest && (u.Holds == nil || u.Holds(record)) {
			return record, err
		}
	}
	return nil, err
}

// All returns the records of all units whose keys begin with a prefix, by key. It passes on the errors of
// [store.DB.Units].
func (l *Log) All(prefix string) (out []json.RawMessage, err error) {
	all, err := l.db.Units(prefix)
	for _, u := range all {
		out = append(out, json.RawMessage(u.Record))
	}
	return out, err
}

// Keep keeps a record of a unit. It replaces an earlier one.
func (l *Log) Keep(u *Unit, record any) (json.RawMessage, error) {
	raw, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", u.Key, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writer == nil {
		if l.writer, err = l.db.Writer(l.file); err != nil {
			return nil, err
		}
	}
	return raw, l.writer.KeepUnit(store.Unit{Key: u.Key, Digest: u.Digest, Record: string(raw)})
}

// A Runner does units.
type Runner struct {
	Log *Log
	// Workers is the number of units that are done at a time; 0 means one for each processor. A single worker does the
	// units in their order.
	Workers int
	// Progress receives the number of units that are done, first before any is begun. Calls do not overlap. May be nil.
	Progress func(done, total int)
}

// Run does the units that are not done and returns the records of all, in their order; nil for a unit
// that has failed. Each record is kept before its worker goes on. Once Do returns an error or ctx ends, no
// other unit is begun, and the error is returned after those at work have ended.
func (r *Runner) Run(ctx context.Context, units []Unit) ([]json.RawMessage, error) {
	var mu sync.Mutex
	done := 0
	report := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		if r.Progress != nil {
			r.Progress(done, len(units))
		}
	}
	report(0)
	records := make([]json.RawMessage, len(units))
	return records, Each(ctx, r.Workers, len(units), func(ctx context.Context, i int) (err error) {
		if records[i], err = r.unit(ctx, &units[i]); err == nil {
			report(1)
		}
		return err
	})
}

// Each calls do with the numbers 0 to n-1, in this order, on so many workers; 0 means one for each processor. After the
// first error the context of the calls ends. Each then waits for the calls that run, calls do with the rest, and
// returns the error.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i := range n {
		g.Go(func() error { return do(ctx, i) })
	}
	return g.Wait()
}

// unit returns the record of a unit. It does the unit unless a record is kept.
func (r *Runner) unit(ctx context.Context, u *Unit) (json.RawMessage, error) {
	if raw, err := r.Log.Find(u); raw != nil || err != nil {
		return raw, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	record, err := u.Do(ctx)
	if err != nil || record == nil {
		return nil, err
	}
	return r.Log.Keep(u, record)
}
