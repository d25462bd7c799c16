package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/nvml"
	"miglab/profiling/session"
	"miglab/reports"
)

// profileFlags are what the experiments have in common.
type profileFlags struct {
	device      deviceFlags
	kernels     kernelFlags
	out         string
	repetitions int
	seed        uint64
	// anotherCard lets a sweep begin a series of its own for another card of the same model.
	anotherCard bool
}

func newProfile() *cobra.Command {
	var f profileFlags
	var o overlapFlags
	var list, check bool
	c := &cobra.Command{
		Use:     "profile",
		Short:   "Measure kernels on every instance size of a real GPU",
		Long:    helpText("profile.txt"),
		Example: helpText("profile-examples.txt"),
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case list && check:
				return errors.New("give either --list or --check")
			case list:
				return listGPU(c, &f.device)
			}
			if f.device.mode == string(profiling.SMPartition) {
				return o.scaling(c, &f, check)
			}
			if err := unused(c, slices.Concat(partitionOnly, windowOnly), partitionOnlyHint); err != nil {
				return err
			}
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			if check {
				return checkAll(c, &f.device, kernels)
			}
			return f.on(c, kernels, func(s *session.Session) error { return f.sweep(c, s, kernels) })
		},
	}
	f.kernels.register(c)
	f.kernels.registerWall(c)
	f.registerDrawn(c)
	o.register(c)
	o.registerScaling(c)
	c.Flags().BoolVar(&f.anotherCard, "another-card", false, "if the folder has the runs of another card of this model, put this one's into a folder in it, named by its UUID")
	c.Flags().BoolVar(&list, "list", false, "show the GPUs as they are, and run nothing")
	c.Flags().BoolVar(&check, "check", false, "say what is missing, and run nothing")
	for _, sub := range []*cobra.Command{newReconfiguration(), newIsolation(), newCorun(), newPartition()} {
		sub.Args = arguments(0, 0, "")
		c.AddCommand(sub)
	}
	return c
}

func (f *profileFlags) register(c *cobra.Command) {
	f.device.register(c)
	c.Flags().StringVar(&f.out, "out", filepath.Join("results", "profile"), "folder for what is measured")
}

// registerTimed adds those of experiments that take times.
func (f *profileFlags) registerTimed(c *cobra.Command) {
	f.register(c)
	addFlag(c, &f.repetitions, "repetitions", "0", atLeast(0), "how often everything is measured; 0 means what the manifest says, or 10")
}

// registerDrawn adds those of experiments that time kernels in a random order or company.
func (f *profileFlags) registerDrawn(c *cobra.Command) {
	f.registerTimed(c)
	c.Flags().Uint64Var(&f.seed, "seed", 1, "decides about orders and draws")
}

// on runs work on the one GPU that --device names, once it is known that nothing is missing.
func (f *profileFlags) on(c *cobra.Command, kernels []kernel.Kernel, work func(*session.Session) error) error {
	if strings.Contains(f.device.device, ",") {
		return fmt.Errorf("--device %s: %s uses one GPU", f.device.device, c.CommandPath())
	}
	return f.device.with(c, func([]profiling.Identity) error {
		if err := ready(kernels); err != nil {
			return err
		}
		return writable(f.out)
	}, func(all []*session.Session) error {
		if err := saveModel(f.out, all[0].Identity().Model); err != nil {
			return err
		}
		return work(all[0])
	})
}

// saveModel writes a model that the program's table lacks into a folder of measurements. Other
// commands take the file as --gpu.
func saveModel(dir string, g *mig.GPU) error {
	if g.Origin == "" {
		return nil
	}
	return atomicfile.WriteFile(filepath.Join(dir, "gpu.json"), func(w io.Writer) error {
		_, err := w.Write(g.JSON())
		return err
	})
}

func (f *profileFlags) save(name string, write func(io.Writer) error) error {
	return atomicfile.WriteFile(filepath.Join(f.out, name), write)
}

// saveTable writes a table of the folder in all formats.
func (f *profileFlags) saveTable(name string, t reports.Table) error {
	return t.Save(filepath.Join(f.out, name))
}

// sweep measures kernels on every size. What failed is said at the end; the rest is kept.
func (f *profileFlags) sweep(c *cobra.Command, s *session.Session, kernels []kernel.Kernel) error {
	p, err := f.runs(c, s, kernels)
	if other, ok := errors.AsType[*measure.OtherCardError](err); ok {
		if !f.anotherCard {
			return fmt.Errorf("%w, or let --another-card do so", err)
		}
		f.out = filepath.Join(f.out, other.Is)
		fmt.Fprintf(c.ErrOrStderr(), "miglab: %s has the runs of %s; those of %s are a series of their own, in %s\n", other.File, other.Was, other.Is, f.out)
		if err := errors.Join(writable(f.out), saveModel(f.out, s.Identity().Model)); err != nil {
			return err
		}
		p, err = f.runs(c, s, kernels)
	}
	var failures *measure.FailedError
	if err != nil && !errors.As(err, &failures) {
		return err
	}
	err = f.writeProfile(c, p)
	if failures != nil {
		return failedError{errors.Join(failures, err)}
	}
	return err
}

// runs measures into the folder.
func (f *profileFlags) runs(c *cobra.Command, s *session.Session, kernels []kernel.Kernel) (*measure.Profile, error) {
	progress := newProgress(c.ErrOrStderr(), "runs")
	defer progress.done()
	return measure.Sweep(c.Context(), s, kernels, filepath.Join(f.out, "runs.csv"), measure.Options{
		Repetitions: f.repetitions, Seed: f.seed, Progress: progress.set, Warn: func(what string) { warn(c, what) },
	})
}

