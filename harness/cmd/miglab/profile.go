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
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/store"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
	"miglab/profiling/mps"
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
}

func newProfile() *cobra.Command {
	var f profileFlags
	var list, check bool
	c := &cobra.Command{
		Use:   "profile",
		Short: "Measure kernels on every instance size of a real GPU",
		Long: "profile runs the kernels of a manifest on instances of every size and writes into a folder what it measured:\n" +
			"runs.csv (every run), kernels.csv (means), tasks.csv (a dataset, profile:FOLDER/tasks.csv), the speedups as a\n" +
			"figure and how far the times are from monotonous. It can be interrupted: the same command goes on where it was.\n\n" +
			"It creates and destroys MIG instances, and destroys none but its own, also after it was killed. It never changes\n" +
			"clocks or power, and the MIG mode only if --allow-mig-mode is given. Where MIG may not be touched, --mode\n" +
			"mps-sm-limit limits the multiprocessors of a kernel by MPS; the data say so.",
		Example: "  miglab profile --list\n" +
			"  miglab profile --check --kernels rodinia --set rodinia=/opt/rodinia\n" +
			"  sudo miglab profile --allow-mig-mode --out results/profile/a100\n" +
			"  miglab profile --mode mps-sm-limit --only gemm,stream,lu",
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case list && check:
				return errors.New("give either --list or --check")
			case list:
				return listGPU(c, &f.device)
			}
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			if check {
				return checkAll(c, &f.device, kernels)
			}
			return f.one(c, kernels, func(s *session.Session) error { return f.sweep(c, s, kernels) })
		},
	}
	f.device.register(c)
	f.kernels.register(c)
	c.Flags().BoolVar(&list, "list", false, "show the GPU as it is, and run nothing")
	c.Flags().BoolVar(&check, "check", false, "say what is missing, and run nothing")
	c.PersistentFlags().StringVar(&f.out, "out", filepath.Join("results", "profile"), "folder for what is measured")
	c.PersistentFlags().IntVar(&f.repetitions, "repetitions", 0, "runs of each kernel on each size; 0 means what the manifest says")
	c.PersistentFlags().Uint64Var(&f.seed, "seed", 1, "decides about orders and draws")
	for _, sub := range []*cobra.Command{newReconfiguration(&f), newIsolation(&f), newCorun(&f), newCounters(&f), newPartition(&f)} {
		sub.Args = arguments(0, 0, "")
		c.AddCommand(sub)
	}
	return c
}

// one runs work on the GPU, once it is known that nothing is missing.
func (f *profileFlags) one(c *cobra.Command, kernels []kernel.Kernel, work func(*session.Session) error) error {
	if f.repetitions < 0 {
		return fmt.Errorf("--repetitions %d: at least 1, or 0 for what the manifest says", f.repetitions)
	}
	return f.device.one(c, func() error { return ready(kernels) }, work)
}

// save writes a file of the folder.
func (f *profileFlags) save(name string, write func(io.Writer) error) error {
	return store.WriteFile(filepath.Join(f.out, name), write)
}

// table writes a table in all formats, and prints it.
func (f *profileFlags) table(c *cobra.Command, name string, t reports.Table) error {
	if err := t.Save(filepath.Join(f.out, name)); err != nil {
		return err
	}
	return t.Text(c.OutOrStdout())
}

