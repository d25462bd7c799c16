package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"miglab/harness/sweep"
)

func newSubmitLocal() *cobra.Command {
	f := newSubmitFlags(engineLocal)
	c := &cobra.Command{
		Use:     "local [flags] -- run|reproduce|train ...",
		Short:   "Run the tasks in processes of this machine",
		Long:    "local runs the tasks here and merges. miglab submit --help says what all engines have in common.",
		Example: "  miglab submit local -- run --algorithms far --datasets WIDETIMES --instances 100000",
	}
	f.add(c)
	addFlag(c, &f.workers, "workers", "0", atLeast(0), "tasks at a time; 0 means one a processor")
	return c
}

// local runs tasks in processes of this machine and merges.
func (f *submitFlags) local(c *cobra.Command, s *openSweep, n submission) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	command := func(task int) []string {
		return []string{program, "task", s.dir, "--index", strconv.Itoa(task), "--workers", "1"}
	}
	if f.dryRun {
		s.describe(c, n)
		for _, task := range n.tasks {
			fmt.Fprintln(c.OutOrStdout(), shell(command(task)))
		}
		fmt.Fprintln(c.OutOrStdout(), shell([]string{program, "merge", s.dir}))
		return nil
	}
	if err := s.submit(n, func() (sweep.Job, error) {
		return sweep.Job{Engine: engineLocal, IDs: []string{strconv.Itoa(os.Getpid())}}, nil
	}); err != nil {
		return err
	}
	s.describe(c, n)
	p := newProgress(c.ErrOrStderr(), "tasks")
	var mu sync.Mutex
	ended := 0
	var g errgroup.Group
	g.SetLimit(cmp.Or(f.workers, runtime.GOMAXPROCS(0)))
	for _, task := range n.tasks {
		g.Go(func() error {
			if c.Context().Err() != nil {
				return nil
			}
			log := filepath.Join(s.dir, logs, fmt.Sprintf("%s_%d.log", n.name, task))
			err := runLogged(c.Context(), log, command(task))
			mu.Lock()
			defer mu.Unlock()
			ended++
			p.set(ended, len(n.tasks))
			if err != nil && c.Context().Err() == nil {
				// The others go on: what is missing in the end, merge says.
				fmt.Fprintf(c.ErrOrStderr(), "miglab: task %d: %v; %s has what it said\n", task, err, log)
			}
			return nil
		})
	}
	err = g.Wait()
	p.done()
	if err = cmp.Or(err, c.Context().Err()); err != nil {
		return err
	}
	return s.merge(c)
}

// runLogged runs a command whose output goes to a file. When ctx is done it gets TERM.
func runLogged(ctx context.Context, log string, command []string) error {
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer out.Close()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = out, out
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if err := c.Run(); err != nil {
		return err
	}
	return out.Close()
}
