package external

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/schedule"
)

const prefix = "exec:"

func init() { algo.RegisterPrefix(prefix, find) }

var params = []algo.Param{
	{Name: "timeout", Default: "10s", Doc: "how long the program may take for an instance"},
	{Name: "start", Default: "10s", Doc: "how long it may take to start and say hello"},
	{Name: "memory", Default: "2GiB", Doc: "how much each of its processes may allocate (Linux)"},
}

// find is the spec of "exec:./my-scheduler --fast". The program must be there; it is not
// started.
func find(name string) (algo.Spec, error) {
	command := strings.Fields(strings.TrimPrefix(name, prefix))
	if len(command) == 0 {
		return algo.Spec{}, fmt.Errorf("algorithm %q names no program; write for example exec:./my-scheduler", name)
	}
	path, err := exec.LookPath(command[0])
	if err != nil {
		return algo.Spec{}, fmt.Errorf("algorithm %q: %w; name a program by its path or one on the PATH", name, err)
	}
	content, err := identity(path, command[1:])
	if err != nil {
		return algo.Spec{}, fmt.Errorf("algorithm %q: %w", name, err)
	}
	s := algo.Spec{
		Name: prefix + strings.Join(command, " "), Params: params,
		Weights: func(algo.Args) string { return content },
	}
	s.Open = func(a algo.Args, track algo.Track) (algo.Spec, error) {
		p, err := open(s.Name, path, command[1:], content, a, track)
		if err != nil {
			return s, err
		}
		own := s
		own.Version, own.Track, own.Summary = p.hello.Version, track, p.hello.Name
		switch track {
		case algo.TrackBatch:
			own.New = func(algo.Args) (algo.Batch, error) { return &scheduler{program: p}, nil }
		case algo.TrackStream:
			own.New = func(algo.Args) (algo.Stream, error) { return &scheduler{program: p}, nil }
		}
		return own, nil
	}
	return s, nil
}

// A program is a command on a track, with what it may take. It schedules with as many
// processes as it is asked to at a time.
type program struct {
	key
	path  string
	args  []string
	hello reply

	mu sync.Mutex
	// idle are processes that have said hello and wait for a question.
	idle []*process
	// waiting are instances for a program that takes several at a time, and turn holds a
	// value while some are asked.
	waiting []*request
	turn    chan struct{}
}

// key is what makes one program: two algorithms with the same key share processes.
type key struct {
	name, content string
	track         algo.Track
	limits        limits
}

type limits struct {
	timeout, start time.Duration
	memory         uint64
}

// programs are those that were opened.
var programs = struct {
	sync.Mutex
	known map[key]*program
}{known: map[key]*program{}}

// open starts a program that is not known yet and has it say hello.
func open(name, path string, args []string, content string, a algo.Args, track algo.Track) (*program, error) {
	if track != algo.TrackBatch && track != algo.TrackStream {
		return nil, fmt.Errorf("programs outside miglab do the tracks %s and %s, not %s", algo.TrackBatch, algo.TrackStream, track)
	}
	own, err := parseLimits(a)
	if err != nil {
		return nil, err
	}
	p := &program{key: key{name, content, track, own}, path: path, args: args, turn: make(chan struct{}, 1)}
	programs.Lock()
	defer programs.Unlock()
	if known, ok := programs.known[p.key]; ok {
		return known, nil
	}
	first, hello, err := p.start(context.Background())
	if own, ok := errors.AsType[*Error](err); ok {
		return nil, errors.New("the program " + own.Text) // which algorithm it is, algo says
	}
	if err != nil {
		return nil, err
	}
	p.hello, p.idle = hello, []*process{first}
	programs.known[p.key] = p
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
	return l, fmt.Errorf("parameter %q: %q is no amount; write for example 512MiB or 2GiB", "memory", a["memory"])
}

func parseTime(a algo.Args, name string) (time.Duration, error) {
	d, err := time.ParseDuration(a[name])
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("parameter %q: %q is no time; write for example 500ms or 10s", name, a[name])
	}
	return d, nil
}

// start starts a process and has it say hello.
func (p *program) start(ctx context.Context) (*process, reply, error) {
	deadline := time.Now().Add(p.limits.start)
	proc, err := start(exec.Command(p.path, p.args...), p.limits.memory)
	if err != nil {
		return nil, reply{}, p.blame(&Error{Kind: run.KindFailed, Text: fmt.Sprintf("does not start: %v", err)})
	}
	hello, err := proc.ask(ctx, encode(greeting{"hello", protocol, p.track}), deadline)
	if err != nil {
		return nil, hello, p.blame(err)
	}
	if err := hello.checkHello(); err != nil {
		return nil, hello, p.blame(proc.fail(KindProtocol, "does not say hello for the %s track: %v", p.track, err))
	}
	return proc, hello, nil
}

// blame puts the program's name into an error.
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
		if proc.kept() {
			p.mu.Unlock()
			return proc, nil
		}
	}
	p.mu.Unlock()
	return p.fresh(ctx)
}

