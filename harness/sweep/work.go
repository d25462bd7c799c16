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

	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/work"
)

// resultsOf returns the folder of a sweep for its tasks' databases.
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

// Work computes the cells of a task, or does its units one after the other. It skips those that an intact database of
// one of the task's runs has. Results go to a database of this run in the sweep's folder. e says how to compute; Work
// sets its Store, File and Shard. runName tells the runs of a task apart: it is part of file names, and no two runs at
// the same time may share it. If the process is killed, about the work of a second is lost, or one unit.
//
// When ctx is cancelled, Work writes the finished cells and returns ctx.Err(). It passes on the errors of
// [run.Engine.Run], of a unit and of the store, and refuses a command that no longer computes the planned cells.
func Work(ctx context.Context, folder string, p *Plan, task int, runName string, j Job, e run.Engine) error {
	if task < 0 || task >= p.Tasks {
		return fmt.Errorf("task %d: the sweep has tasks 0 to %d", task, p.Tasks-1)
	}
	if runName == "" || strings.HasPrefix(runName, ".") || strings.ContainsAny(runName, `/\`) {
		return fmt.Errorf("the run of task %d is named %q; give it a name that can be part of a file's", task, runName)
	}
	if err := p.checkJob(j); err != nil {
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
	file := newFile(folder, task, runName)
	_, err = db.Writer(file) // a folder that cannot be written is an error before anything is computed
	if err == nil && j.Units != nil {
		runner := work.Runner{Log: work.NewLog(db, file), Workers: 1, Progress: e.Progress}
		_, err = runner.Run(ctx, p.units(j, task))
	} else if err == nil {
		e.Store, e.File, e.Shard = db, file, run.Shard{Index: task, Of: p.Tasks}
		err = e.Run(ctx, j.Spans)
	}
	return cmp.Or(err, db.Close())
}
