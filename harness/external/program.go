package external

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"miglab/harness/algo"
	"miglab/harness/run"
)

// protocols has the function that returns [algo.Spec.New] for a program, by track. Each track's file adds its own.
var protocols = map[string]func(*program) algo.Constructor{}

const prefix = "exec:"

func init() { algo.RegisterPrefix(prefix, findProgram) }

var params = []algo.Param{
	{Name: "timeout", Default: "10s", Doc: "how long the program may take for an instance"},
	{Name: "start", Default: "10s", Doc: "how long it may take to start and say hello"},
	{Name: "memory", Default: "2GiB", Doc: "how much each of its processes may allocate (Linux)"},
}

// findProgram returns the spec of "exec:./my-scheduler --fast". The program must exist, but findProgram
// does not start it.
func findProgram(name string) (algo.Spec, error) {
	command := strings.Fields(strings.TrimPrefix(name, prefix))
	if len(command) == 0 {
		return algo.Spec{}, fmt.Errorf("algorithm %q names no program; write for example exec:./my-scheduler", name)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		hint := "name a program by its path or one on the PATH"
		info, missing := os.Stat(command[0])
		isFile := missing == nil && info.Mode().IsRegular()
		switch {
		case isFile && !strings.ContainsAny(command[0], `/\\`):
			hint = fmt.Sprintf("write exec:./%s for the file in this folder, or put its interpreter before it, as in "+
				"exec:python3 %[1]s", command[0])
		case isFile:
			hint = "make the file executable (chmod +x), or put its interpreter before it, as in exec:python3 " +
				command[0]
		}
		return algo.Spec{}, fmt.Errorf("algorithm %q: %w; %s", name, err, hint)
	}
	content, err := hashContent(path, command[1:])
	if err != nil {
		return algo.Spec{}, fmt.Errorf("algorithm %q: %w", name, err)
	}
	s := algo.Spec{
		Name: prefix + strings.Join(command, " "), Params: params,
		Weights: func(algo.Args) string { return content },
	}
	s.Open = func(a algo.Args, track string) (algo.Spec, error) {
		constructor, ok := protocols[track]
		if !ok {
			return s, fmt.Errorf("programs outside miglab do the tracks %s, not %s",
				strings.Join(slices.Sorted(maps.Keys(protocols)), ", "), track)
		}
		limits, err := parseLimits(a)
		if err != nil {
			return s, err
		}
		p, err := openProgram(key{s.Name, content, track, limits}, path, command[1:])
		if err != nil {
			return s, err
		}
		own := s
		own.Version, own.Track = p.hello.Version, track
		own.New = constructor(p)
		return own, nil
	}
	return s, nil
}

// A program is a command on a track with its limits. Conversations at the same time have a process each.
type program struct {
	key
	path  string
	args  []string
	hello hello

	mu   sync.Mutex
	idle []*process // the processes that have said hello and wait for a question
}

// key identifies a program: two algorithms with the same key share processes.
type key struct {
	name, content string
	track         string
	limits        limits
}

type limits struct {
	timeout, start time.Duration
	memory         uint64
}

// programs holds the opened programs.
var programs = struct {
	sync.Mutex
	known map[key]*program
}{known: map[key]*program{}}

// openProgram starts a program that is not known yet and reads its hello.
func openProgram(k key, path string, args []string) (*program, error) {
	programs.Lock()
	defer programs.Unlock()
	known := programs.known[k]
	if known != nil {
		return known, nil
	}
	p := &program{key: k, path: path, args: args}
	first, greeted, err := p.start(context.Background())
	if own, ok := errors.AsType[*Error](err); ok {
		own.Program = "the program" // algo adds the name of the algorithm
	}
	if err != nil {
		return nil, err
	}
	p.hello, p.idle = greeted, []*process{first}
	programs.known[k] = p
	return p, nil
}

