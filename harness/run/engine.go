package run

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"miglab/harness/algo"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	"miglab/harness/work"
)

// An Engine computes cells. Only Store must be set.
type Engine struct {
	Store *store.DB // has the earlier results and receives the new ones
	// File is the database of Store that receives the results. "" means the shard's file in the store's folder.
	File    string
	Workers int   // the number of cells that are computed at a time; 0 means one for each processor
	Shard   Shard // the part of the cells that this engine computes
	// Progress receives the number of the shard's cells that are done: before the first is computed, at intervals, and
	// at the end. Calls do not overlap. May be nil.
	Progress func(done, total int)
	// Share receives the share of the work that is done, estimated from the times of the computed cells. It is called
	// before each call of Progress at intervals. May be nil.
	Share func(share float64)
	// Failed receives errors whose text says more than the results keep. Calls may overlap. May be nil.
	Failed func(algo.Failure)
}

// Run computes the cells of the spans that have no result in the store, or whose result is [store.KindTimeout] or
// [store.KindPanic]. Other error rows are results and are not computed again. A cell listed twice is computed once.
//
// When ctx is cancelled, Run keeps the finished cells and returns ctx.Err(). An error of the dataset
// or of the store stops the run.
func (e *Engine) Run(ctx context.Context, spans []Span) error {
	p, err := e.plan(ctx, spans)
	if err != nil {
		return err
	}
	e.progress(p.done, p.total)
	if p.done == p.total && !p.unkept {
		return nil
	}
	file := e.File
	if file == "" {
		file = filepath.Join(e.Store.Dir(), store.FileName(e.Shard.Index, e.Shard.count()))
	}
	w, err := e.Store.Writer(file)
	if err != nil {
		return err
	}
	for name, g := range p.models {
		if err := w.Keep(store.Model{Name: name, JSON: string(g.Definition()), File: "this run"}); err != nil {
			return err
		}
	}
	err = e.compute(ctx, p, w)
	if closed := w.Close(); closed != nil && !errors.Is(err, closed) {
		return errors.Join(err, closed)
	}
	return err
}

// progress calls Progress unless it is nil.
func (e *Engine) progress(done, total int) {
	if e.Progress != nil {
		e.Progress(done, total)
	}
}

// reportEvery is the shortest time between two calls of Progress.
const reportEvery = 100 * time.Millisecond

// compute computes the cells without a result, piece by piece, and writes them.
func (e *Engine) compute(ctx context.Context, p *backlog, w *store.Writer) error {
	workers := e.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	done, reported := p.done, time.Now()
	report := func(s *planned, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		done++
		s.count(took)
		if time.Since(reported) >= reportEvery {
			reported = time.Now()
			if e.Share != nil {
				e.Share(p.shareDone())
			}
			e.progress(done, p.total)
		}
	}
	err := p.eachPiece(ctx, func(first int) error {
		parts := mixJobs(splitJobs(p.piece(first), workers))
		return work.Each(ctx, workers, len(parts), func(ctx context.Context, i int) error {
			return e.work(ctx, parts[i], w, report)
		})
	})
	e.progress(done, p.total)
	return err
}

// A report receives the series of a finished cell and the time that it took.
type report func(s *planned, took time.Duration)

// work generates the instances of jobs with the same series, each once, and computes their cells.
func (e *Engine) work(ctx context.Context, jobs []job, w *store.Writer, tell report) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	series := jobs[0].series
	inputs := make([]input, len(jobs))
	for i := range jobs {
		in, err := series[0].instance(jobs[i].instance)
		if err != nil {
			return err
		}
		inputs[i] = input{index: jobs[i].instance, payload: in}
	}
	for _, s := range series {
		if err := e.cells(ctx, s, inputs, w, tell); err != nil {
			return err
		}
	}
	return nil
}

// cells computes cells of one series and appends them to the store. Of cells that are solved together, the first is
// reported with the time of all.
func (e *Engine) cells(ctx context.Context, s *planned, inputs []input, w *store.Writer, tell report) error {
	began := time.Now()
	for part := range slices.Chunk(inputs, s.groupSize()) {
		answers := s.solveTogether(ctx, part)
		for i, in := range part {
			var row store.Row
			var err error
			if answers != nil {
				row = resultRow(answers[i])
			} else if row, err = e.row(ctx, s.Trial, in.payload, in.index); err != nil {
				return err
			}
			row.Instance = in.index
			if err := w.Append(s.Series, row); err != nil {
				return err
			}
			now := time.Now()
			tell(s, now.Sub(began))
			began = now
		}
	}
	return nil
}

// row computes one cell. It returns an error only if ctx is done; the cell then has no result.
func (e *Engine) row(ctx context.Context, t *Trial, in task.Payload, index int) (store.Row, error) {
	if err := ctx.Err(); err != nil {
		return store.Row{}, err
	}
	a, err := t.solve(ctx, in, index)
	switch {
	case err == nil:
		return resultRow(a), nil
	case ctx.Err() != nil:
		return store.Row{}, ctx.Err()
	}
	text := err.Error()
	if own, ok := errors.AsType[algo.Failure](err); ok {
		text = own.FailureText()
		if e.Failed != nil {
			e.Failed(own)
		}
	}
	return store.Row{Kind: errorKind(err), Error: cmp.Or(text, "an error without a text")}, nil
}

// resultRow returns the row of an answer, without its instance.
func resultRow(a track.Answer) store.Row {
	return store.Row{Metrics: storedMetrics(a.Metrics), Micros: float64(a.Took) / float64(time.Microsecond)}
}
