package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Run runs the kernel once on an instance and reads its time. The environment has the variables of [profiling.Environ],
// then the instance's. If the kernel prints its device, a run elsewhere, or one that does not say where, is [Wrong].
//
// Run kills the process group (outside Linux, the process alone) when the time is up, when ctx ends, and when the
// process itself has ended, so that the GPU is free again. On Linux the process also dies with this one, but its
// children do not. Run examines the first and the last 64 KiB of standard output and standard error together.
//
// An error means that ctx ended or that the machine could not prepare or start the program. It does not judge the
// kernel.
func (k *Kernel) Run(ctx context.Context, on profiling.Instance) (Outcome, error) {
	csv := ""
	if k.OwnFolder || k.Time.Kind == AltisCSV {
		run, dir, err := k.inNewFolder()
		if err != nil {
			return Outcome{}, k.failure(err)
		}
		defer os.RemoveAll(dir)
		k, csv = run, filepath.Join(dir, csvName)
	}
	if k.Result.File != "" { // the file of an earlier run would pass for this one's
		if err := os.Remove(k.path(k.Result.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Outcome{}, k.failure(err)
		}
	}
	o, p, err := k.start(ctx, on)
	if err == nil && o.Status == "" {
		k.judge(&o, p, on, csv)
	}
	return o, err
}

// csvName is the name of Altis's CSV in a run's folder.
const csvName = "altis.csv"

// inNewFolder returns a copy of the kernel for one run, and that run's new folder. The CSV goes into it, because Altis
// would append to an old one. With OwnFolder, the folder is beside the kernel's and the program runs there.
func (k *Kernel) inNewFolder() (run *Kernel, dir string, err error) {
	parent, program := os.TempDir(), k.Argv[0]
	if k.OwnFolder && k.Dir != "" {
		parent = filepath.Join(k.Dir, "..")
	}
	if k.OwnFolder && strings.Contains(program, "/") {
		program, err = filepath.Abs(k.path(program))
	}
	if err == nil {
		parent, err = filepath.Abs(parent)
	}
	if err == nil {
		dir, err = os.MkdirTemp(parent, ".miglab-run-")
	}
	if err != nil {
		return nil, "", err
	}
	run = new(*k)
	run.Argv = append([]string{program}, k.Argv[1:]...)
	for i := range run.Argv {
		run.Argv[i] = strings.ReplaceAll(run.Argv[i], csvPlace, filepath.Join(dir, csvName))
	}
	if k.OwnFolder {
		run.Dir = dir
	}
	return run, dir, nil
}

func (k *Kernel) failure(err error) error {
	return fmt.Errorf("%s:%d: kernel %s: %w", k.File, k.Line, k.Name, err)
}

// start runs the kernel's program until it ends, its time is up, or ctx ends. The outcome has no status if the
// program ended by itself.
func (k *Kernel) start(ctx context.Context, on profiling.Instance) (Outcome, ended, error) {
	cmd := exec.CommandContext(ctx, k.Argv[0], k.Argv[1:]...)
	cmd.Dir, cmd.Env = k.Dir, append(profiling.Environ(), on.Env...)
	p, err := execute(cmd, k.Timeout)
	if ctx.Err() != nil && (err != nil || p.wasKilled()) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Outcome{}, p, k.failure(err)
	}
	o := Outcome{Seconds: mig.Seconds(math.Inf(1)), Start: p.start, End: p.end}
	if p.late && p.wasKilled() {
		o.Status, o.Detail = Timeout, fmt.Sprintf("still running after %v", k.Timeout)
	}
	return o, p, nil
}

// judge fills in the outcome of a process that ended by itself.
func (k *Kernel) judge(o *Outcome, p ended, on profiling.Instance, csv string) {
	if o.Status, o.Detail = k.failed(p, on); o.Status != "" {
		return
	}
	seconds, err := k.time(p, csv)
	if err == nil && !(seconds > 0 && seconds <= math.MaxFloat64) {
		err = fmt.Errorf("%v s is not a time", seconds)
	}
	if err == nil {
		o.Result, err = k.result(p)
	}
	if err != nil {
		o.Status, o.Detail = Wrong, err.Error()
		return
	}
	o.Status, o.Seconds = OK, seconds
}

