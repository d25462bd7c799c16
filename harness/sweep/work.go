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
)

// results is the folder of a sweep for its tasks' databases.
func results(folder string) string { return filepath.Join(folder, "results") }

// of begins the names of a task's files.
func of(task int) string { return fmt.Sprintf("%04d-", task) }

func databases(folder string) (map[int][]string, error) {
	entries, err := os.ReadDir(results(folder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	out := map[int][]string{}
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		if task, err := strconv.Atoi(number); err == nil && filepath.Ext(e.Name()) == ".db" {
			out[task] = append(out[task], filepath.Join(results(folder), e.Name()))
		}
	}
	return out, nil
}

// ownFile returns a path for the database of a run that no other run has.
func ownFile(folder string, task int, runName string) string {
	begin := filepath.Join(results(folder), of(task)+runName)
	path := begin + ".db"
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = fmt.Sprintf("%s-%d.db", begin, i)
	}
}

// Work computes those cells of a task that no intact database of any of its runs has.
// cells are all cells of the command. Results go to a database of this run in the sweep's
// folder; e says how to compute, and its Store, File and Shard are set here. runName tells
// the runs of a task apart: it is part of file names, and no two runs at the same time may
// share it. About the work of a second is lost if the process is killed.
//
// When ctx is cancelled, what is computed is written, and Work returns ctx.Err().
// Other errors are those of [Plan.Of], of [run.Engine.Run] and of the store.
func Work(ctx context.Context, folder string, p *Plan, task int, runName string, cells []run.Cell, e run.Engine) error {
	return p.attempt(ctx, folder, task, runName, func(report func(done, total int)) error {
		own, err := p.Of(task, cells)
		if err != nil {
			return err
		}
		files, err := databases(folder)
		if err != nil {
			return err
		}
		db, _, _, err := store.OpenIntact(files[task]...) // runs that disagree are an error before anything is computed
		if err != nil {
			return err
		}
		if tell := e.Progress; tell != nil {
			e.Progress = func(done, total int) {
				report(done, total)
				tell(done, total)
			}
		} else {
			e.Progress = report
		}
		e.Store, e.File, e.Shard = db, ownFile(folder, task, runName), run.Shard{}
		_, err = e.Run(ctx, own)
		return cmp.Or(err, db.Close())
	})
}

// attempt does a run of a task and keeps its file.
func (p *Plan) attempt(ctx context.Context, folder string, task int, runName string, do func(report func(done, total int)) error) error {
	if err := p.checkTask(task); err != nil {
		return err
	}
	if runName == "" || strings.HasPrefix(runName, ".") || strings.ContainsAny(runName, `/\`) {
		return fmt.Errorf("the run of task %d is named %q; give it a name that can be part of a file's", task, runName)
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	a := Attempt{Task: task, Run: runName, Host: host, PID: os.Getpid(), Started: time.Now(), State: Running}
	write := func() error {
		mu.Lock()
		defer mu.Unlock()
		a.Updated = time.Now()
		return writeJSON(filepath.Join(folder, attemptsFolder, of(task)+runName+".json"), &a)
	}
	if err := write(); err != nil {
		return err
	}
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
	err = do(func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		a.Done, a.Total = done, total
	})
	close(ended)
	beating.Wait()
	switch {
	case err == nil:
		a.State = Done
	case ctx.Err() != nil:
		a.State = Stopped
	default:
		a.State, a.Error = Failed, err.Error()
	}
	return cmp.Or(err, write())
}
