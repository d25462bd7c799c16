package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"miglab/harness/store"
)

const (
	// maxLine is the longest line of a program, in bytes.
	maxLine = 16 << 20
	// drain is how long output may still come once a process and its group are gone: one
	// that left the group may hold the pipe open for ever.
	drain = time.Second
	// grace is how long a process may take to end once its standard input is closed.
	grace = 500 * time.Millisecond
)

// A process is one run of a program.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stderr tail
	// lines are what it writes, as long as somebody listens; closed at the end of its output.
	lines chan line
	// half is what follows the last line break, and long says that it was too much to read
	// on. Both are set once lines is closed.
	half []byte
	long bool
	// stop is closed when nobody listens any more, ended when the process has ended and its
	// group is killed, and gone when what it wrote is read, too.
	stop     chan struct{}
	stopping sync.Once
	ended    chan struct{}
	gone     chan struct{}
	// used says that it has answered before.
	used bool
}

type line struct {
	text []byte
	// more says that it came together with the beginning of another.
	more bool
}

// alive are all processes that are not gone.
var alive = struct {
	sync.Mutex
	processes map[*process]struct{}
}{processes: map[*process]struct{}{}}

// start starts a command. The error says that it cannot be started.
func start(cmd *exec.Cmd, memory uint64) (*process, error) {
	p := &process{cmd: cmd, lines: make(chan line), stop: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{})}
	var theirs, ours [3]*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	defer closeAll(theirs[:])
	// Pipes of our own: those of Cmd would make Wait wait for whoever still holds them.
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return nil, err
		}
		theirs[i], ours[i] = w, r
		if i == 0 {
			theirs[i], ours[i] = r, w
		}
	}
	stdin, stdout, stderr := ours[0], ours[1], ours[2]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	cmd.SysProcAttr = inGroup()
	// Held while the process starts, so that Close misses none.
	alive.Lock()
	defer alive.Unlock()
	if err := cmd.Start(); err != nil {
		closeAll(ours[:])
		return nil, err
	}
	p.stdin = stdin
	alive.processes[p] = struct{}{}
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stdout) })
	readers.Go(func() { io.Copy(&p.stderr, stderr) }) // ends at the deadline at the latest
	go func() {
		cmd.Wait()
		killGroup(cmd.Process)
		close(p.ended)
		deadline := time.Now().Add(drain)
		stdout.SetReadDeadline(deadline)
		stderr.SetReadDeadline(deadline)
		readers.Wait()
		closeAll(ours[:])
		alive.Lock()
		delete(alive.processes, p)
		alive.Unlock()
		close(p.gone)
	}()
	if err := limitMemory(cmd.Process.Pid, memory); err != nil {
		p.kill()
		return nil, fmt.Errorf("its memory cannot be limited to %d bytes: %w", memory, err)
	}
	return p, nil
}

// read hands over lines until there are no more, or nobody listens.
func (p *process) read(stdout io.Reader) {
	defer close(p.lines)
	b := bufio.NewReaderSize(stdout, 64<<10)
	for {
		text, err := readLine(b)
		if err != nil {
			p.half, p.long = text, errors.Is(err, errLong)
			return
		}
		select {
		case p.lines <- line{text, b.Buffered() > 0}:
		case <-p.stop:
			return
		}
	}
}

var errLong = errors.New("the line is too long")

// readLine reads a line; with an error what there is of it.
func readLine(b *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := b.ReadSlice('\n')
		text = append(text, part...)
		if len(text) > maxLine {
			return text, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// ask sends a line and returns the one that it is answered with, both before the deadline.
// The error is an [*Error] without a program, or that of the context; the process is then
// gone.
func (p *process) ask(ctx context.Context, question []byte, deadline time.Time) (reply, error) {
	p.stderr.reset()
	limit := time.NewTimer(time.Until(deadline))
	defer limit.Stop()
	written := make(chan error, 1)
	go func() {
		_, err := p.stdin.Write(question)
		written <- err
	}()
	var answer line
	for lines := p.lines; lines != nil || written != nil; {
		select {
		case err := <-written:
			if written = nil; err != nil {
				return reply{}, p.closed(ctx, limit.C, "input")
			}
		case l, ok := <-lines:
			switch {
			case !ok && p.long:
				return reply{}, p.fail(KindProtocol, "writes a line of more than %d bytes: %s", maxLine, quote(p.half))
			case !ok:
				return reply{}, p.closed(ctx, limit.C, "output")
			case l.more:
				return reply{}, p.fail(KindProtocol, "writes more than an answer, beginning with %s", quote(l.text))
			}
			answer, lines = l, nil
		case <-limit.C:
			return reply{}, p.late()
		case <-ctx.Done():
			return reply{}, p.interrupted(ctx)
		}
	}
	r, err := parseReply(answer.text)
	if err != nil {
		return r, p.fail(KindProtocol, "writes a line that is no message: %v: %s", err, quote(answer.text))
	}
	return r, nil
}

// closed says why a process does not go on that has closed its standard input or output.
func (p *process) closed(ctx context.Context, limit <-chan time.Time, end string) error {
	select {
	case <-p.ended:
	case <-time.After(grace):
		return p.fail(KindProtocol, "closed its standard %s before it answered", end)
	case <-limit:
		return p.late()
	case <-ctx.Done():
		return p.interrupted(ctx)
	}
	err := p.fail(KindCrashed, "ended (%v) before it answered", p.cmd.ProcessState)
	if len(p.half) > 0 {
		err.Kind = KindProtocol
		err.Text += "; it wrote half a line: " + quote(p.half)
	}
	return err
}

// late says that a process takes too long.
func (p *process) late() *Error {
	err := p.fail(store.KindTimeout, "did not answer in time")
	if len(p.half) > 0 {
		err.Text += "; it wrote half a line: " + quote(p.half)
	}
	return err
}

// interrupted kills a process whose answer nobody needs any more.
func (p *process) interrupted(ctx context.Context) error {
	p.kill()
	<-p.gone
	return ctx.Err()
}

// fail kills a process and says why, with the end of what it wrote on standard error.
func (p *process) fail(kind, format string, args ...any) *Error {
	p.kill()
	<-p.gone
	text := fmt.Sprintf(format, args...)
	if end := p.stderr.String(); end != "" {
		text += fmt.Sprintf("; standard error ends with %q", end)
	}
	return &Error{Kind: kind, Text: text}
}

// shown is how much of a line an error shows, in bytes.
const shown = 100

func quote(text []byte) string {
	if len(text) > shown {
		return fmt.Sprintf("%q...", text[:shown])
	}
	return fmt.Sprintf("%q", text)
}

// stopped reports whether it was killed.
func (p *process) stopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// kept reports whether it is still there for a question; if not, nothing of it is left.
func (p *process) kept() bool {
	select {
	case <-p.stop:
		return false
	case <-p.ended:
		p.kill()
		return false
	default:
		return true
	}
}

// close lets a process end, or kills it.
func (p *process) close() {
	p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(grace):
		p.kill()
		<-p.gone
	}
}

// kill kills a process and its group.
func (p *process) kill() {
	p.stopping.Do(func() {
		close(p.stop)
		p.stdin.Close()
		select {
		case <-p.ended:
		default:
			killGroup(p.cmd.Process)
		}
	})
}
