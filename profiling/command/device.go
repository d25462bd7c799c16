package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
	"miglab/profiling/cuda"
	"miglab/profiling/launch"
	"miglab/profiling/measure"
	"miglab/profiling/nvml"
	"miglab/profiling/session"
)

// deviceFlags choose the GPU of an experiment and permit changes of it.
type deviceFlags struct {
	device, mode, state string
	beside              bool
}

// register adds the flags. modes are the ways to give a kernel a part of the GPU, the default first.
func (f *deviceFlags) register(c *cobra.Command, modes ...string) {
	ways := slices.Clone(modes)
	for i, m := range modes {
		switch m {
		case measure.ModeExisting:
			ways[i] += " for instances that exist"
		case mig.SourcePartition:
			ways[i] += " for parts of the multiprocessors, without MIG"
		}
	}
	flags := c.Flags()
	flags.StringVar(&f.device, "device", "", "the GPU: its number or UUID (default: the only one)")
	cli.AddFlag(c, &f.mode, "mode", modes[0], cli.OneOf("mode", modes),
		strings.Join(ways, "; "))
	cli.AddFolder(c, &f.state, "state", stateDir(), "folder for lock and journal")
	flags.BoolVar(&f.beside, "with-others", false, "run even if other processes use the GPU; the rows say how many")
}

// stateDir returns the folder of locks and journals. Everything that root runs shares one. It is in memory if the
// system has such a folder, as instances do not survive a reboot either.
func stateDir() string {
	if os.Geteuid() == 0 {
		return "/run/miglab"
	}
	cache, _ := os.UserCacheDir()
	return filepath.Join(cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), cache, "results"), "miglab")
}

// open opens the GPU that --device names.
func (f *deviceFlags) open() (profiling.Device, error) {
	models := new(mig.Catalog)
	if f.mode == measure.ModeExisting {
		return nvml.OpenExisting(models, f.device)
	}
	return nvml.Open(models, f.device)
}

// inSession runs work on the GPU that --device names, in a session, and cleans up however it ends. ready runs after the
// GPU is found and before anything changes. Its error ends the command.
func (f *deviceFlags) inSession(c *cobra.Command, ready func(profiling.Identity) error,
	work func(*session.Session) error,
) (err error) {
	device, err := f.open()
	if err != nil {
		return err
	}
	// If the reader of standard output goes away, instances must still be destroyed.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	var s *session.Session
	defer func() {
		var left error
		if s != nil {
			left = s.Close()
		}
		err = endedBy(c, err, errors.Join(left, device.Close()))
	}()
	id, err := device.Identify()
	if err != nil {
		return err
	}
	if err := ready(id); err != nil {
		return err
	}
	s, err = session.Open(c.Context(), device, session.Options{
		Dir: f.state, WithOthers: f.beside,
		Log: func(format string, args ...any) {
			fmt.Fprintf(c.ErrOrStderr(), "miglab: "+format+"\n", args...)
		},
	})
	if err != nil {
		return err
	}
	if err := probe(c.Context(), s); err != nil {
		return err
	}
	return work(s)
}

// endedBy returns the error of a command on a GPU: of its work, of the cleaning up, and of an interruption.
func endedBy(c *cobra.Command, work, cleanUp error) error {
	if c.Context().Err() == nil {
		return errors.Join(work, cleanUp)
	}
	var interrupted cli.InterruptedError
	switch {
	case cleanUp != nil:
		return cli.FailedError{Err: fmt.Errorf("interrupted, and not all is cleaned up: %w", cleanUp)}
	case work == nil || errors.As(work, &interrupted): // it was done, or says what it kept
		return work
	}
	return cli.InterruptedError{Kept: "nothing was begun"}
}

// writable makes a folder and writes a file there, so that hours of measuring do not end without a place for results.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	f, err := os.CreateTemp(dir, ".tmp-*") // which atomicfile.Sweep removes after a kill
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// kernelFlags say which kernels.
type kernelFlags struct {
	manifest string
	set      map[string]string
	only     []string
	wall     bool
}

func (f *kernelFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.manifest, "kernels", "miglab", "manifest: miglab, rodinia, altis, or a YAML file")
	flags.StringToStringVar(&f.set, "set", nil,
		"parameters of the manifest, as in --set rodinia=/opt/rodinia,size=4096")
	flags.StringSliceVar(&f.only, "only", nil, "kernels, separated by commas (default: all of the manifest)")
	flags.BoolVar(&f.wall, "wall", false,
		"time whole processes, whatever the manifest says: what a schedule is executed with")
}

// read reads the manifest, from a file or one that comes with the program, and chooses the kernels.
func (f *kernelFlags) read() (all []launch.Kernel, err error) {
	if strings.ContainsAny(f.manifest, "./\\") {
		all, err = readFile(f.manifest, func(r io.Reader, path string) ([]launch.Kernel, error) {
			return launch.Read(r, path, f.set)
		})
	} else {
		all, err = launch.Shipped(f.manifest, f.set)
	}
	if f.wall {
		for i := range all {
			all[i].Time = launch.TimeSource{Kind: launch.Wall}
		}
	}
	if err != nil || len(f.only) == 0 {
		return all, err
	}
	var chosen []launch.Kernel
	for _, name := range f.only {
		k, err := nearest.Find("kernel", name, all, func(k launch.Kernel) string { return k.Name })
		if err != nil {
			return nil, fmt.Errorf("--only: %w", err)
		}
		chosen = append(chosen, k)
	}
	return chosen, nil
}

// own reads the manifest of the program's own kernels, which alone run on partitions.
func (f *kernelFlags) own() ([]launch.Kernel, error) {
	if f.manifest != "miglab" || f.wall || len(f.set) > 0 {
		return nil, fmt.Errorf("--mode %s runs the program's own kernels only, and times their iterations: leave out "+
			"--kernels, --set and --wall", mig.SourcePartition)
	}
	return f.read()
}

// missingParts checks what kernels need, and returns what is not there.
func missingParts(kernels []launch.Kernel) (errs []error) {
	for i := range kernels {
		errs = append(errs, kernels[i].Check()...)
	}
	return errs
}

// allReady returns an error in one line if kernels miss something.
func allReady(kernels []launch.Kernel) error {
	switch absent := missingParts(kernels); len(absent) {
	case 0:
		ours := func(k launch.Kernel) bool { return k.Argv[0] == "/proc/self/exe" }
		if slices.ContainsFunc(kernels, ours) { // miglab kernel
			return cuda.Installed()
		}
		return nil
	case 1:
		return absent[0]
	default:
		return fmt.Errorf("%w (and %d more; `miglab profile --check` lists them)", absent[0], len(absent)-1)
	}
}
