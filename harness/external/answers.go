package external

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/wholefile"
)

const answersPrefix = "answers:"

// maxAnswers is the largest size of a file of answers, in bytes.
const maxAnswers = 1 << 30

func init() { algo.RegisterPrefix(answersPrefix, findAnswers) }

// findAnswers returns the spec of "answers:agent.jsonl". The file must exist. Only Open of the spec reads its answers.
func findAnswers(name string) (algo.Spec, error) {
	path := strings.TrimPrefix(name, answersPrefix)
	if path == "" {
		return algo.Spec{}, fmt.Errorf("algorithm %q names no file; write for example answers:agent.jsonl", name)
	}
	var hash []byte
	f, err := wholefile.Open(path, maxAnswers)
	if err == nil {
		f.Close()
		hash, err = hashFile(path)
	}
	if err != nil {
		return algo.Spec{}, fmt.Errorf("algorithm %q: %w", name, err)
	}
	content := shortHash(hash)
	s := algo.Spec{Name: name, Track: algo.TrackBatch, Weights: func(algo.Args) string { return content }}
	s.Open = func(_ algo.Args, track string) (algo.Spec, error) {
		own := s
		if track != own.Track {
			return own, fmt.Errorf("files of answers are not for the track %s", track)
		}
		r, err := readAnswers(path, content)
		if err != nil {
			return own, err
		}
		own.Version, own.Declared = r.hello.Version, r.hello.Name
		own.New = algo.NewBatch(func(algo.Args) (algo.Batch, error) { return r, nil })
		return own, nil
	}
	return s, nil
}

// shortHash returns the first 16 hexadecimal digits of a hash, as results contain it.
func shortHash(sum []byte) string { return hex.EncodeToString(sum[:8]) }

// recorded answers each instance of the batch track with its answer in a file. The referee checks
// these answers like the answers of a program.
type recorded struct {
	path    string
	hello   hello
	answers map[int64]solution
}

// readAnswers reads a file: first the hello message of a program, then one answer on each line. Errors name the line.
func readAnswers(path, content string) (*recorded, error) {
	f, err := wholefile.Open(path, maxAnswers)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	r := &recorded{path: path, answers: map[int64]solution{}}
	line, err := r.read(io.TeeReader(f, hash))
	if err == nil && shortHash(hash.Sum(nil)) != content {
		err = errors.New("the file was changed while it was used; run again")
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	return r, nil
}

// read reads the hello and the answers. It returns the number of the line at which it stopped.
func (r *recorded) read(in io.Reader) (line int, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, answerLongest)
	for line = 1; lines.Scan(); line++ {
		if line == 1 {
			err = r.greet(lines.Bytes())
		} else {
			err = r.add(lines.Bytes())
		}
		if err != nil {
			return line, err
		}
	}
	err = lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		err = fmt.Errorf("the line has more than %d bytes", answerLongest)
	case err == nil && line == 1:
		err = errors.New("the hello is missing, with a name and a version")
	}
	return line, err
}

func (r *recorded) greet(line []byte) error {
	if err := decodeMessage(line, &r.hello); err != nil {
		return err
	}
	return r.hello.check(0)
}

func (r *recorded) add(line []byte) error {
	s := solution{protocol: r.hello.Protocol}
	if err := decodeMessage(line, &s); err != nil {
		return err
	}
	if s.ID == nil {
		return fmt.Errorf("id is missing; an answer has that of its instance")
	}
	if err := s.check(*s.ID); err != nil {
		return err
	}
	_, repeated := r.answers[*s.ID]
	if repeated {
		return fmt.Errorf("there is an answer to instance %d already", *s.ID)
	}
	r.answers[*s.ID] = s
	return nil
}

// Schedule implements [algo.Batch].
func (r *recorded) Schedule(_ context.Context, p algo.Problem) (schedule.Schedule, error) {
	s, err := r.schedule(p)
	if own, ok := errors.AsType[*Error](err); ok {
		own.Program = answersPrefix + r.path
	}
	return s, err
}

// Took implements [algo.Timed]. It returns 0, because a file does not say how long its decisions took. Results then
// have no time.
func (r *recorded) Took() time.Duration { return 0 }

func (r *recorded) schedule(p algo.Problem) (schedule.Schedule, error) {
	question := newInstance(&p, len(p.Tasks))
	answer, ok := r.answers[question.ID]
	if !ok {
		return schedule.Schedule{}, newError(run.KindInfeasible,
			"has no answer to this instance, %d; it answers %d others; evaluate the agent on all instances of the run",
			question.ID, len(r.answers))
	}
	if err := answer.refusal(); err != nil {
		return schedule.Schedule{}, err
	}
	own := newTimetable(p, answersPrefix+r.path)
	err := own.add(&answer, len(p.Tasks))
	return own.schedule(), err
}

// Answer returns the line of a file of answers for a problem and its schedule, with a line
// break. It passes on the errors of [schedule.Encode].
func Answer(p schedule.Problem, s schedule.Schedule) ([]byte, error) {
	var text bytes.Buffer
	if err := schedule.Encode(&text, p, s); err != nil {
		return nil, err
	}
	return encodeMessage(struct {
		Type     string         `json:"type"`
		ID       int64          `json:"id"`
		Schedule jsontext.Value `json:"schedule"`
	}{"schedule", newInstance(&p, len(p.Tasks)).ID, text.Bytes()}), nil
}
