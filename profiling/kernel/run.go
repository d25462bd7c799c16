package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/affinity"
)

// Run runs the kernel once and reads its time. The environment is that of [profiling.Environ], then env. Run kills the
// process group (outside Linux, the process alone) when the time is up, when ctx ends, and when the process itself has
// ended, so that nothing stays on the GPU. On Linux the process also dies with this one, but its children do not. Run
// examines the first and the last 64 KiB of standard output and standard error together.
//
// An error means that ctx ended or that the machine could not start the program. It says nothing about the kernel.
func (k *Kernel) Run(ctx context.Context, env []string) (Outcome, error) {
	argv, csv := k.Argv, ""
	if k.Time.Kind == AltisCSV {
		// Each run needs a new file, since Altis appends to an existing one.
		dir, err := os.MkdirTemp("", "miglab-csv-")
		if err != nil {
			return Outcome{}, k.failure(err)
		}
		defer os.RemoveAll(dir)
		csv = filepath.Join(dir, "altis.csv")
		argv = slices.Clone(argv)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], csvPlace, csv)
		}
	}
	if k.Result.File != "" { // the file of an earlier run would pass for this one's
		if err := os.Remove(k.path(k.Result.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Outcome{}, k.failure(err)
		}
	}
	cpus := takeProcessors(k.Pinned, 1)
	defer cpus.Free()
	o, p, err := k.start(ctx, launch{argv: argv, env: env, pin: func() func() { return cpus.Pin(0) }})
	if err == nil && o.Status == "" {
		k.judge(&o, p, csv)
	}
	return o, err
}

// takeProcessors takes n processors for pinned kernels.
func takeProcessors(pinned bool, n int) *affinity.Set {
	if !pinned {
		n = 0
	}
	return affinity.Take(n)
}

func (k *Kernel) failure(err error) error {
	return fmt.Errorf("%s:%d: kernel %s: %w", k.File, k.Line, k.Name, err)
}

// A launch says how a kernel's program is started.
type launch struct {
	argv, env []string
	stdin     io.Reader
	// output sees the output as it comes, too; it may be nil.
	output io.Writer
	// pin is called in the thread that starts the process, and undone right after.
	pin func() (undo func())
}

// start runs the kernel's program until it ends, its time is up, or ctx ends. The outcome has no status if the
// program ended by itself.
func (k *Kernel) start(ctx context.Context, l launch) (Outcome, process, error) {
	cmd := exec.CommandContext(ctx, l.argv[0], l.argv[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Env = k.Dir, l.stdin, append(profiling.Environ(), l.env...)
	p, err := execute(cmd, k.Timeout, l.output, l.pin)
	if ctx.Err() != nil && (err != nil || p.killed()) {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Outcome{}, p, k.failure(err)
	}
	o := Outcome{Seconds: mig.Seconds(math.Inf(1)), Start: p.start, End: p.end}
	if p.late && p.killed() {
		o.Status, o.Detail = Timeout, fmt.Sprintf("still running after %v", k.Timeout)
	}
	return o, p, nil
}

// judge fills in the outcome of a process that ended by itself.
func (k *Kernel) judge(o *Outcome, p process, csv string) {
	if !k.judgeEnd(o, p) {
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

// judgeEnd judges all but the time and the result. It reports whether they are still to be read.
func (k *Kernel) judgeEnd(o *Outcome, p process) bool {
	var on *Device
	if k.PrintsDevice {
		on = printedDevice(p.output)
	}
	at := outOfMemory.FindStringIndex(p.output)
	switch {
	case at != nil:
		o.Status, o.Detail = OutOfMemory, lineAt(p.output, at[0])
	case p.signal != 0:
		o.Status, o.Detail = Crash, fmt.Sprintf("ended by signal %d (%v)%s", p.signal, p.signal, p.lastWords())
	case p.exit != 0:
		o.Status, o.Detail = Crash, fmt.Sprintf("exit status %d%s", p.exit, p.lastWords())
	case k.Expect != nil && !k.Expect.MatchString(p.output):
		o.Status, o.Detail = Wrong, fmt.Sprintf("the output does not match %q%s", k.Expect, p.lastWords())
	case k.PrintsDevice && on == nil:
		o.Status, o.Detail = Wrong, "the output does not say where it ran: it has no lines sms: and uuid:"+p.lastWords()
	default:
		o.Device = on
		return true
	}
	return false
}

// outOfMemory matches the messages of the CUDA runtime, driver and libraries. The exit status does not matter, since
// many benchmarks ignore the errors of CUDA.
var outOfMemory = regexp.MustCompile(`(?i:out of memory)|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|` +
	`CUBLAS_STATUS_ALLOC_FAILED`)

// printed returns the value in the first line "name: value" of a form; empty if there is none.
func printed(output, name, form string) string {
	m := regexp.MustCompile(`(?m)^` + name + `: (` + form + `)\r?$`).FindStringSubmatch(output)
	if m == nil {
		return ""
	}
	return m[1]
}

// printedDevice returns where a run says that it ran; nil if it does not say it.
func printedDevice(output string) *Device {
	sms, uuid := printed(output, "sms", "[0-9]{1,6}"), printed(output, "uuid", "[0-9a-f-]{36}")
	if sms == "" || uuid == "" {
		return nil
	}
	n, _ := strconv.Atoi(sms) // digits
	return &Device{n, uuid}
}

func (k *Kernel) time(p process, csv string) (mig.Seconds, error) {
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
		if err != nil {
			return 0, fmt.Errorf("the program wrote no CSV%s", p.lastWords())
		}
		return altisTime(string(text), k.Time.Row)
	default:
		return mig.Seconds(p.end.Sub(p.start).Seconds()), nil
	}
}

// lastWords quotes the last line of the output, as the end of a sentence.
func (p process) lastWords() string {
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
