package launch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/internal/system"
)

// A Window is the outcome of a run that iterated for a time in which others did too. The Seconds of its Outcome are the
// time of one iteration.
type Window struct {
	Outcome
	// Iterations were made from Begin to Finish, on the clock CLOCK_MONOTONIC.
	Iterations    uint64
	Begin, Finish time.Duration
	// Overlap is the share of the window in which all others ran too.
	Overlap float64
	// From is when all were told to begin, To when all had measured.
	From, To time.Time
	// Started and Stopped, on that clock, are when it surely ran.
	Started, Stopped time.Duration
}

// A Job is a kernel on an instance.
type Job struct {
	*Kernel
	On profiling.Instance
}

// String returns name:size@start.
func (j Job) String() string { return fmt.Sprintf("%s:%s", j.Name, j.On.Instance) }

// errAnother ends a run whose partner failed.
var errAnother = errors.New("another kernel of the group failed")

// Together runs kernels whose Window is set at the same time: it starts all, waits until each says that it is ready,
// which is after the start of CUDA and a warm-up, and lets all begin at once. Each measures its rate for a time, and
// may go on until its standard input ends, which it does when all have measured. If one fails before it has measured,
// the others are killed, and have the status of a crash. Otherwise Together is like [Kernel.Run].
func Together(ctx context.Context, jobs []Job, window time.Duration) ([]Window, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, errs := make([]Window, len(jobs)), make([]error, len(jobs))
	gates := make([]*gate, len(jobs))
	for i := range gates {
		var err error
		if gates[i], err = newGate(limited); err != nil {
			return nil, err
		}
		defer gates[i].close()
	}
	var processors system.Processors
	if slices.ContainsFunc(jobs, func(j Job) bool { return j.Pinned }) {
		processors = system.Take(len(jobs))
		defer processors.Free()
	}
	var wg sync.WaitGroup
	for i, j := range jobs {
		l := launch{argv: j.windowArgv(window), on: j.On, stdin: gates[i].stdin, output: gates[i]}
		if j.Pinned {
			l.processors, l.number = processors, i
		}
		wg.Go(func() {
			out[i], errs[i] = j.window(limited, l)
			if failed := errs[i] != nil || out[i].Status != OK; failed && gates[i].measured.Err() == nil {
				cancel(errAnother)
			}
		})
	}
	// meet waits until all have come so far, and does something with each unless they are killed.
	meet := func(reached func(*gate) context.Context, do func(*gate)) time.Time {
		for _, g := range gates {
			<-reached(g).Done()
		}
		met := time.Now()
		for _, g := range gates {
			if limited.Err() == nil {
				do(g)
			}
		}
		return met
	}
	began := meet(func(g *gate) context.Context { return g.ready }, func(g *gate) {
		_, _ = io.WriteString(g.in, "go\n") // a process that has ended is seen by its outcome
	})
	measured := meet(func(g *gate) context.Context { return g.measured }, func(g *gate) { g.in.Close() })
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for i, err := range errs {
		if errors.Is(err, errAnother) {
			out[i].Status, out[i].Detail, errs[i] = Crash, "killed: "+errAnother.Error(), nil
		}
		out[i].From, out[i].To = began, measured
	}
	Overlap(out)
	return out, errors.Join(errs...)
}

// Overlap sets in how much of each window all kernels ran.
func Overlap(all []Window) {
	from := slices.MaxFunc(all, func(a, b Window) int { return cmp.Compare(a.Started, b.Started) }).Started
	to := slices.MinFunc(all, func(a, b Window) int { return cmp.Compare(a.Stopped, b.Stopped) }).Stopped
	for i := range all {
		w := &all[i]
		if took := w.Finish - w.Begin; took > 0 {
			w.Overlap = max(0, (min(to, w.Finish)-max(from, w.Begin)).Seconds()/took.Seconds())
		}
	}
}

// A gate is the standard input of a process, and sees its output.
type gate struct {
	// stdin is the end of in from which the process reads.
	stdin, in *os.File
	// ready is done when the process says that it is ready, measured when it has measured; both are when it is killed.
	ready, measured         context.Context
	markReady, markMeasured func()
	// half is a line without its end.
	half []byte
}

func newGate(killed context.Context) (g *gate, err error) {
	g = &gate{}
	g.ready, g.markReady = context.WithCancel(killed)
	g.measured, g.markMeasured = context.WithCancel(killed)
	g.stdin, g.in, err = os.Pipe()
	return g, err
}

func (g *gate) close() {
	g.stdin.Close()
	g.in.Close()
}

// Write looks for the two lines in the output of the process.
func (g *gate) Write(p []byte) (int, error) {
	g.half = append(g.half, p...)
	for {
		line, rest, whole := bytes.Cut(g.half, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		g.half = rest
		if string(bytes.TrimSuffix(line, []byte("\r"))) == "ready" {
			g.markReady()
		} else if bytes.HasPrefix(line, []byte("end_s: ")) {
			g.markMeasured()
		}
	}
}

// window runs the job's process.
func (j *Job) window(ctx context.Context, l launch) (Window, error) {
	o, p, err := j.start(ctx, l)
	w := Window{Outcome: o}
	if err == nil && o.Status == "" && j.judgeEnd(&w.Outcome, p, j.On) {
		w.read(p)
	}
	return w, err
}

// windowArgv asks for a time in place of a number of iterations.
func (j *Job) windowArgv(window time.Duration) []string {
	argv := slices.Clone(j.Argv)
	if i := slices.Index(argv, "--iterations"); i >= 0 && i+1 < len(argv) {
		argv = slices.Delete(argv, i, i+2)
	}
	return append(argv, "--milliseconds", strconv.FormatInt(max(1, window.Milliseconds()), 10))
}

// read reads the rate that the process printed.
func (w *Window) read(p process) {
	number := func(name string) float64 {
		v, _ := strconv.ParseFloat(readValue(p.output, name, `[0-9]{1,15}(?:\.[0-9]+)?`), 64) // 0 if it is not there
		return v
	}
	w.Iterations = uint64(number("iterations"))
	begin, finish := number("start_s"), number("end_s")
	if w.Iterations == 0 || !(finish > begin) {
		w.Status, w.Detail = Wrong, "the output has no rate: no lines iterations:, start_s: and "+
			"end_s: of a window"+p.lastWords()
		return
	}
	instant := func(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
	w.Begin, w.Finish = instant(begin), instant(finish)
	w.Started, w.Stopped = w.Begin, w.Finish
	if stop := number("stop_s"); stop >= finish { // it runs from before the signal until it stops
		w.Started, w.Stopped = 0, instant(stop)
	}
	w.Status, w.Seconds = OK, profiling.Seconds(w.Finish-w.Begin)/mig.Seconds(w.Iterations)
}