// sweep measures kernels on every size. What failed is said at the end; the rest is kept.
func (f *profileFlags) sweep(c *cobra.Command, s *session.Session, kernels []kernel.Kernel) error {
	progress := newProgress(c.ErrOrStderr(), "runs")
	defer progress.done()
	p, err := measure.Sweep(c.Context(), s, kernels, measure.SweepOptions{
		File: filepath.Join(f.out, "runs.csv"), Repetitions: f.repetitions, Seed: f.seed, Progress: progress.set,
	})
	progress.done()
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

func (f *profileFlags) writeProfile(c *cobra.Command, p *measure.Profile) error {
	if err := f.table(c, "table", p.Table()); err != nil {
		return err
	}
	conditions := p.Conditions()
	if err := conditions.Save(filepath.Join(f.out, "conditions")); err != nil {
		return err
	}
	tasks, _ := p.Tasks()
	if len(tasks) == 0 {
		return failedError{errors.New("no kernel ran on every size, so that there is no dataset")}
	}
	if err := f.save("kernels.csv", func(w io.Writer) error { return datasets.WriteKernels(w, p.Kernels()) }); err != nil {
		return err
	}
	if err := f.save("tasks.csv", p.WriteTasks); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %s", p.Runs[0].Name, p.Runs[0].Source)
	if err := reports.SaveFigure(filepath.Join(f.out, "speedup"), reports.Speedups(title, p.GPU, tasks, 4)); err != nil {
		return err
	}
	if err := f.table(c, "monotonicity", measure.Monotonicity("Monotonicity, "+title, p.GPU, tasks)); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%d kernels on %s; dataset profile:%s\n", len(tasks), p.GPU, filepath.Join(f.out, "tasks.csv"))
	return nil
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

// listGPU shows GPUs as they are.
func listGPU(c *cobra.Command, df *deviceFlags) (err error) {
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
	t.Columns = []reports.Column{
		{Name: "profile"},
		{Name: "id", Right: true},
		{Name: "slices", Right: true},
		{Name: "memory slices", Right: true},
		{Name: "starts"},
		{Name: "exists at"},
	}
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

func newReconfiguration(f *profileFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "reconfiguration",
		Short: "Measure what creating and destroying instances costs, one by one and at once",
		Example: "  sudo miglab profile reconfiguration --out results/profile/a100\n" +
			"  sudo miglab profile reconfiguration --repetitions 100",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.device.mode != string(profiling.MIG) {
				return fmt.Errorf("--mode %s has nothing to reconfigure", f.device.mode)
			}
			return f.one(c, nil, func(s *session.Session) error {
				progress := newProgress(c.ErrOrStderr(), "rounds")
				defer progress.done()
				rows, err := measure.Reconfiguration(c.Context(), s, measure.ReconfigurationOptions{Repetitions: f.repetitions, Progress: progress.set})
				progress.done()
				if err != nil {
					return err
				}
				if err := f.save("reconfiguration.csv", func(w io.Writer) error { return datasets.WriteReconfiguration(w, rows) }); err != nil {
					return err
				}
				return f.table(c, "reconfiguration-table", measure.ReconfigurationTable(rows, s.Identity().Model))
			})
		},
	}
}

func newIsolation(f *profileFlags) *cobra.Command {
	return &cobra.Command{
		Use:     "isolation",
		Short:   "Measure kernels alone and beside one or two others on the same GPU",
		Example: "  sudo miglab profile isolation --kernels rodinia --set rodinia=/opt/rodinia",
		RunE: func(c *cobra.Command, _ []string) error {
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			return f.one(c, kernels, func(s *session.Session) error {
				progress := newProgress(c.ErrOrStderr(), "runs")
				defer progress.done()
				rows, err := measure.Isolation(c.Context(), s, kernels, measure.IsolationOptions{Repetitions: f.repetitions, Seed: f.seed, Progress: progress.set})
				progress.done()
				return f.keep(c, err, "isolation.csv", func(w io.Writer) error { return datasets.WriteIsolation(w, rows) },
					"isolation-table", measure.IsolationTable(rows))
			})
		},
	}
}

// keep writes the rows of an experiment and their table, unless it could not go on. What
// failed meanwhile is said at the end.
func (f *profileFlags) keep(c *cobra.Command, err error, file string, write func(io.Writer) error, name string, t reports.Table) error {
	var failures *measure.FailedError
	if err != nil && !errors.As(err, &failures) {
		return err
	}
	if err := f.save(file, write); err != nil {
		return err
	}
	if err := f.table(c, name, t); err != nil {
		return err
	}
	if failures != nil {
		return failedError{failures}
	}
	return nil
}

func newCorun(f *profileFlags) *cobra.Command {
	var splits []string
	c := &cobra.Command{
		Use:   "corun",
		Short: "Measure kernels that share a GPU under MPS, for the co-run model",
		Long: "corun runs every pair of kernels together at each of the splits, and every kernel alone; with splits of four\n" +
			"percentages, every four of them. The data are of MPS on a whole GPU.",
		Example: "  miglab profile corun --mode mps-sm-limit --only gemm,stream,lu,bfs,nw\n" +
			"  miglab profile corun --mode mps-sm-limit --splits 50:50,25:75,10:90 --repetitions 5",
		RunE: func(c *cobra.Command, _ []string) error {
			if f.device.mode != string(profiling.MPSSMLimit) {
				return fmt.Errorf("--mode %s: co-runs are measured under MPS; give --mode %s", f.device.mode, profiling.MPSSMLimit)
			}
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			mixes, err := mixesOf(kernels, splits)
			if err != nil {
				return err
			}
			return f.one(c, kernels, func(s *session.Session) error {
				d, ok := s.Device().(*mps.Device)
				if !ok {
					return fmt.Errorf("the device of mode %s has no shares", f.device.mode)
				}
				progress := newProgress(c.ErrOrStderr(), "mixes")
				defer progress.done()
				rows, err := measure.Corun(c.Context(), mixes, measure.CorunOptions{
					GPU: s.Identity(), Share: d.Share, Repetitions: f.repetitions, Progress: progress.set,
				})
				progress.done()
				return f.keep(c, err, "corun.csv", func(w io.Writer) error { return datasets.WriteCorun(w, rows) }, "corun-table", measure.CorunTable(rows))
			})
		},
	}
	c.Flags().StringSliceVar(&splits, "splits", []string{"25:75", "50:50", "75:25"}, "percentages of the jobs, joined by colons")
	return c
}

// mixesOf combines kernels: each set of as many as a split has percentages.
func mixesOf(kernels []kernel.Kernel, splits []string) ([]measure.Mix, error) {
	var mixes []measure.Mix
	for _, split := range splits {
		var percents []float64
		sum := 0.0
		for field := range strings.SplitSeq(split, ":") {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil || !(x > 0 && x <= 100) {
				return nil, fmt.Errorf("--splits %s: %q is no percentage; it has to be above 0 and at most 100", split, field)
			}
			percents = append(percents, x)
			sum += x
		}
		switch {
		case len(percents) < 2 || sum > 100:
			return nil, fmt.Errorf("--splits %s: at least two percentages of at most 100 together", split)
		case len(percents) > len(kernels):
			return nil, fmt.Errorf("--splits %s: there are %d kernels", split, len(kernels))
		}
		var choose func(from int, mix measure.Mix)
		choose = func(from int, mix measure.Mix) {
			if len(mix) == len(percents) {
				mixes = append(mixes, slices.Clone(mix))
				return
			}
			for i := from; i < len(kernels); i++ {
				choose(i+1, append(mix, measure.Job{Kernel: &kernels[i], Percent: percents[len(mix)]}))
			}
		}
		choose(0, nil)
	}
	return mixes, nil
}

func newCounters(f *profileFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "counters",
		Short: "Read hardware counters of kernels with Nsight Compute and sort them into classes",
		Long: "counters reads the twelve statistics of the hierarchical paper's Table III, on an instance of the whole GPU.\n" +
			"With the times that `miglab profile` has put into the same folder, it sorts kernels into compute intensive,\n" +
			"memory intensive and unscalable.",
		Example: "  sudo miglab profile counters --only gemm,stream --out results/profile/a100",
		RunE: func(c *cobra.Command, _ []string) error {
			kernels, err := f.kernels.read()
			if err != nil {
				return err
			}
			return f.one(c, kernels, func(s *session.Session) error { return f.counters(c, s, kernels) })
		},
	}
}

