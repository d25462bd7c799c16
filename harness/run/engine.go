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

	"golang.org/x/sync/errgroup"

	"miglab/harness/algo"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
)

// An Engine computes cells. Only Store must be set.
type Engine struct {
	// Store has what was computed before and takes what is computed now.
	Store *store.DB
	// File is the database of Store that takes the results. If it is empty, it is the shard's
	// in the store's folder.
	File string
	// Workers is how many cells are computed at a time; 0 means one for each processor.
	Workers int
	// Shard is the part of the cells that this engine computes.
	Shard Shard
	// Progress is told how many of the shard's cells are done: once before the first
	// is computed, and after every few. Calls do not overlap. May be nil.
	Progress func(done, total int)
	// Share is told before each call of Progress which share of the work is done, by the times of the cells that were
	// computed. May be nil.
	Share func(share float64)
	// Failed is told the errors that say more than the results keep. Calls may overlap. May be nil.
	Failed func(algo.Failure)
}

// Run computes the cells of the spans that the store lacks or that ran out of time before. Error
// rows are results too and are not computed again. A cell listed twice is computed once.
//
// When ctx is cancelled, what is finished is kept, and Run returns ctx.Err(). Other errors are those
// of the dataset and of the store; they stop the run.
func (e *Engine) Run(ctx context.Context, spans []Span) error {
	p, err := e.plan(ctx, spans)
	if err != nil {
		return err
	}
	e.progress(p.done, p.total)
	if p.done == p.total && len(p.names) == 0 && !p.unkept {
		return nil
	}
	file := e.File
	if file == "" {
		file = filepath.Join(e.Store.Dir(), store.FileName(e.Shard.Index, e.Shard.parts()))
	}
	w, err := e.Store.Writer(file)
	if err != nil {
		return err
	}
	for program, name := range p.names {
		if err := w.Name(program, name); err != nil {
			return err
		}
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

func (e *Engine) progress(done, total int) {
	if e.Progress != nil {
		e.Progress(done, total)
	}
}

// reportEvery is how often progress is told.
const reportEvery = 100 * time.Millisecond

func (e *Engine) compute(ctx context.Context, p *backlog, w *store.Writer) error {
	workers := e.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var mu sync.Mutex
	done, told := p.done, time.Now()
	report := func(s *planned, took time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		done++
		s.tell(took)
		if time.Since(told) >= reportEvery {
			told = time.Now()
			if e.Share != nil {
				e.Share(p.shareDone())
			}
			e.progress(done, p.total)
		}
	}
	err := p.eachPiece(ctx, func(first int) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(workers)
		for _, part := range mixJobs(splitJobs(p.piece(first), workers)) {
			g.Go(func() error { return e.work(ctx, part, w, report) })
		}
		return g.Wait()
	})
	e.progress(done, p.total)
	return err
}

// A report is told of a cell that is done, and how long it took.
type report func(s *planned, took time.Duration)

// work generates the instances of jobs with the same series, each once, and computes their
// cells.
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
		inputs[i] = input{jobs[i].instance, in}
	}
	for _, s := range series {
		if err := e.cells(ctx, s, inputs, w, tell); err != nil {
			return err
		}
	}
	return nil
}

// cells computes cells of one series. The first of those that are solved together takes the time of all.
func (e *Engine) cells(ctx context.Context, s *planned, inputs []input, w *store.Writer, tell report) error {
	began := time.Now()
	for part := range slices.Chunk(inputs, s.together()) {
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

// row computes one cell. It is an error only if ctx is done: then nothing is
// known about the cell.
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
		if text = own.FailureText(); e.Failed != nil {
			e.Failed(own)
		}
	}
	return store.Row{Kind: kindOf(err), Error: cmp.Or(text, "an error without a text")}, nil
}

func resultRow(a track.Answer) store.Row {
	return store.Row{Metrics: metricsOf(a.Metrics), Micros: float64(a.Took) / float64(time.Microsecond)}
}
