package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/external"
	"miglab/harness/schedule"
	"miglab/reports"
)

var scheduleFormats = append([]string{"json", "text"}, reports.FigureFormats...)

func newSchedule() *cobra.Command {
	var pf problemFlags
	var algorithm string
	var out cli.File
	var timeline figureFile
	c := &cobra.Command{
		Use:   "schedule",
		Short: "Schedule a batch of tasks and print or draw the schedule",
		RunE: func(c *cobra.Command, _ []string) error {
			external.Echo = c.ErrOrStderr()
			a, err := algo.ParseFor(algorithm, algo.TrackBatch)
			if err != nil {
				return err
			}
			p, err := pf.problem(c.Context())
			if err != nil {
				return err
			}
			s, m, err := pf.schedule(c.Context(), a, p)
			if err != nil {
				return err
			}
			title := fmt.Sprintf("%s on %s", a.ID, p.GPU)
			if timeline.Path != "" {
				line := reports.TimelineLine{Name: a.ID, History: schedule.NewHistory(p, s, nil)}
				chart := reports.Timeline{Title: title, Lines: []reports.TimelineLine{line}}
				if err := timeline.draw(c, chart); err != nil {
					return err
				}
			}
			return out.Emit(c, func(w io.Writer) error {
				switch out.Format {
				case "json":
					return schedule.Encode(w, p, s)
				case "text":
					return writeSchedule(w, p, s, m)
				}
				g := reports.Gantt{Panels: []reports.GanttPanel{reports.NewGanttPanel(title, p, s)}}
				return reports.Encode(w, out.Format, g)
			})
		},
	}
	pf.register(c)
	cli.RequireFlags(c, "tasks")
	c.Flags().StringVar(&algorithm, "algorithm", "far", "algorithm (miglab list algorithms), or exec: and a program")
	out.Register(c, "out", "file to write, for example schedule.svg (default: standard output)", scheduleFormats...)
	out.RegisterFormat(c, scheduleFormats...)
	timeline.registerTimeline(c, "the schedule")
	return c
}

// schedule runs an algorithm and checks its schedule with the referee. Errors about a task name its line.
func (f *problemFlags) schedule(
	ctx context.Context, a algo.Algorithm, p schedule.Problem,
) (s schedule.Schedule, m schedule.Metrics, err error) {
	s, err = a.Schedule(ctx, p)
	if infeasible, ok := errors.AsType[*algo.InfeasibleError](err); ok {
		return s, m, fmt.Errorf("%s: %w", f.file.locate(infeasible.Task), err)
	}
	if failure, ok := errors.AsType[algo.Failure](err); ok {
		return s, m, cli.FailedError{Err: failure}
	}
	if err != nil {
		return s, m, err
	}
	m, err = schedule.Measure(p, s)
	if invalid, broken := errors.AsType[*schedule.InvalidError](err); broken {
		err = cli.FailedError{Err: invalid.List("the schedule of " + a.ID)}
	}
	return s, m, err
}

// writeSchedule prints the tasks and operations of a schedule as a table, in the order of their starts.
func writeSchedule(w io.Writer, p schedule.Problem, s schedule.Schedule, m schedule.Metrics) error {
	area, err := bounds.Area(p)
	if err != nil {
		return err
	}
	t := reports.Table{
		Title:   fmt.Sprintf("%s on %d x %s, %s reconfiguration", s.Algorithm, p.GPUs(), p.GPU, p.Model),
		Columns: reports.Right("start (s)", "end (s)", "GPU").Left("slices", "what", "of"),
		Notes: []string{
			fmt.Sprintf("makespan %.3f s; area bound %.3f s; utilisation %.1f %%; %d reconfigurations taking %.2f s",
				m.Makespan, area, 100*m.Utilisation, m.Reconfigurations, m.Reconfiguring),
		},
	}
	for _, b := range schedule.Bars(p, s) {
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("%.3f", b.Start), fmt.Sprintf("%.3f", b.End), fmt.Sprint(b.GPU),
			fmt.Sprintf("%d-%d", b.Slice, b.Slice+b.Width-1), string(b.Kind), b.Label,
		})
	}
	return t.Text(w)
}
