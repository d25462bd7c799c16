package kernel

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/affinity"
)

// A Window is the outcome of a run that iterated for a time in which others did too. The
// Seconds of its Outcome are those of one iteration.
type Window struct {
	Outcome
	// Iterations were made from Begin to Finish, on the clock CLOCK_MONOTONIC.
	Iterations    uint64
	Begin, Finish time.Duration
	// Overlap is the share of the window in which all others ran too.
	Overlap float64
	// From is when all were told to begin, To when all had measured.
	From, To time.Time
	// from and to are when it surely ran.
	from, to time.Duration
}

// A Job is a kernel that takes part in a common window.
type Job struct {
	*Kernel
	// Intensity is the share of the time in which it runs, in percent; 0 means 100.
	Intensity int
	// Env is that of the instance on which it runs.
	Env []string
}

// errAnother ends a run whose partner failed.
var errAnother = errors.New("another kernel of the group failed")

// Together runs kernels whose Window is set at the same time: it starts all, waits until each
// says that it is ready, which is after the start of CUDA and a warm-up, and lets all begin at
// once. Each measures its rate for a time, and may go on until its standard input ends, which
// it does when all have measured. If one ends before all are ready, the others are
// killed, and have the status of a crash. Otherwise Together is like [Kernel.Run].
func Together(ctx context.Context, jobs []Job, window time.Duration) ([]Window, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, errs := make([]Window, len(jobs)), make([]error, len(jobs))
	gates := make([]*gate, len(jobs))
	var wg sync.WaitGroup
	hosts := hosts(jobs)
	defer hosts.Free()
	for i, j := range jobs {
		gates[i] = newGate()
		wg.Go(func() {
			out[i], errs[i] = j.window(limited, window, gates[i], func() func() { return j.pin(hosts, i) })
			if errs[i] != nil || out[i].Status != OK {
				cancel(errAnother)
			}
		})
	}
	all := func(of func(*gate) *line) {
		for _, g := range gates {
			select {
			case <-of(g).seen:
			case <-limited.Done():
			}
		}
	}
	all(func(g *gate) *line { return &g.ready })
	began := time.Now()
	for _, g := range gates {
		if limited.Err() == nil {
			g.begin()
		}
	}
	all(func(g *gate) *line { return &g.measured })
	measured := time.Now()
	for _, g := range gates {
		if limited.Err() == nil { // otherwise they are killed
			g.end()
		}
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, err := range errs {
		if errors.Is(err, errAnother) {
			out[i].Status, out[i].Detail, errs[i] = Crash, "killed: "+errAnother.Error(), nil
		}
	}
	for i := range out {
		out[i].From, out[i].To = began, measured
	}
	overlap(out)
	return out, errors.Join(errs...)
}

// hosts takes a processor for each job, if one of them is pinned.
func hosts(jobs []Job) *affinity.Set {
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Pinned }) {
		return affinity.Take(len(jobs))
	}
	return affinity.Take(0)
}

// pin keeps the calling thread on the job's processor, if it is pinned.
func (j *Job) pin(hosts *affinity.Set, number int) (undo func()) {
	if !j.Pinned {
		return func() {}
	}
	return hosts.Pin(number)
}

// overlap sets in how much of each window all kernels ran.
func overlap(all []Window) {
	from := slices.MaxFunc(all, func(a, b Window) int { return cmp.Compare(a.from, b.from) }).from
	to := slices.MinFunc(all, func(a, b Window) int { return cmp.Compare(a.to, b.to) }).to
	for i := range all {
		w := &all[i]
		if took := w.Finish - w.Begin; took > 0 {
			w.Overlap = max(0, (min(to, w.Finish)-max(from, w.Begin)).Seconds()/took.Seconds())
		}
	}
}

// A gate is the standard input of a process, and sees its output: it tells when the process
// is ready and when it has measured.
type gate struct {
	ready, measured line
	seen            []byte
	mu              sync.Mutex
	in              *os.File
}

func newGate() *gate {
	return &gate{ready: newLine(`(?m)^ready\r?$`), measured: newLine(`(?m)^end_s: .*$`)}
}

// A line is a line of output that is waited for.
type line struct {
	pattern *regexp.Regexp
	once    sync.Once
	seen    chan struct{}
}

func newLine(pattern string) line {
	return line{pattern: regexp.MustCompile(pattern), seen: make(chan struct{})}
}

