package external

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/run"
	"miglab/harness/spec"
	"miglab/harness/strictjson"
)

// The versions of the protocol. A program answers hello with the version that it keeps to.
const (
	oldest = 1
	// withPlans adds plans to the answers of the batch and stream tracks, and crashed to the answers of all tracks.
	withPlans = 2
	// withGangs adds gangs to the placement track.
	withGangs = 3
	newest    = withGangs
)

func encodeMessage(message any) []byte {
	// An error would mean that the instance has a time that is not finite.
	text := spec.Must(json.Marshal(message, json.Deterministic(true), jsontext.AllowInvalidUTF8(true)))
	return append(text, '\n')
}

// decodeMessage reads a line of a program. Names are case-sensitive, and unknown or repeated ones
// are errors. The same line gives the same error in every run.
func decodeMessage(line []byte, message any) error { return strictjson.Line(line, message) }

// hashID returns an ID for a question: the same for the same bytes. It has 48 bits, so that
// it is exact in languages in which all numbers are floats.
func hashID(text []byte) int64 {
	sum := sha256.Sum256(text)
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 16)
}

// An answer is a program's reply to a question.
type answer interface {
	// check returns an error unless the message is an answer to the question with an ID. It does
	// not check the decision in it.
	check(id int64) error
	// refusal returns the error of a program that declines or reports a crash; nil for a decision.
	refusal() error
}

// A head holds the fields that all answers have.
type head struct {
	Type    string `json:"type"`
	ID      *int64 `json:"id"`
	Message string `json:"message"` // only for refusals
}

// The types of a refusal, an answer without a decision.
const (
	typeError   = "error"   // the program declines
	typeCrashed = "crashed" // a mistake in the program, such as an exception
)

// expect returns an error unless h answers the question with an ID. The answer must have one of the types or be a
// refusal. Only the first type has content. Errors name the content with a verb, such as "slice is". parts says which
// parts of the content the answer has.
func (h *head) expect(id int64, content string, parts []bool, types ...string) error {
	hasContent := h.Type == types[0]
	refuses := h.Type == typeError || h.Type == typeCrashed
	switch {
	case !refuses && !slices.Contains(types, h.Type):
		return fmt.Errorf("type %s is neither %s nor error", quote([]byte(h.Type)), strings.Join(types, " nor "))
	case h.ID == nil:
		return fmt.Errorf("id is missing; it is %d", id)
	case *h.ID != id:
		return fmt.Errorf("id %d is not the %d that was asked", *h.ID, id)
	case !refuses && h.Message != "":
		return fmt.Errorf("type %s has no message", h.Type)
	case hasContent && slices.Contains(parts, false):
		return errors.New(content + " missing")
	case !hasContent && slices.Contains(parts, true):
		return fmt.Errorf("%s no part of the type %s", content, h.Type)
	}
	return nil
}

func (h *head) refusal() error {
	switch h.Type {
	case typeError:
		return newError(run.KindInfeasible, "declines: %q", h.Message)
	case typeCrashed:
		return newError(KindCrashed, "reports a crash: %q", h.Message)
	}
	return nil
}

// ready is the answer to the message that opens a dialogue.
type ready struct{ head }

func (r *ready) check(id int64) error { return r.expect(id, "", nil, "ready") }

// greeting is the first message to a process. Protocol is the oldest version, so that programs of that version
// understand the message.
type greeting struct {
	Type     string `json:"type"` // hello
	Protocol int    `json:"protocol"`
	Newest   int    `json:"newest"`
	Track    string `json:"track"`
}

type hello struct {
	head            // without an ID
	Protocol int    `json:"protocol"`
	Name     string `json:"name"`
	Version  int    `json:"version"`
}

// maxName is the largest length of a program's name, in bytes.
const maxName = 100

func (h *hello) check(int64) error {
	switch {
	case h.Type == typeError:
		return fmt.Errorf("it declines: %q", h.Message)
	case h.Type != "hello":
		return fmt.Errorf("type %s is not hello", quote([]byte(h.Type)))
	case h.Protocol < oldest || h.Protocol > newest:
		return fmt.Errorf("protocol %d is not from %d to %d", h.Protocol, oldest, newest)
	case h.Name == "":
		return errors.New("name is missing or empty")
	case len(h.Name) > maxName:
		return fmt.Errorf("name has %d bytes; at most %d are allowed", len(h.Name), maxName)
	case strings.ContainsFunc(h.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("name %q has a character that cannot be printed", h.Name)
	case h.Version < 1:
		return fmt.Errorf("version %d is not 1 or more", h.Version)
	}
	return nil
}