func parseLimits(a algo.Args) (l limits, err error) {
	if l.timeout, err = parseTime(a, "timeout"); err != nil {
		return l, err
	}
	if l.start, err = parseTime(a, "start"); err != nil {
		return l, err
	}
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		number, ok := strings.CutSuffix(a["memory"], unit)
		bits := 10 * (i + 1)
		if n, err := strconv.ParseUint(number, 10, 64); ok && err == nil && n > 0 && n <= math.MaxInt64>>bits {
			l.memory = n << bits
			return l, nil
		}
	}
	return l, fmt.Errorf("parameter %q: %q is not an amount; write for example 512MiB or 2GiB", "memory", a["memory"])
}

func parseTime(a algo.Args, name string) (time.Duration, error) {
	d, err := time.ParseDuration(a[name])
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("parameter %q: %q is not a duration; write for example 500ms or 10s", name, a[name])
	}
	return d, nil
}

// start starts a process and reads its hello.
func (p *program) start(ctx context.Context) (proc *process, h hello, err error) {
	deadline := time.Now().Add(p.limits.start)
	proc, err = startProcess(p.path, p.args, p.limits.memory)
	if err != nil {
		return nil, h, p.blame(newError(run.KindFailed, "does not start: %v", err))
	}
	proc.limit = fmt.Sprintf("%v (?start=)", p.limits.start)
	line, err := proc.ask(ctx, encodeMessage(greeting{"hello", oldest, newest, p.track}), deadline)
	if err == nil {
		err = decodeMessage(line, &h)
		if err != nil {
			err = proc.fail(KindProtocol, "writes a line that is no message: %v: %s", err, quote(line))
		}
	}
	if own, ok := errors.AsType[*Error](err); ok && own.Kind == KindProtocol {
		own.Text += "; standard output is for answers alone (in Python, print in the decorated function, not outside)"
	}
	if err != nil {
		return nil, h, p.blame(err)
	}
	if err := h.check(0); err != nil {
		kind := KindProtocol
		if h.Type == typeError {
			kind = run.KindInfeasible
		}
		return nil, h, p.blame(proc.fail(kind, "does not say hello for the %s track: %v", p.track, err))
	}
	proc.limit = fmt.Sprintf("%v (?timeout=)", p.limits.timeout)
	return proc, h, nil
}

// blame sets the program of an [*Error] and returns it.
func (p *program) blame(err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		own.Program = p.name
	}
	return err
}

// take returns a process that waits for a question.
func (p *program) take(ctx context.Context) (*process, error) {
	p.mu.Lock()
	for last := len(p.idle) - 1; last >= 0; last-- {
		proc := p.idle[last]
		p.idle = p.idle[:last]
		if proc.usable() {
			p.mu.Unlock()
			return proc, nil
		}
	}
	p.mu.Unlock()
	return p.fresh(ctx)
}

// fresh starts a process that has not been asked about an instance.
func (p *program) fresh(ctx context.Context) (*process, error) {
	content, err := hashContent(p.path, p.args)
	if err != nil || content != p.content {
		return nil, p.blame(newError(run.KindFailed, "was changed while it was used; run again"))
	}
	proc, h, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	if h.Name != p.hello.Name || h.Version != p.hello.Version {
		return nil, p.blame(proc.fail(KindProtocol, "was %q version %d and now says to be %q version %d", p.hello.Name,
			p.hello.Version, h.Name, h.Version))
	}
	return proc, nil
}

// giveBack keeps a process for the next question.
func (p *program) giveBack(proc *process) {
	proc.used = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, proc)
}

// Close ends all processes of all programs. It closes their standard input and kills the processes
// that do not end by themselves. Later questions start new processes.
func Close() {
	programs.Lock()
	clear(programs.known)
	programs.Unlock()
	alive.Lock()
	running := slices.Collect(maps.Keys(alive.processes))
	alive.Unlock()
	var wait sync.WaitGroup
	for _, p := range running {
		wait.Go(p.close)
	}
	wait.Wait()
}
