package external

import (
	"fmt"
	"strings"

	"miglab/harness/algo"
)

// The kinds of errors of programs. There are also [store.KindTimeout] for a program that
// takes too long, [run.KindInfeasible] for one that declines, and [run.KindInvalid] for an
// answer that is wrong for the instance.
const (
	// KindCrashed is a program that ended instead of answering.
	KindCrashed = "crashed"
	// KindProtocol is a program that wrote what the protocol does not allow.
	KindProtocol = "protocol"
)

// Error says what a program did wrong.
type Error struct {
	// Program is the algorithm's ID.
	Program string
	Kind    string
	// Text completes the sentence "program ... ". What it quotes of the program is cut.
	Text string
	// Aside follows the text where a user reads it: the end of standard error, for example.
	// It may differ from run to run and is not stored.
	Aside string
}

func (e *Error) Error() string { return e.FailureText() + e.Aside }

// FailureKind implements [algo.Failure].
func (e *Error) FailureKind() string { return e.Kind }

// FailureText implements [algo.Failure].
func (e *Error) FailureText() string { return fmt.Sprintf("%s %s", e.Program, e.Text) }

var _ algo.Failure = (*Error)(nil)

// maxText is how long the text of an error may be, in bytes, before the end of standard
// error is added.
const maxText = 2 << 10

// newError returns an error without a program. It cuts the text, which may quote whatever
// the program says.
func newError(kind, format string, args ...any) *Error {
	text := fmt.Sprintf(format, args...)
	if len(text) > maxText {
		text = fmt.Sprintf("%s... (cut; %d bytes in all)", text[:maxText], len(text))
	}
	return &Error{Kind: kind, Text: strings.ToValidUTF8(text, "")}
}

// maxQuote is how much of a line an error quotes, in bytes.
const maxQuote = 100

func quote(text []byte) string {
	if len(text) > maxQuote {
		return fmt.Sprintf("%q...", text[:maxQuote])
	}
	return fmt.Sprintf("%q", text)
}