// Write looks for the lines in what the process prints.
func (g *gate) Write(p []byte) (int, error) {
	g.seen = append(g.seen, p...)
	whole := bytes.LastIndexByte(g.seen, '\n') + 1
	for _, l := range []*line{&g.ready, &g.measured} {
		if l.pattern.Match(g.seen[:whole]) {
			l.once.Do(func() { close(l.seen) })
		}
	}
	g.seen = g.seen[whole:]
	return len(p), nil
}

// begin lets the process begin; end ends its input.
func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in != nil {
		_, _ = io.WriteString(g.in, "go\n") // a process that has ended is seen by its outcome
	}
}

func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in != nil {
		g.in.Close()
		g.in = nil
	}
}

// window runs the job's process.
func (j *Job) window(ctx context.Context, window time.Duration, g *gate, pin func() (undo func())) (Window, error) {
	k := j.Kernel
	limited, cancel := context.WithTimeout(ctx, k.Timeout)
	defer cancel()
	argv := j.windowArgv(window)
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Dir = k.Dir
	cmd.Env = append(append(profiling.Environ(), k.Env...), j.Env...)
	stdin, write, err := os.Pipe()
	if err != nil {
		return Window{}, err
	}
	defer stdin.Close()
	g.mu.Lock()
	g.in = write
	g.mu.Unlock()
	defer g.end()
	cmd.Stdin = stdin
	p, err := execute(cmd, g, pin)
	switch {
	case ctx.Err() != nil && (err != nil || p.killed()):
		return Window{}, context.Cause(ctx)
	case err != nil:
		return Window{}, fmt.Errorf("%s:%d: kernel %s: %w", k.File, k.Line, k.Name, err)
	}
	w := Window{Outcome: Outcome{Seconds: mig.Seconds(math.Inf(1)), Start: p.start, End: p.end}}
	if limited.Err() != nil && p.killed() {
		w.Status, w.Detail = Timeout, fmt.Sprintf("still running after %v", k.Timeout)
		return w, nil
	}
	if k.judgeEnd(&w.Outcome, p) {
		w.read(p)
	}
	return w, nil
}

// windowArgv asks for a time in place of a number of iterations.
func (j *Job) windowArgv(window time.Duration) []string {
	argv := slices.Clone(j.Argv)
	if i := slices.Index(argv, "--iterations"); i >= 0 && i+1 < len(argv) {
		argv = slices.Delete(argv, i, i+2)
	}
	argv = append(argv, "--milliseconds", strconv.FormatInt(max(1, window.Milliseconds()), 10))
	if j.Intensity > 0 && j.Intensity < 100 {
		argv = append(argv, "--intensity", strconv.Itoa(j.Intensity))
	}
	return argv
}

var (
	printedIterations = regexp.MustCompile(`(?m)^iterations: ([0-9]{1,15})\r?$`)
	printedBegin      = regexp.MustCompile(`(?m)^start_s: ([0-9]{1,12}\.[0-9]+)\r?$`)
	printedStop       = regexp.MustCompile(`(?m)^stop_s: ([0-9]{1,12}\.[0-9]+)\r?$`)
	printedFinish     = regexp.MustCompile(`(?m)^end_s: ([0-9]{1,12}\.[0-9]+)\r?$`)
)

// read reads the rate that the process printed.
func (w *Window) read(p process) {
	number := func(re *regexp.Regexp) float64 {
		if m := re.FindStringSubmatch(p.output); m != nil {
			v, _ := strconv.ParseFloat(m[1], 64) // digits
			return v
		}
		return 0
	}
	w.Iterations = uint64(number(printedIterations))
	begin, finish := number(printedBegin), number(printedFinish)
	if w.Iterations == 0 || !(finish > begin) {
		w.Status, w.Detail = Wrong, "the output has no rate: no lines iterations:, start_s: and end_s: "+
			"of a window"+p.lastWords()
		return
	}
	instant := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	w.Begin, w.Finish = instant(begin), instant(finish)
	w.from, w.to = w.Begin, w.Finish
	if stop := number(printedStop); stop >= finish { // it runs from before the signal until it stops
		w.from, w.to = 0, instant(stop)
	}
	w.Status, w.Seconds = OK, profiling.Seconds(w.Finish-w.Begin)/mig.Seconds(w.Iterations)
}
