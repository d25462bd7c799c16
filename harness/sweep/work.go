package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
)

// resultsOf is the folder of a sweep for its tasks' databases.
func resultsOf(folder string) string { return filepath.Join(folder, "results") }

// databases returns the databases of all tasks.
func databases(folder string) (map[int][]string, error) {
	entries, err := os.ReadDir(resultsOf(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[int][]string{}
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if task, err := strconv.Atoi(number); err == nil && filepath.Ext(e.Name()) == ".db" {
			out[task] = append(out[task], filepath.Join(resultsOf(folder), e.Name()))
		}
	}
	return out, nil
}

// newFile returns a path for the database of a run that no other run has.
func newFile(folder string, task int, runName string) string {
	begin := filepath.Join(resultsOf(folder), fmt.Sprintf("%04d-%s", task, runName))
	path := begin + ".db"
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = fmt.Sprintf("%s-%d.db", begin, i)
	}
}

// Work computes those cells of a task that no intact database of any of its runs has.
// spans are all cells of the command. Results go to a database of this run in the sweep's
// folder; e says how to compute, and its Store, File and Shard are set here. runName tells
// the runs of a task apart: it is part of file names, and no two runs at the same time may
// share it. About the work of a second is lost if the process is killed.
//
// When ctx is cancelled, what is computed is written, and Work returns ctx.Err().
// Other errors are those of [run.Engine.Run] and of the store, or say that the command has other
// cells than when it was planned.
func Work(ctx context.Context, folder string, p *Plan, task int, runName string, spans []run.Span, e run.Engine) error {
	return p.attempt(ctx, folder, task, runName, func(db *store.DB, file string, report func(done, total int)) error {
		if err := p.checkCells(spans); err != nil {
			return err
		}
		tell := e.Progress
		e.Progress = func(done, total int) {
			if report(done, total); tell != nil {
				tell(done, total)
			}
		}
		e.Store, e.File, e.Shard = db, file, run.Shard{Index: task, Of: p.Tasks}
		return e.Run(ctx, spans)
	})
}

// WorkUnits does the units of a task that are not done, one after the other, up to
// the first that fails. The last arguments are as those of [Work], and do does a
// unit; it may be called for a unit that another run of the task has begun.
func WorkUnits(ctx context.Context, folder string, p *Plan, task int, runName string,
	do func(ctx context.Context, unit string) error,
) error {
	return p.attempt(ctx, folder, task, runName, func(db *store.DB, file string, report func(done, total int)) error {
		var units []work.Unit
		for _, name := range p.unitsOf(task) {
			u := p.unit(name)
			u.Do = func(ctx context.Context) (any, error) { return runName, do(ctx, name) }
			units = append(units, u)
		}
		_, err := (&work.Runner{Log: work.NewLog(db, file), Workers: 1, Progress: report}).Run(ctx, units)
		return err
	})
}

// unit is what remembers that a unit of the plan is done.
func (p *Plan) unit(name string) work.Unit { return work.Unit{Key: "unit " + name, Digest: p.Hash} }

// An attempt says every heartbeat that it is alive, and counts as dead after
// silence. The clocks of the machines may differ by the rest.
const (
	heartbeat = 10 * time.Second
	silence   = 2 * time.Minute
)

// attemptKey is the key of the record that says how a run of a task stands.
const attemptKey = "attempt"

// attempt does a run of a task, and keeps how it stands in the run's own database. do gets the intact
// results of the task's earlier runs.
func (p *Plan) attempt(ctx context.Context, folder string, task int, runName string,
	do func(db *store.DB, file string, report func(done, total int)) error,
) error {
	if task < 0 || task >= p.Tasks {
		return fmt.Errorf("task %d: the sweep has tasks 0 to %d", task, p.Tasks-1)
	}
	if runName == "" || strings.HasPrefix(runName, ".") || strings.ContainsAny(runName, `/\`) {
		return fmt.Errorf("the run of task %d is named %q; give it a name that can be part of a file's", task, runName)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	files, err := databases(folder)
	if err != nil {
		return err
	}
	own, _, _, err := store.OpenIntact()
	if err != nil {
		return err
	}
	file := newFile(folder, task, runName)
	log := work.NewLog(own, file)
	var mu sync.Mutex
	a := Attempt{Run: runName, Host: host, PID: os.Getpid(), Started: time.Now(), State: Running}
	write := func() error {
		mu.Lock()
		defer mu.Unlock()
		a.Updated = time.Now()
		_, err := log.Keep(&work.Unit{Key: attemptKey}, &a)
		return err
	}
	if err := write(); err != nil {
		return errors.Join(err, own.Close())
	}
	stop := beat(write)
	err = func() error {
		db, _, _, err := store.OpenIntact(files[task]...) // runs that disagree are an error before anything is computed
		if err != nil {
			return err
		}
		err = do(db, file, func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			a.Done, a.Total = done, total
		})
		return cmp.Or(err, db.Close())
	}()
	stop()
	switch {
	case err == nil:
		a.State = Done
	case ctx.Err() != nil:
		a.State = Stopped
	default:
		a.State, a.Error = Failed, err.Error()
	}
	return cmp.Or(err, write(), own.Close())
}

// beat calls write every heartbeat until stop is called.
func beat(write func() error) (stop func()) {
	ended := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		t := time.NewTicker(heartbeat)
		defer t.Stop()
		for {
			select {
			case <-ended:
				return
			case <-t.C:
				write() // if this fails, the last one says so, or the work itself fails
			}
		}
	})
	return func() {
		close(ended)
		beating.Wait()
	}
}
