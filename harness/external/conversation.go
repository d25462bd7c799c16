package external

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// A conversation asks one process about one instance.
type conversation struct {
	ctx      context.Context
	proc     *process
	id       int64     // identifies the instance
	deadline time.Time // the time by which the last question about the instance must be answered
}

// ask sends a question and reads the answer. It returns an [*Error] without a program if the program refuses or breaks
// the protocol. The process is then gone, except after an answer of the type error.
func (c *conversation) ask(question any, a answer) error {
	line, err := c.proc.ask(c.ctx, encodeMessage(question), c.deadline)
	if err != nil {
		return err
	}
	if err := decodeMessage(line, a); err != nil {
		return c.proc.fail(KindProtocol, "writes a line that is no message: %v: %s", err, quote(line))
	}
	if err := a.check(c.id); err != nil {
		return c.proc.fail(KindProtocol, "gives a wrong answer: %v", err)
	}
	err = a.refusal()
	if own, ok := errors.AsType[*Error](err); ok && own.Kind == KindCrashed {
		return c.proc.end(own)
	}
	return err
}

// A client has conversations with the processes of a program, and keeps the time of the last one.
type client struct {
	*program
	took atomic.Int64 // nanoseconds
}

// Took implements [algo.Timed]. It returns the time of the conversation, including writing and
// reading messages, but not starting a process.
func (c *client) Took() time.Duration { return time.Duration(c.took.Load()) }

// converse leads a conversation about an instance. If the process fails and has answered about another instance before,
// converse repeats the conversation with a new process, so that the result does not depend on earlier instances.
func (c *client) converse(ctx context.Context, id int64, talk func(*conversation) error) error {
	proc, err := c.take(ctx)
	if err != nil {
		return err
	}
	err = c.talkOnce(ctx, proc, id, talk)
	if proc.isStopped() && proc.used && ctx.Err() == nil {
		if proc, err = c.fresh(ctx); err != nil {
			return err
		}
		err = c.talkOnce(ctx, proc, id, talk)
	}
	switch {
	case proc.isStopped():
	case err == nil || ctx.Err() != nil:
		c.giveBack(proc)
	default:
		err = proc.conclude(err)
	}
	return c.blame(err)
}

// talkOnce leads a conversation with a process and stores its time.
func (c *client) talkOnce(ctx context.Context, proc *process, id int64, talk func(*conversation) error) error {
	start := time.Now()
	defer func() { c.took.Store(int64(time.Since(start))) }()
	return talk(&conversation{ctx, proc, id, start.Add(c.limits.timeout)})
}

// A dialogue is a conversation during a simulation, with one question for each decision. The
// simulation cannot return an error of the program, so the dialogue keeps it.
type dialogue struct {
	client
	// id identifies the instance, and opened says that the program has been told about it.
	id     int64
	opened bool
	talk   *conversation
	err    error
}

// newDialogue returns a dialogue about the instance with a seed.
func newDialogue(p *program, seed uint64) dialogue {
	return dialogue{client: client{program: p}, id: int64(seed >> 16)} // 48 bits, as hashID
}

// Converse implements [algo.Dialogue].
func (d *dialogue) Converse(ctx context.Context, simulation func() error) error {
	return d.converse(ctx, d.id, func(c *conversation) error {
		d.talk, d.err, d.opened = c, nil, false
		err := simulation()
		if d.err != nil {
			return d.err
		}
		return err
	})
}

// ask asks a question, unless an earlier one failed, and reports whether it was answered.
func (d *dialogue) ask(question any, a answer) bool {
	if d.err == nil {
		d.err = d.talk.ask(question, a)
	}
	return d.err == nil
}
