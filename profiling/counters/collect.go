package counters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/profiling"
	"miglab/profiling/kernel"
)

// tool is the command line of Nsight Compute.
const tool = "ncu"

// thisProgram is what starts kernels that are part of this program.
const thisProgram = "/proc/self/exe"

// ErrNoTool says that Nsight Compute is missing.
var ErrNoTool = errors.New("ncu, the command line of Nsight Compute, is not installed")

// Options say how to profile.
type Options struct {
	// Timeout ends a profile that hangs. Nsight Compute runs every launch several times,
	// so the kernel's own does not hold. 0 means an hour.
	Timeout time.Duration
	// Skip launches are not profiled, and then at most Launches are; 0 means all. Each profiled
	// launch runs several times, and some programs make hundreds of thousands.
	Skip, Launches int
}

// Collect runs a kernel once under Nsight Compute on a MIG instance or on a whole GPU
// without MIG and MPS, as [kernel.Kernel.Run] would run it, and returns its counters: the
// source of the latter is [profiling.WholeGPU], also where times are measured under MPS.
// Whether it gives the right result is checked; its time says nothing.
//
// Errors wrap [ErrNoTool] where ncu is not in PATH, ErrPermission where it may not read
// counters, ErrUnsupported for a client of MPS, and say what Nsight Compute said. The
// error is that of ctx if ctx ends.
func Collect(ctx context.Context, k *kernel.Kernel, on profiling.Instance, o Options) (datasets.Counters, error) {
	op := "read the counters of " + k.Name
	if slices.ContainsFunc(on.Env, func(e string) bool { return strings.HasPrefix(e, "CUDA_MPS_") }) {
		return datasets.Counters{}, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%w: Nsight Compute does not support clients of MPS", profiling.ErrUnsupported),
			Remedy: "profile on the whole GPU without MPS, or on a MIG instance",
		}
	}
	path, err := exec.LookPath(tool)
	if err != nil {
		return datasets.Counters{}, &profiling.DeviceError{
			Op: "find " + tool, Err: ErrNoTool,
			Remedy: "install NVIDIA Nsight Compute, which comes with the CUDA toolkit; ncu has to be in PATH",
		}
	}
	dir, err := os.MkdirTemp("", "miglab-ncu-")
	if err != nil {
		return datasets.Counters{}, err
	}
	defer os.RemoveAll(dir)
	log, err := filepath.Abs(filepath.Join(dir, "ncu.csv")) // the kernel may run in another folder
	if err != nil {
		return datasets.Counters{}, err
	}

	profiled := *k
	profiled.Argv = slices.Concat([]string{path}, arguments(log, o), k.Argv)
	if own := &profiled.Argv[len(profiled.Argv)-len(k.Argv)]; *own == thisProgram {
		if *own, err = os.Executable(); err != nil { // for ncu it is ncu
			return datasets.Counters{}, err
		}
	}
	profiled.Timeout = o.Timeout
	if o.Timeout == 0 {
		profiled.Timeout = time.Hour
	}
	// The language decides how numbers are written; the last value counts.
	outcome, err := profiled.Run(ctx, append(slices.Clone(on.Env), "LC_ALL=C"))
	if err != nil {
		return datasets.Counters{}, err
	}
	return readLog(op, log, outcome)
}

// readLog reads what Nsight Compute wrote about a run, or says why it did not.
func readLog(op, log string, outcome kernel.Outcome) (datasets.Counters, error) {
	text, err := os.ReadFile(log)
	if err != nil && !os.IsNotExist(err) {
		return datasets.Counters{}, err
	}
	complaint, failed := complaintIn(string(text))
	if strings.Contains(string(text)+outcome.Detail, "ERR_NVGPUCTRPERM") {
		return datasets.Counters{}, &profiling.DeviceError{
			Op: op, Err: fmt.Errorf("%w to read hardware counters (ERR_NVGPUCTRPERM)", profiling.ErrPermission),
			Remedy: "run as root, or have the driver loaded with NVreg_RestrictProfilingToAdminUsers=0 (https://developer.nvidia.com/ERR_NVGPUCTRPERM)",
		}
	}
	if outcome.Status != kernel.OK {
		return datasets.Counters{}, fmt.Errorf("%s: under Nsight Compute it ended with %s: %s%s", op, outcome.Status, outcome.Detail, complaint)
	}
	if failed {
		return datasets.Counters{}, fmt.Errorf("%s: not all was read%s", op, complaint)
	}
	c, err := Parse(strings.NewReader(string(text)), filepath.Base(log))
	if err != nil {
		return datasets.Counters{}, fmt.Errorf("%s: %w%s", op, err, complaint)
	}
	return c, nil
}

// arguments are those of Nsight Compute before the program's.
func arguments(log string, o Options) []string {
	metrics := make([]string, len(table))
	for i, c := range table {
		metrics[i] = c.metric
	}
	all := []string{
		"--csv", "--page", "raw", "--print-units", "base",
		"--clock-control", "none", "--target-processes", "all",
	}
	if o.Skip > 0 {
		all = append(all, "--launch-skip", strconv.Itoa(o.Skip))
	}
	if o.Launches > 0 {
		all = append(all, "--launch-count", strconv.Itoa(o.Launches))
	}
	return append(all, "--log-file", log, "--metrics", strings.Join(metrics, ","), "--")
}

// complaintIn is the first error in Nsight Compute's log, or else the last warning, as
// the end of a sentence; empty where there is none.
func complaintIn(log string) (text string, isError bool) {
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		isError = strings.HasPrefix(line, "==ERROR==")
		if isError || strings.HasPrefix(line, "==WARNING==") {
			text = "; Nsight Compute says: " + line
		}
		if isError {
			return text, true
		}
	}
	return text, false
}