// failed returns the status and detail of a process that failed. The status is empty if it did not fail so far: its
// time and result can still be wrong.
func (k *Kernel) failed(p ended, on profiling.Instance) (status Status, detail string) {
	if at := outOfMemory.FindStringIndex(p.output); at != nil {
		return OutOfMemory, lineAt(p.output, at[0])
	}
	switch {
	case p.signal != 0:
		return Crash, fmt.Sprintf("ended by signal %d (%v)%s", p.signal, p.signal, p.lastWords())
	case p.exit != 0:
		return Crash, fmt.Sprintf("exit status %d%s", p.exit, p.lastWords())
	case k.Expect != nil && !k.Expect.MatchString(p.output):
		return Wrong, fmt.Sprintf("the output does not match %q%s", k.Expect, p.lastWords())
	case !k.PrintsDevice:
		return "", ""
	}
	if why := p.whyElsewhere(on); why != "" {
		return Wrong, why
	}
	return "", ""
}

// whyElsewhere says that the output names another device than the instance, or none; empty if it names the instance.
// The UUID or the number of multiprocessors is not compared if the instance lacks it.
func (p ended) whyElsewhere(on profiling.Instance) string {
	sms, uuid := readValue(p.output, "sms", "[0-9]{1,6}"), readValue(p.output, "uuid", "[0-9a-f-]{36}")
	if sms == "" || uuid == "" {
		return "the output does not say where it ran: it has no lines sms: and uuid:" + p.lastWords()
	}
	if on.UUID != "" && uuid != strings.TrimPrefix(on.UUID, "MIG-") {
		return fmt.Sprintf("it ran on the device %s, not on %s", uuid, on.UUID)
	}
	if on.Profile != nil && on.Profile.SMs > 0 && sms != strconv.Itoa(on.Profile.SMs) {
		return fmt.Sprintf("it ran on %s multiprocessors, not on %d", sms, on.Profile.SMs)
	}
	return ""
}

// outOfMemory matches the messages of the CUDA runtime, driver and libraries. The exit status does not matter, since
// many benchmarks ignore the errors of CUDA.
var outOfMemory = regexp.MustCompile(`(?i:out of memory)|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|` +
	`CUBLAS_STATUS_ALLOC_FAILED`)

// readValue returns the value in the first line "name: value" of a form; empty if there is no such line.
func readValue(output, name, form string) string {
	m := regexp.MustCompile(`(?m)^` + name + `: (` + form + `)\r?$`).FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return m[1]
}

func (k *Kernel) time(p ended, csv string) (mig.Seconds, error) {
	switch k.Time.Kind {
	case Regexp:
		m := k.Time.Pattern.FindStringSubmatch(p.output)
		if m == nil {
			return 0, fmt.Errorf("the output has no time: it does not match %q%s", k.Time.Pattern, p.lastWords())
		}
		v, err := parseNumber(m[1])
		return v * k.Time.Unit, err
	case AltisCSV:
		text, err := os.ReadFile(csv)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("the program wrote no CSV%s", p.lastWords())
		}
		if err != nil { // without the path, which differs from run to run
			return 0, fmt.Errorf("its CSV cannot be read: %w%s", cmp.Or(errors.Unwrap(err), err), p.lastWords())
		}
		return altisTime(string(text), k.Time.Row)
	default:
		return mig.Seconds(p.end.Sub(p.start).Seconds()), nil
	}
}

// lastWords quotes the last line of the output, as the end of a sentence.
func (p ended) lastWords() string {
	text := strings.TrimSpace(p.output)
	if text == "" {
		return "; there is no output"
	}
	return fmt.Sprintf("; the output ends with: %s", lineAt(text, len(text)))
}

// lineAt returns the line around an index, shortened and without control characters.
func lineAt(text string, i int) string {
	start := strings.LastIndexByte(text[:i], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	line = strings.TrimSpace(line)
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return ' '
		}
		return r
	}, line)
	const most = 200
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return line
}
