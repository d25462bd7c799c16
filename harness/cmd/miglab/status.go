package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/nearest"
	"miglab/harness/sweep"
	"miglab/harness/sweep/slurm"
)

func newStatus() *cobra.Command {
	var watch bool
	var results, format string
	c := &cobra.Command{
		Use:   "status [SWEEP]",
		Short: "Say what of a sweep is done, running, failed and missing",
		Args:  cli.Arguments(0, 1, "the folder of a sweep"),
		RunE: func(c *cobra.Command, args []string) error {
			var dir string
			var err error
			if len(args) > 0 {
				dir = args[0]
			} else if dir, err = sweep.Newest(filepath.Join(results, "sweeps")); err != nil {
				return err
			}
			s, err := readSweep(c.Context(), dir)
			if err != nil {
				return err
			}
			if watch {
				if format == "json" {
					return errors.New("--format json says how things stand now; leave --watch out")
				}
				return s.watch(c)
			}
			status, err := s.status()
			if err != nil {
				return err
			}
			if format == "json" {
				return emitJSON(c, struct {
					Sweep   string   `json:"sweep"`
					Command []string `json:"command"`
					Unit    string   `json:"unit"`
					sweep.Status
				}{s.dir, append([]string{"miglab"}, s.plan.Args...), s.unitName(), status})
			}
			s.print(c.OutOrStdout(), &status)
			return nil
		},
	}
	c.Flags().BoolVar(&watch, "watch", false,
		"show how the sweep goes on until it is done or nothing of it runs any more")
	cli.AddFlag(c, &format, "format", "text", cli.OneOf("format", []string{"json", "text"}), "text or json")
	c.Flags().StringVar(&results, "results", "results", "folder for results, where no sweep is named")
	return c
}

// print writes a line for each thing to know, and one for each task that is not done.
func (s *openSweep) print(w io.Writer, status *sweep.Status) {
	fmt.Fprintf(w, "sweep    %s\ncommand  miglab %s\n", s.dir, shellLine(s.plan.Args))
	fmt.Fprintf(w, "%-8s %d of %d done, %d of them failed, %d missing\n", s.unitName(), status.Done, status.Cells,
		status.Failed, status.Missing)
	done, running := 0, 0
	for _, t := range status.Tasks {
		switch {
		case t.Done == t.Total:
			done++
		case t.Running:
			running++
		}
	}
	fmt.Fprintf(w, "tasks    %d of %d done, %d running, %d missing\n", done, len(status.Tasks), running,
		len(status.Tasks)-done-running)
	for _, t := range status.Tasks {
		if t.Done < t.Total {
			fmt.Fprintf(w, "task %-3d %d of %d done, %s\n", t.Task, t.Done, t.Total, t.State())
		}
	}
	for _, d := range status.Damaged {
		fmt.Fprintf(w, "damaged  %s: %s\n", d.File, d.Reason)
	}
	switch {
	case status.Missing == 0:
		fmt.Fprintf(w, "merge    miglab merge %s\n", slurm.Word(s.dir))
	case running == 0:
		fmt.Fprintf(w, "go on    miglab submit --missing %s\n", slurm.Word(s.dir))
	}
}

// How often watch looks, at least, how often it prints a line where there is no terminal, and how
// long it waits for Slurm's answer.
const (
	lookEvery = 2 * time.Second
	lineEvery = time.Minute
	askAtMost = 30 * time.Second
)

// watch shows how the sweep goes on until nothing of it is at work. The files say what is done,
// and Slurm's queue, where there is one, what is still to come.
func (s *openSweep) watch(c *cobra.Command) error {
	jobs, err := sweep.Jobs(s.dir)
	if err != nil {
		return err
	}
	p := cli.NewProgress(c.ErrOrStderr(), s.unitName())
	defer p.Done()
	var said time.Time
	for {
		began := time.Now()
		// The queue first: what has ended since then has written its files.
		queue, err := s.inQueue(c.Context(), jobs)
		if c.Context().Err() != nil {
			return s.unwatched()
		}
		asked := err == nil
		if !asked {
			queue = "Slurm does not answer: " + err.Error() // the files go on saying how things stand
		}
		status, err := s.status()
		if err != nil {
			return err
		}
		if p.Terminal {
			p.Set(status.Done, status.Cells)
		}
		// Slurm knows nothing of tasks that were started by hand.
		runs := len(jobs) == 0 && slices.ContainsFunc(status.Tasks, func(t sweep.TaskStatus) bool { return t.Running })
		over := queue == "" && !runs || status.Missing == 0 && (!asked || queue == "")
		if !p.Terminal && (over || began.Sub(said) >= lineEvery) {
			fmt.Fprintln(c.OutOrStdout(),
				strings.TrimSuffix(fmt.Sprintf("%d of %d %s done; %s", status.Done, status.Cells, s.unitName(),
					queue), "; "))
			said = began
		}
		if over {
			p.Done()
			return s.reportEnd(c, &status, jobs)
		}
		select {
		case <-c.Context().Done():
			return s.unwatched()
		case <-time.After(max(lookEvery, 10*time.Since(began))): // a large sweep is not looked at all the time
		}
	}
}

// unwatched says that only watching ended.
func (s *openSweep) unwatched() error {
	return cli.InterruptedError{Kept: "the sweep goes on; to see it again: miglab status --watch " + slurm.Word(s.dir)}
}

// inQueue words what of the sweep Slurm has in its queue; "" if nothing.
func (s *openSweep) inQueue(ctx context.Context, jobs []sweep.Job) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askAtMost)
	defer cancel()
	var ids []string
	for _, j := range jobs {
		ids = append(ids, j.Array, j.Merge)
	}
	entries, err := slurm.Queue(ctx, ids)
	if err != nil {
		return "", err
	}
	count := map[string]int{}
	for _, e := range entries {
		if e.Ended() {
			continue
		}
		what := strings.ToLower(e.State)
		if e.State == "PENDING" {
			what += " (" + e.Reason + ")"
		}
		count[what]++
	}
	out := nearest.Names(slices.Sorted(maps.Keys(count)), func(what string) string {
		return fmt.Sprintf("%d %s", count[what], what)
	})
	return strings.Join(out, ", "), nil
}

// reportEnd says how a sweep ended that nothing is at work on.
func (s *openSweep) reportEnd(c *cobra.Command, status *sweep.Status, jobs []sweep.Job) error {
	if status.Missing > 0 {
		return s.missing(status)
	}
	if len(jobs) > 0 {
		merge := jobs[len(jobs)-1].Merge
		log := filepath.Join(s.dir, logs, merge+".log")
		said, err := os.ReadFile(log)
		if err == nil {
			if _, err := c.OutOrStdout().Write(said); err != nil {
				return err
			}
			return s.merged(c.Context(), merge, log)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "merge    miglab merge %s\n", slurm.Word(s.dir))
	return nil
}

// merged is an error if Slurm answers, and still knows that the merge failed.
func (s *openSweep) merged(ctx context.Context, job, log string) error {
	ctx, cancel := context.WithTimeout(ctx, askAtMost)
	defer cancel()
	entries, _ := slurm.Queue(ctx, []string{job})
	for _, e := range entries {
		if e.State != "COMPLETED" {
			return cli.FailedError{Err: fmt.Errorf("the merge, job %s, ended as %s; %s has what it said; to "+
				"merge again: miglab merge %s", job, e.State, log, slurm.Word(s.dir))}
		}
	}
	return nil
}
