package external

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// protocol is the version of the protocol.
const protocol = 1

// What miglab sends.
type (
	greeting struct {
		Type     string     `json:"type"` // hello
		Protocol int        `json:"protocol"`
		Track    algo.Track `json:"track"`
	}
	instance struct {
		Type            string     `json:"type"` // instance
		ID              int64      `json:"id"`
		GPU             gpu        `json:"gpu"`
		GPUs            int        `json:"gpus"`
		Reconfiguration string     `json:"reconfiguration"`
		Start           []existing `json:"start"`
		Tasks           []job      `json:"tasks"`
	}
	// several are instances for a program that takes more than one at a time.
	several struct {
		Type      string     `json:"type"` // instances
		Instances []instance `json:"instances"`
	}
	// arrival is a later batch of the stream track.
	arrival struct {
		Type  string `json:"type"` // tasks
		ID    int64  `json:"id"`
		Tasks []job  `json:"tasks"`
	}
	gpu struct {
		Name          string     `json:"name"`
		ComputeSlices mig.Slices `json:"compute_slices"`
		MemorySlices  mig.Slices `json:"memory_slices"`
		Profiles      []profile  `json:"profiles"`
	}
	profile struct {
		Size    mig.Slices   `json:"size"`
		Length  mig.Slices   `json:"length"`
		Starts  []mig.Slices `json:"starts"`
		Create  mig.Seconds  `json:"create_s"`
		Destroy mig.Seconds  `json:"destroy_s"`
	}
	existing struct {
		GPU       int         `json:"gpu"`
		Size      mig.Slices  `json:"size"`
		Slice     mig.Slices  `json:"slice"`
		BusyUntil mig.Seconds `json:"busy_until_s"`
	}
	job struct {
		Name    string      `json:"name"`
		Release mig.Seconds `json:"release_s"`
		// Seconds lacks the sizes that the task does not fit.
		Seconds map[mig.Slices]mig.Seconds `json:"seconds"`
	}
)

// newInstance is the question for the first n tasks of a problem. Its ID is a hash of the
// rest of it: asking again, in whatever order, gives the same line.
func newInstance(p *schedule.Problem, n int) instance {
	q := instance{
		Type: "instance", GPUs: p.GPUs(), Reconfiguration: p.Model.String(), Start: []existing{}, Tasks: jobs(p, 0, n),
		GPU: gpu{Name: p.GPU.Name, ComputeSlices: p.GPU.ComputeSlices, MemorySlices: p.GPU.MemorySlices},
	}
	for _, size := range p.GPU.Sizes() {
		own := p.GPU.Profile(size)
		pr := profile{Size: size, Length: own.Length, Starts: own.Starts}
		if p.Model != mig.Free {
			pr.Create, pr.Destroy = own.Create, own.Destroy
		}
		q.GPU.Profiles = append(q.GPU.Profiles, pr)
	}
	for _, e := range p.Start {
		q.Start = append(q.Start, existing{e.GPU, e.Instance.Size(), e.Instance.Start, e.BusyUntil})
	}
	h := sha256.New()
	tasks := p.Tasks[:n].Hash()
	h.Write(tasks[:])
	fmt.Fprintln(h, q.GPU.Name, q.GPUs, q.Reconfiguration, q.Start, p.Release[:min(n, len(p.Release))])
	q.ID = int64(binary.BigEndian.Uint64(h.Sum(nil)) >> 16) // 48 bits: exact in languages whose numbers are all floats
	return q
}

// jobs are the tasks from one index to before another.
func jobs(p *schedule.Problem, from, to int) []job {
	out := make([]job, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, job{p.Tasks[i].Name, p.ReleaseOf(i), seconds(&p.Tasks[i], p.GPU)})
	}
	return out
}

func seconds(t *task.Task, g *mig.GPU) map[mig.Slices]mig.Seconds {
	out := map[mig.Slices]mig.Seconds{}
	for _, size := range g.Sizes() {
		if t.Fits(size) {
			out[size] = t.On(size)
		}
	}
	return out
}

// encode writes a message as a line.
func encode(message any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		panic(fmt.Sprintf("external: %v", err)) // a time that is no number: the problem is broken
	}
	return b.Bytes()
}

// A reply is any line of a program.
type reply struct {
	Type     string          `json:"type"` // hello, schedule, error or answers
	ID       *int64          `json:"id"`
	Protocol int             `json:"protocol"`
	Name     string          `json:"name"`
	Version  int             `json:"version"`
	Batch    int             `json:"batch"`
	Schedule json.RawMessage `json:"schedule"`
	Message  string          `json:"message"`
	Answers  []reply         `json:"answers"`
}

// parseReply reads a line of a program.
func parseReply(line []byte) (reply, error) {
	var r reply
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("there is more after the JSON object")
	}
	return r, nil
}

// maxBatch is how many instances a program may take at a time.
const maxBatch = 1024

// checkHello says what is wrong with a reply to a greeting.
func (r *reply) checkHello() error {
	switch {
	case r.Type == "error":
		return fmt.Errorf("it declines: %q", r.Message)
	case r.Type != "hello":
		return fmt.Errorf("type %q is not hello", r.Type)
	case r.Protocol != protocol:
		return fmt.Errorf("protocol %d is not %d", r.Protocol, protocol)
	case r.Name == "":
		return errors.New("name is missing or empty")
	case r.Version < 1:
		return fmt.Errorf("version %d is not 1 or more", r.Version)
	case r.Batch < 0 || r.Batch > maxBatch:
		return fmt.Errorf("batch %d is not from 0 to %d", r.Batch, maxBatch)
	}
	return nil
}

// checkAnswer says what is wrong with a reply to the question of an ID.
func (r *reply) checkAnswer(id int64) error {
	switch {
	case r.Type != "schedule" && r.Type != "error":
		return fmt.Errorf("type %q is neither schedule nor error", r.Type)
	case r.ID == nil:
		return fmt.Errorf("id is missing; it is %d", id)
	case *r.ID != id:
		return fmt.Errorf("id %d is not the %d that was asked", *r.ID, id)
	case r.Type == "schedule" && r.Schedule == nil:
		return errors.New("schedule is missing")
	}
	return nil
}

// checkAnswers says what is wrong with a reply to several questions.
func (r *reply) checkAnswers(questions []instance) error {
	if r.Type != "answers" {
		return fmt.Errorf("type %q is not answers", r.Type)
	}
	if len(r.Answers) != len(questions) {
		return fmt.Errorf("there are %d answers to %d instances", len(r.Answers), len(questions))
	}
	for i := range questions {
		if err := r.Answers[i].checkAnswer(questions[i].ID); err != nil {
			return fmt.Errorf("answer %d: %w", i+1, err)
		}
	}
	return nil
}