// tasksFile names the dataset of a profile. What was not measured under MIG says so
// wherever the dataset's name goes.
func tasksFile(source profiling.Source) string {
	if source == profiling.MIG {
		return "tasks.csv"
	}
	return "tasks." + string(source) + ".csv"
}

// writeProfile writes what follows from the runs, and then prints it.
func (f *profileFlags) writeProfile(c *cobra.Command, p *measure.Profile) error {
	table, conditions := p.Table(), p.Conditions()
	err := errors.Join(f.saveTable("table", table), f.saveTable("conditions", conditions))
	tasks, _ := p.Tasks()
	if err != nil || len(tasks) == 0 {
		if err == nil {
			err = failedError{errors.New("no kernel ran on every size, so that there is no dataset")}
		}
		return errors.Join(err, table.Text(c.OutOrStdout()))
	}
	source := p.Runs[0].Source
	title := fmt.Sprintf("%s, %s", p.Runs[0].Name, source)
	monotonicity := measure.Monotonicity("Monotonicity, "+title, p.GPU, tasks)
	if err := errors.Join(
		f.save("kernels.csv", func(w io.Writer) error { return datasets.WriteHardware(w, p.Kernels()) }),
		f.save(tasksFile(source), p.WriteTasks),
		reports.SaveFigure(filepath.Join(f.out, "speedup"), reports.Speedups(title, p.GPU, tasks, 4)),
		f.saveTable("monotonicity", monotonicity),
		table.Text(c.OutOrStdout()),
		monotonicity.Text(c.OutOrStdout()),
	); err != nil {
		return err
	}
	use := ""
	if p.GPU.Origin != "" {
		use = "; with --gpu " + filepath.Join(f.out, "gpu.json")
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%d kernels on %s; dataset profile:%s%s\n", len(tasks), p.GPU, filepath.Join(f.out, tasksFile(source)), use)
	return err
}

// checkAll lists everything that a run would miss, the GPU included.
func checkAll(c *cobra.Command, df *deviceFlags, kernels []kernel.Kernel) error {
	devices, err := df.devices(c.Context())
	errs := append(missing(kernels), err, closeAll(devices))
	if err := errors.Join(errs...); err != nil {
		return failedError{err}
	}
	fmt.Fprintf(c.OutOrStdout(), "%d kernels are there, and so is the GPU\n", len(kernels))
	return nil
}

// listGPU shows GPUs as they are: those that --device names, or all.
func listGPU(c *cobra.Command, df *deviceFlags) (err error) {
	if df.device == "" && df.mode == string(profiling.MIG) {
		all, err := nvml.List()
		if len(all) == 0 && err != nil {
			return err
		}
		var uuids []string
		for _, id := range all {
			if id.Model == nil {
				fmt.Fprintf(c.OutOrStdout(), "%s (%s): no model with MIG that is known here\n", id.Name, id.UUID)
				continue
			}
			uuids = append(uuids, id.UUID)
		}
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), "miglab:", err)
		}
		if len(uuids) == 0 {
			return nil
		}
		df.device = strings.Join(uuids, ",")
	}
	devices, err := df.devices(c.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeAll(devices)) }()
	for _, d := range devices {
		t, err := gpuTable(d)
		if err != nil {
			return err
		}
		if err := t.Text(c.OutOrStdout()); err != nil {
			return err
		}
	}
	return nil
}

// gpuTable describes a GPU, its instances and where others could begin.
func gpuTable(d profiling.Device) (reports.Table, error) {
	var t reports.Table
	id, err := d.Identify()
	if err != nil {
		return t, err
	}
	now, err := d.Conditions()
	if err != nil {
		return t, err
	}
	instances, err := d.Instances()
	if err != nil {
		return t, err
	}
	processes, err := d.Processes()
	if err != nil {
		return t, err
	}
	t.Title = fmt.Sprintf("%s (%s), driver %s", id.Name, id.Model, id.Driver)
	t.Columns = reports.Left("profile").Right("id", "slices", "memory slices").Left("starts", "exists at")
	for _, p := range id.Model.Profiles {
		starts, err := d.Placements(p)
		if errors.Is(err, profiling.ErrMIGOff) {
			starts = p.Starts
		} else if err != nil {
			return t, err
		}
		var exists []string
		for _, i := range instances {
			if i.Profile == p {
				exists = append(exists, fmt.Sprintf("%d (%s)", i.Start, i.UUID))
			}
		}
		t.Rows = append(t.Rows, []string{
			p.String(), strconv.Itoa(p.ID), strconv.Itoa(int(p.Size)), strconv.Itoa(int(p.Length)),
			strings.Trim(fmt.Sprint(starts), "[]"), strings.Join(exists, ", "),
		})
	}
	onOff := map[bool]string{true: "on", false: "off"}
	t.Notes = []string{
		fmt.Sprintf("%s; %d MiB; MIG %s, pending %s; limited by %s", id.UUID, id.MemoryMiB, onOff[id.MIG], onOff[id.MIGPending], id.Source),
		fmt.Sprintf("SM clock %d MHz, memory clock %d MHz, %d degrees C, power limit %.0f W", now.SMClock, now.MemoryClock, now.Temperature, now.PowerLimit),
	}
	for _, p := range processes {
		t.Notes = append(t.Notes, fmt.Sprintf("process %d (%s) uses the GPU", p.PID, p.Name))
	}
	return t, nil
}
