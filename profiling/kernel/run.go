package kernel

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/affinity"
)

// Run runs the kernel once and reads its time. The environment is that of
// [profiling.Environ], then the kernel's, then env. Run kills the process group when the
// time is up, when ctx ends, and when the process itself has ended, so that nothing stays
// on the GPU. On Linux the process also dies with this one, but its children do not. Run
// examines the first and the last 64 KiB of standard output and standard error together.
//
// An error means that ctx ended or that the machine could not start the program. It says
// nothing about the kernel.
func (k *Kernel) Run(ctx context.Context, env []string) (Outcome, error) {
	o, err := k.run(ctx, env)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s:%d: kernel %s: %w", k.File, k.Line, k.Name, err)
	}
	return o, nil
}

func (k *Kernel) run(ctx context.Context, env []string) (Outcome, error) {
	argv, csv := k.Argv, ""
	if k.Time.Kind == AltisCSV {
		// Each run needs a new file, since Altis appends to an existing one.
		dir, err := os.MkdirTemp("", "miglab-csv-")
		if err != nil {
			return Outcome{}, err
		}
		defer os.RemoveAll(dir)
		csv = filepath.Join(dir, "altis.csv")
		argv = make([]string, len(k.Argv))
		for i, a := range k.Argv {
			argv[i] = strings.ReplaceAll(a, csvPlace, csv)
		}
	}

	if err := k.removeResult(); err != nil {
		return Outcome{}, err
	}
	limited, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = k.Dir
	cmd.Env = append(append(profiling.Environ(), k.Env...), env...)
	host := k.host()
	defer host.Free()
	p, err := execute(cmd, nil, func() func() { return host.Pin(0) })
	switch {
	case ctx.Err() != nil && (err != nil || p.killed()):
		return Outcome{}, context.Cause(ctx)
	case err != nil:
		return Outcome{}, err
	}
	o := Outcome{Seconds: mig.Seconds(math.Inf(1)), Start: p.start, End: p.end}
	if limited.Err() != nil && p.killed() {
		o.Status, o.Detail = Timeout, fmt.Sprintf("still running after %v", k.Timeout)
		return o, nil
	}
	k.judge(&o, p, csv)
	return o, nil
}

// host takes a processor for a pinned kernel.
func (k *Kernel) host() *affinity.Set {
	if k.Pinned {
		return affinity.Take(1)
	}
	return affinity.Take(0)
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
	if err != nil {
		o.Status, o.Detail = Wrong, err.Error()
		return
	}
	if o.Result, err = k.result(p.output); err != nil {
		o.Status, o.Detail = Wrong, err.Error()+p.lastWords()
		return
	}
	o.Status, o.Seconds = OK, seconds
}

// judgeEnd judges all but the time. It reports whether the time is still to be read.
func (k *Kernel) judgeEnd(o *Outcome, p process) bool {
	if at := k.OutOfMemory.FindStringIndex(p.output); at != nil {
		o.Status, o.Detail = OutOfMemory, lineAt(p.output, at[0])
		return false
	}
	if p.signal != 0 {
		o.Status, o.Detail = Crash, fmt.Sprintf("ended by signal %d (%v)%s", p.signal, p.signal, p.lastWords())
		return false
	}
	if p.exit != k.Exit {
		o.Status, o.Detail = Crash, fmt.Sprintf("exit status %d, not %d%s", p.exit, k.Exit, p.lastWords())
		return false
	}
	if k.Expect != nil && !k.Expect.MatchString(p.output) {
		o.Status, o.Detail = Wrong, fmt.Sprintf("the output does not match %q%s", k.Expect, p.lastWords())
		return false
	}
	if k.PrintsDevice {
		if o.Device = printedDevice(p.output); o.Device == nil {
			o.Status, o.Detail = Wrong, "the output does not say where it ran: it has no lines sms: and uuid:"+p.lastWords()
			return false
		}
	}
	return true
}

var (
	printedSMs  = regexp.MustCompile(`(?m)^sms: ([0-9]{1,6})\r?$`)
	printedUUID = regexp.MustCompile(`(?m)^uuid: ([0-9a-f-]{36})\r?$`)
)

// printedDevice returns where a run says that it ran; nil if it does not say it.
func printedDevice(output string) *Device {
	sms, uuid := printedSMs.FindStringSubmatch(output), printedUUID.FindStringSubmatch(output)
	if sms == nil || uuid == nil {
		return nil
	}
	n, _ := strconv.Atoi(sms[1]) // digits
	return &Device{n, uuid[1]}
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
