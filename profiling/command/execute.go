package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/atomicfile"
	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/execute"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/session"
	"miglab/reports"
)

type executeFlags struct {
	device                      deviceFlags
	kernels                     kernelFlags
	tasks, algorithm, plan, out string
}

func newExecute() *cobra.Command {
	var f executeFlags
	c := &cobra.Command{
		Use:   "execute",
		Short: "Run a schedule on a real GPU and set its end times beside the simulated ones",
		RunE:  func(c *cobra.Command, _ []string) error { return f.execute(c) },
	}
	f.device.register(c, mig.SourceMIG, measure.ModeExisting)
	f.kernels.register(c)
	c.Flags().StringVar(&f.tasks, "tasks", "", "tasks CSV, the times that the schedule is made with")
	c.Flags().StringVar(&f.algorithm, "algorithm", "far", "algorithm (miglab list algorithms)")
	c.Flags().StringVar(&f.plan, "schedule", "",
		"schedule JSON to run in place of an algorithm's (miglab schedule writes it)")
	cli.AddFolder(c, &f.out, "out", filepath.Join("results", "execute"),
		"folder for the times, the table and the chart")
	return c
}

func (f *executeFlags) execute(c *cobra.Command) error {
	kernels, err := f.kernels.read()
	if err != nil {
		return err
	}
	if f.tasks == "" {
		return errors.New("--tasks names the times that the schedule is made with; `miglab profile` writes such a file")
	}
	if f.plan != "" && c.Flags().Changed("algorithm") {
		return errors.New("give either --algorithm or --schedule")
	}
	var a algo.Algorithm
	if f.plan == "" {
		if a, err = algo.ParseFor(f.algorithm, algo.TrackBatch); err != nil {
			return err
		}
	}
	var p schedule.Problem
	var s schedule.Schedule
	var programs map[string]*launch.Kernel
	return f.device.inSession(c, func(id profiling.Identity) error {
		p = schedule.Problem{GPU: id.Model}
		var err error
		p.Tasks, err = readFile(f.tasks, func(r io.Reader, path string) (tasks task.Batch, err error) {
			var lines []int
			if tasks, lines, err = task.ReadCSVLines(r, path, p.GPU); err == nil {
				programs, err = findPrograms(path, tasks, lines, kernels)
			}
			return tasks, err
		})
		if err != nil {
			return err
		}
		if f.plan == "" {
			s, err = a.Schedule(c.Context(), p)
		} else {
			s, err = readFile(f.plan, func(r io.Reader, path string) (schedule.Schedule, error) {
				s, err := schedule.Decode(r, p)
				if err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
				return s, err
			})
		}
		if err != nil {
			return err
		}
		return writable(f.out)
	}, func(gpu *session.Session) error { return f.run(c, gpu, p, s, programs) })
}

// run runs a schedule on a GPU and writes the times of the tasks that have ended.
func (f *executeFlags) run(c *cobra.Command, gpu *session.Session, p schedule.Problem, s schedule.Schedule,
	programs map[string]*launch.Kernel,
) error {
	return cli.RunUnits(c, "tasks", func(bar *cli.Progress) error {
		happened, err := execute.Run(c.Context(), p, s,
			execute.Options{GPU: gpu, Kernels: programs, Launcher: measure.Real{}, Progress: bar.Set})
		ended := len(happened.Placements)
		if ended > 0 {
			err = errors.Join(err, writeExecution(c, f.out, gpu, p, s, happened))
		}
		if c.Context().Err() != nil {
			return cli.InterruptedError{
				Kept: fmt.Sprintf("%d of %d tasks had ended; %s has their times", ended, len(p.Tasks), f.out),
			}
		}
		if _, failed := errors.AsType[*execute.TaskError](err); failed {
			return cli.FailedError{Err: err}
		}
		return err
	})
}

// findPrograms finds the kernel of every task and checks that the kernels miss nothing. A task such as CFD#2 is a copy
// of the kernel CFD.
func findPrograms(path string, tasks task.Batch, lines []int,
	kernels []launch.Kernel,
) (map[string]*launch.Kernel, error) {
	byName := map[string]*launch.Kernel{}
	for i := range kernels {
		byName[kernels[i].Name] = &kernels[i]
	}
	programs := map[string]*launch.Kernel{}
	var used []launch.Kernel
	for i, t := range tasks {
		name, _, _ := strings.Cut(t.Name, "#")
		k, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("%s:%d: task %s is no kernel of the manifest; --kernels names another", path,
				lines[i], t.Name)
		}
		programs[t.Name] = k
		used = append(used, *k)
	}
	return programs, allReady(used)
}

// writeExecution writes the tables, schedules and charts of a plan and of what happened into the folder out.
func writeExecution(c *cobra.Command, out string, on *session.Session, p schedule.Problem, planned,
	happened schedule.Schedule,
) error {
	from := measure.Provenance(on.Identity())
	rows := execute.Compare(from, p, planned, happened)
	t := execute.Table(rows)
	write := func(name string, content func(io.Writer) error) error {
		return atomicfile.WriteFile(filepath.Join(out, name), content)
	}
	return errors.Join(
		atomicfile.Sweep(out), saveModel(out, p.GPU),
		write("execution.csv", func(w io.Writer) error { return datasets.WriteHardware(w, rows) }),
		write("planned.json", func(w io.Writer) error { return schedule.Encode(w, p, planned) }),
		write("executed.json", func(w io.Writer) error { return schedule.Encode(w, p, happened) }),
		reports.SaveFigure(filepath.Join(out, "gantt"), execute.Chart(from, p, planned, happened)),
		t.Save(filepath.Join(out, "table")), t.Text(c.OutOrStdout()),
	)
}
