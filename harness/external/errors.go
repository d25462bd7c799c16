package external

import (
	"fmt"
	"strings"

	"miglab/harness/algo"
)

// The kinds of errors of programs. An error may also be [store.KindTimeout] for a program that takes too long,
// [run.KindInfeasible] for a program that declines, and [run.KindInvalid] for an answer that is wrong for the instance.
const (
	KindCrashed  = "crashed"  // a program that ended instead of answering, or answered that it crashed
	KindProtocol = "protocol" // a program that wrote a message that the protocol does not allow
)

// Error describes a mistake of a program.
type Error struct {
	Program string // the algorithm's ID
	Kind    string
	// Text completes the sentence "program ... ". It quotes only the beginning of long output.
	Text string
	// Aside follows the text in messages to the user, for example the end of standard error.
	// It may differ from run to run and is not stored.
	Aside string
}

func (e *Error) Error() string { return e.FailureText() + e.Aside }

// FailureKind implements [algo.Failure].
func (e *Error) FailureKind() string { return e.Kind }

// FailureText implements [algo.Failure].
func (e *Error) FailureText() string { return fmt.Sprintf("%s %s", e.Program, e.Text) }

var _ algo.Failure = (*Error)(nil)

// maxText is the largest length of an error's text in bytes, without the end of standard error.
const maxText = 2 << 10

// newError returns an error without a program. It cuts a long text, which may quote the program.
func newError(kind, format string, args ...any) *Error {
	text := fmt.Sprintf(format, args...)
	if len(text) > maxText {
		text = fmt.Sprintf("%s... (cut; %d bytes in all)", text[:maxText], len(text))
	}
	return &Error{Kind: kind, Text: strings.ToValidUTF8(text, "")}
}

// maxQuote is the number of bytes of a line that an error quotes.
const maxQuote = 100

func quote(text []byte) string {
	if len(text) > maxQuote {
		return fmt.Sprintf("%q...", text[:maxQuote])
	}
	return fmt.Sprintf("%q", text)
}
