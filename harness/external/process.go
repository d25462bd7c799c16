package external

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"miglab/harness/store"
)

const (
	// drain is the time for which output is still read after a process has ended and its children
	// were killed. A child that escapes the kill could hold the pipe open forever.
	drain = time.Second
	grace = 500 * time.Millisecond // for a process to end after its standard input is closed
)

// The limits of an answer in bytes: answerBase and answerPerByte for each byte of the question, up to answerLongest.
const (
	answerBase    = 64 << 10
	answerPerByte = 64
	answerLongest = 16 << 20
	answerRule    = "64 KiB and 64 times the question, up to 16 MiB"
)

// maxAnswer returns the largest length of an answer. Reading an answer thus takes time in proportion to the question.
func maxAnswer(question []byte) int64 {
	return min(answerLongest, answerBase+answerPerByte*int64(len(question)))
}

// A process is one run of a program.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stderr tail
	limit  string // the time that the next answer may take, with the parameter that sets it
	// longest is the largest length of the next answer, in bytes. The goroutine that reads the output uses it.
	longest atomic.Int64
	// lines carries the output of the process. The channel is closed at the end of the output.
	lines chan line
	// half is the output after the last line break, and long says that reading stopped because it
	// was too long. Both are set before lines is closed.
	half []byte
	long bool
	// stop is closed to kill the process. ended is closed when the process has ended and its
	// children were killed. gone is closed when its output has been read, too.
	stop     chan struct{}
	stopping sync.Once
	ended    chan struct{}
	gone     chan struct{}
	used     bool // the process has answered about an instance
}

// A line is a line of output, with its line break.
type line struct {
	text []byte
	more bool // the beginning of another line was read together with this one
}

// Echo receives what programs write to standard error. It is set before the first one starts.
var Echo = io.Discard

// alive holds all processes that are not gone.
var alive = struct {
	sync.Mutex
	processes map[*process]struct{}
}{processes: map[*process]struct{}{}}

// startProcess starts a command. It returns an error if the command cannot be started.
func startProcess(path string, args []string, memory uint64) (*process, error) {
	p := &process{
		cmd:   newCommand(path, args, memory),
		lines: make(chan line), stop: make(chan struct{}), ended: make(chan struct{}), gone: make(chan struct{}),
	}
	p.longest.Store(answerBase)
	var theirs, ours [3]*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	defer closeAll(theirs[:])
	// With the pipes of exec.Cmd, Wait would wait for every process that still holds them.
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
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	// The lock is held while the process starts, so that Close does not miss it.
	alive.Lock()
	defer alive.Unlock()
	if err := p.cmd.Start(); err != nil {
		closeAll(ours[:])
		return nil, err
	}
	p.stdin = ours[0]
	alive.processes[p] = struct{}{}
	go p.watch(ours[1], ours[2])
	return p, nil
}

// watch reads the output of a process until it ends, then kills its children and closes its files.
func (p *process) watch(stdout, stderr *os.File) {
	var readers sync.WaitGroup
	readers.Go(func() { p.read(stdout) })
	readers.Go(func() { io.Copy(io.MultiWriter(&p.stderr, Echo), stderr) }) // ends at the deadline below at the latest
	p.cmd.Wait()
	killAll(p.cmd.Process)
	close(p.ended)
	deadline := time.Now().Add(drain)
	stdout.SetReadDeadline(deadline)
	stderr.SetReadDeadline(deadline)
	readers.Wait()
	p.stdin.Close()
	stdout.Close()
	stderr.Close()
	alive.Lock()
	delete(alive.processes, p)
	alive.Unlock()
	close(p.gone)
}