func newPartition(f *profileFlags) *cobra.Command {
	var gpu, profiles, label, format string
	formats := []string{"mig-parted", "nvidia-smi", "json"}
	c := &cobra.Command{
		Use:   "partition",
		Short: "Write a partition for other tools: mig-parted, nvidia-smi, or JSON with placements",
		Example: "  miglab profile partition --gpu A100 --profiles 3g.20gb,2g.10gb,1g.5gb\n" +
			"  miglab profile partition --gpu H100 --profiles 4-2-1 --format nvidia-smi",
		RunE: func(c *cobra.Command, _ []string) error {
			g, err := mig.Lookup(gpu)
			if err != nil {
				return err
			}
			if !slices.Contains(formats, format) {
				return nearest.Unknown("format", format, formats)
			}
			p, err := parsePartition(g, profiles)
			if err != nil {
				return fmt.Errorf("--profiles: %w", err)
			}
			w := c.OutOrStdout()
			switch format {
			case "mig-parted":
				return profiling.WriteMIGParted(w, label, nil, p)
			case "nvidia-smi":
				return profiling.WriteNVIDIASMI(w, nil, p)
			}
			return profiling.WritePartition(w, g, p)
		},
	}
	c.Flags().StringVar(&gpu, "gpu", "A100", "GPU model (miglab list gpus)")
	c.Flags().StringVar(&profiles, "profiles", "", "profiles as NVIDIA names them, separated by commas, or sizes as in 4-2-1")
	if err := c.MarkFlagRequired("profiles"); err != nil {
		panic(err)
	}
	c.Flags().StringVar(&label, "label", "miglab", "the configuration's name for mig-parted")
	c.Flags().StringVar(&format, "format", formats[0], strings.Join(formats, ", "))
	return c
}

// parsePartition reads NVIDIA's names of profiles, or the sizes of a maximal partition.
func parsePartition(g *mig.GPU, text string) (mig.Partition, error) {
	if strings.Trim(text, "0123456789-") == "" {
		return g.ParsePartition(text)
	}
	return profiling.ParseProfiles(g, text)
}