// fresh returns a process that was asked nothing yet.
func (p *program) fresh(ctx context.Context) (*process, error) {
	content, err := identity(p.path, p.args)
	if err != nil || content != p.content {
		return nil, p.blame(&Error{Kind: run.KindFailed, Text: "was changed while it was used; run again"})
	}
	proc, hello, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	if hello.Name != p.hello.Name || hello.Version != p.hello.Version {
		return nil, p.blame(proc.fail(KindProtocol, "was %q version %d and now says to be %q version %d", p.hello.Name, p.hello.Version, hello.Name, hello.Version))
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

// A scheduler asks a program, and knows how long the last answer took.
type scheduler struct {
	*program
	took atomic.Int64 // nanoseconds
}

// Took implements [algo.Timed]: it is the time from the question to the answer, with
// writing and reading both, but without starting a process.
func (s *scheduler) Took() time.Duration { return time.Duration(s.took.Load()) }

// Schedule implements [algo.Batch].
func (s *scheduler) Schedule(ctx context.Context, problem algo.Problem) (schedule.Schedule, error) {
	if s.hello.Batch > 1 {
		return s.together(ctx, &problem)
	}
	return s.ScheduleStream(ctx, problem, []int{len(problem.Tasks)})
}

// ScheduleStream implements [algo.Stream]: the program sees a batch once it has answered
// the one before.
func (s *scheduler) ScheduleStream(ctx context.Context, problem algo.Problem, lengths []int) (schedule.Schedule, error) {
	proc, err := s.take(ctx)
	if err != nil {
		return schedule.Schedule{}, err
	}
	answer, err := s.converse(ctx, proc, &problem, lengths)
	if proc.stopped() && proc.used && ctx.Err() == nil {
		if proc, err = s.fresh(ctx); err != nil {
			return schedule.Schedule{}, err
		}
		answer, err = s.converse(ctx, proc, &problem, lengths)
	}
	if !proc.stopped() {
		s.giveBack(proc)
	}
	return answer, s.blame(err)
}

// converse has a process schedule batch after batch. After an error that is the process's
// and not its answer's, the process is gone.
func (s *scheduler) converse(ctx context.Context, proc *process, problem *algo.Problem, lengths []int) (schedule.Schedule, error) {
	start := time.Now()
	defer func() { s.took.Store(int64(time.Since(start))) }()
	deadline := start.Add(s.limits.timeout)
	whole := schedule.Schedule{GPU: problem.GPU, Algorithm: s.name, Model: problem.Model}
	first := newInstance(problem, lengths[0])
	question := encode(first)
	from := 0
	for k, n := range lengths {
		if k > 0 {
			question = encode(arrival{"tasks", first.ID, jobs(problem, from, from+n)})
		}
		r, err := proc.ask(ctx, question, deadline)
		if err != nil {
			return whole, err
		}
		if err := r.checkAnswer(first.ID); err != nil {
			return whole, proc.fail(KindProtocol, "gives a wrong answer: %v", err)
		}
		part := *problem
		part.Tasks, part.Release = problem.Tasks[from:from+n], nil
		own, err := r.read(part)
		if err != nil {
			return whole, err
		}
		add(&whole, own, from)
		from += n
	}
	return whole, nil
}

// read returns the schedule of an answer, or an [*Error] without a program.
func (r *reply) read(p schedule.Problem) (schedule.Schedule, error) {
	if r.Type == "error" {
		return schedule.Schedule{}, &Error{Kind: run.KindInfeasible, Text: fmt.Sprintf("declines: %q", r.Message)}
	}
	s, err := schedule.Decode(bytes.NewReader(r.Schedule), p)
	if err != nil {
		return s, &Error{Kind: run.KindInvalid, Text: fmt.Sprintf("gives no schedule: %v", err)}
	}
	return s, nil
}

// add appends the schedule of a batch whose first task has an index.
func add(whole *schedule.Schedule, s schedule.Schedule, from int) {
	if s.Model != whole.Model {
		whole.Model = s.Model // for the referee to see
	}
	for _, pl := range s.Placements {
		pl.Task += from
		whole.Placements = append(whole.Placements, pl)
	}
	whole.Operations = append(whole.Operations, s.Operations...)
	for name, n := range s.Counters {
		if whole.Counters == nil {
			whole.Counters = map[string]int{}
		}
		whole.Counters[name] += n
	}
}

// Close ends all processes of all programs; those that do not end by themselves when
// their standard input is closed are killed. What is asked afterwards starts new ones.
func Close() {
	programs.Lock()
	clear(programs.known)
	programs.Unlock()
	alive.Lock()
	var running []*process
	for p := range alive.processes {
		running = append(running, p)
	}
	alive.Unlock()
	var wait sync.WaitGroup
	for _, p := range running {
		wait.Go(p.close)
	}
	wait.Wait()
}