// read sends lines to p.lines until the output ends or p.stop is closed.
func (p *process) read(stdout io.Reader) {
	defer close(p.lines)
	b := bufio.NewReaderSize(stdout, 64<<10)
	for {
		text, err := p.readLine(b)
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

// readLine reads a line. With an error, it returns the part that it has read.
func (p *process) readLine(b *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := b.ReadSlice('\n')
		text = append(text, part...)
		if int64(len(text)) > p.longest.Load() {
			return text, errLong
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, err
		}
	}
}

// ask sends a question and returns the line that the process answers before the deadline. The error is an [*Error]
// without a program, or the error of the context. After an error, the process is gone.
func (p *process) ask(ctx context.Context, question []byte, deadline time.Time) ([]byte, error) {
	select {
	case l, ok := <-p.lines:
		if ok {
			return nil, p.surplus(l.text)
		}
	default:
	}
	p.stderr.reset()
	p.longest.Store(maxAnswer(question))
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
			written = nil
			if err != nil {
				return nil, p.explainEnd(ctx, limit.C, "input")
			}
		case l, ok := <-lines:
			switch {
			case !ok && p.long:
				return nil, p.fail(KindProtocol, "writes a line of more than %d bytes (%s): %s", maxAnswer(question),
					answerRule, quote(p.half))
			case !ok:
				return nil, p.explainEnd(ctx, limit.C, "output")
			case l.more:
				return nil, p.surplus(l.text)
			}
			answer, lines = l, nil
		case <-limit.C:
			return nil, p.late()
		case <-ctx.Done():
			return nil, p.interrupt(ctx)
		}
	}
	return answer.text, nil
}

// surplus returns the error for a process that writes more than an answer.
func (p *process) surplus(text []byte) error {
	return p.fail(KindProtocol, "writes more than an answer, beginning with %s", quote(text))
}

// conclude ends a process after a failed conversation and returns the failure. If the process writes another line
// within grace, conclude returns the error for that line instead.
func (p *process) conclude(failure error) error {
	p.stdin.Close()
	select {
	case l, ok := <-p.lines:
		if !ok {
			l.text = p.half
		}
		if len(l.text) > 0 {
			return p.surplus(l.text)
		}
	case <-time.After(grace):
	}
	p.kill()
	<-p.gone
	if own, ok := errors.AsType[*Error](failure); ok {
		own.Aside = p.said()
	}
	return failure
}

// explainEnd returns the error for a process that has closed an end of the conversation: standard "input" or "output".
func (p *process) explainEnd(ctx context.Context, limit <-chan time.Time, end string) error {
	select {
	case <-p.ended:
	case <-time.After(grace):
		return p.fail(KindProtocol, "closed its standard %s before it answered", end)
	case <-limit:
		return p.late()
	case <-ctx.Done():
		return p.interrupt(ctx)
	}
	err := p.fail(KindCrashed, "ended (%v) before it answered", p.cmd.ProcessState)
	if len(p.half) > 0 {
		err.Kind = KindProtocol
		err.Text += "; it wrote half a line: " + quote(p.half)
	}
	return err
}

// late returns the error for a process that takes too long.
func (p *process) late() *Error {
	err := p.fail(store.KindTimeout, "did not answer within %s", p.limit)
	if len(p.half) > 0 {
		err.Aside += "; it wrote half a line: " + quote(p.half)
	}
	return err
}

// interrupt kills a process whose answer is no longer needed.
func (p *process) interrupt(ctx context.Context) error {
	p.kill()
	<-p.gone
	return ctx.Err()
}

// fail kills a process and returns the reason, with the end of its standard error.
func (p *process) fail(kind, format string, args ...any) *Error {
	return p.end(newError(kind, format, args...))
}

// end kills a process and adds the end of its standard error to the reason.
func (p *process) end(reason *Error) *Error {
	p.kill()
	<-p.gone
	reason.Aside = p.said()
	return reason
}

// said returns the end of standard error as an [Error.Aside], unless Echo has shown it.
func (p *process) said() string {
	end := p.stderr.String()
	if end == "" || Echo != io.Discard {
		return ""
	}
	return "; standard error ends with\n" + end
}

func (p *process) isStopped() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

// usable reports whether the process can be asked. It stops a process that has ended.
func (p *process) usable() bool {
	select {
	case <-p.ended:
		p.kill()
	default:
	}
	return !p.isStopped()
}

// close lets a process end, or kills it after grace.
func (p *process) close() {
	p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(grace):
		p.kill()
		<-p.gone
	}
}

func (p *process) kill() {
	p.stopping.Do(func() {
		close(p.stop)
		p.stdin.Close()
		select {
		case <-p.ended:
		default:
			killAll(p.cmd.Process)
		}
	})
}
