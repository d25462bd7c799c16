package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
	"miglab/profiling"
)

// A journal is a file with one line of JSON for each change of the GPU, written before
// the change. The file exists as long as there may be something to clean up.
type journal struct {
	path string

	mu sync.Mutex
	f  *os.File
	// err is the first error of writing. No line may follow a partial one, so it is final.
	err error
}

type event string

const (
	// begun is the first line.
	begun event = "begin"
	// modeOn is written before MIG is turned on.
	modeOn event = "turn MIG on"
	// intended is written before an instance is created; from then on it may exist.
	intended event = "create"
	// created says that it exists, with its number and UUID. It has no UUID if it lacks its
	// compute instance.
	created event = "created"
	// failed says that it was not created.
	failed event = "not created"
	// serving is written before an MPS daemon of an instance starts, and served after its end.
	serving event = "start MPS daemon"
	served  event = "MPS daemon ended"
	// destroyed says that it no longer exists.
	destroyed event = "destroyed"
)

type entry struct {
	Event event `json:"event"`
	// Boot, PID and Before belong to begun: the boot of the system, the process, and the
	// instances that existed before.
	Boot   string  `json:"boot,omitempty"`
	PID    int     `json:"process,omitempty"`
	Before []place `json:"before,omitempty"`
	// Instance belongs to the events about an instance.
	Instance *place `json:"instance,omitempty"`
}

// A place is an instance as the journal names it. ID and UUID are missing while it is
// being created.
type place struct {
	Profile string     `json:"profile"`
	Start   mig.Slices `json:"start"`
	ID      int        `json:"id,omitempty"`
	UUID    string     `json:"uuid,omitempty"`
}

// placeAt names an instance that is being created.
func placeAt(at mig.Instance) place { return place{Profile: at.Profile.String(), Start: at.Start} }

// placeOf names an instance that exists.
func placeOf(i profiling.Instance) place { return place{i.Profile.String(), i.Start, i.ID, i.UUID} }

// create begins a journal. After an error there is no file.
func create(path string, first entry) (*journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j := &journal{path: path, f: f}
	if err := j.append(first); err != nil {
		return nil, errors.Join(err, j.remove())
	}
	return j, nil
}

// append writes a line and returns when the line is on disk.
func (j *journal) append(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		_, j.err = j.f.Write(append(line, '\n'))
	}
	if j.err == nil {
		j.err = j.f.Sync()
	}
	return j.err
}

// close leaves the file for the next session.
func (j *journal) close() error { return j.f.Close() }

// remove closes and deletes the journal, when everything in it is cleaned up.
func (j *journal) remove() error { return errors.Join(j.f.Close(), os.Remove(j.path)) }

// reopen opens the journal of a killed run, in order to continue it. It returns nil if
// there is none.
func reopen(path string, g *mig.GPU) (_ *journal, r remains, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r, nil
	}
	if err != nil {
		return nil, r, err
	}
	// A partial last line was not followed by its change.
	raw = raw[:bytes.LastIndexByte(raw, '\n')+1]
	if r, err = replay(raw, path, g); err != nil {
		return nil, r, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, r, err
	}
	if err := f.Truncate(int64(len(raw))); err != nil {
		return nil, r, errors.Join(err, f.Close())
	}
	return &journal{path: path, f: f}, r, nil
}

// remains is what a killed run may have left.
type remains struct {
	boot     string
	pid      int
	before   []place
	turnedOn bool
	left     map[mig.Instance]made
}

// replay finds out what a journal's run may have left. Without a model it ignores instances. The
// error is a [*JournalError].
func replay(raw []byte, file string, g *mig.GPU) (remains, error) {
	r := remains{left: map[mig.Instance]made{}}
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		e, err := parse(line)
		if err == nil && (e.Event == begun) != (n == 1) {
			err = fmt.Errorf("event %q; %q is the first line and no other", e.Event, begun)
		}
		if err == nil {
			switch e.Event {
			case begun:
				r.boot, r.pid, r.before = e.Boot, e.PID, e.Before
			case modeOn:
				r.turnedOn = true
			default:
				if g == nil {
					continue
				}
				err = r.follow(e, g)
			}
		}
		if err != nil {
			return remains{}, &JournalError{file, n, err}
		}
	}
	return r, nil
}

func parse(line []byte) (e entry, err error) {
	if err := strictjson.Unmarshal(line, &e); err != nil {
		return e, fmt.Errorf("%q is not a line of a journal: %w", strings.TrimSpace(string(line)), err)
	}
	return e, nil
}

// follow applies an event about an instance.
func (r *remains) follow(e entry, g *mig.GPU) error {
	if e.Instance == nil {
		return fmt.Errorf("event %q without an instance", e.Event)
	}
	p, err := g.ProfileByName(e.Instance.Profile)
	if err != nil {
		return err
	}
	at := mig.Instance{Profile: p, Start: e.Instance.Start}
	if !slices.Contains(p.Starts, at.Start) {
		return fmt.Errorf("%s cannot begin at slice %d; it may start at %v", p, at.Start, p.Starts)
	}
	switch was := r.left[at].stage; {
	case (e.Event == serving || e.Event == served) && was == there && e.Instance.UUID != "" &&
		e.Instance.UUID == r.left[at].uuid:
		m := r.left[at]
		m.daemon = e.Event == serving
		r.left[at] = m
	case e.Event == intended && was == "":
		r.left[at] = made{stage: creating}
	case e.Event == created && was == creating:
		r.left[at] = made{stage: there, id: e.Instance.ID, uuid: e.Instance.UUID}
	case e.Event == failed && was == creating, e.Event == destroyed && was != "":
		delete(r.left, at)
	case was == "":
		return fmt.Errorf("event %q for %s, which was not being created", e.Event, name(at))
	default:
		return fmt.Errorf("event %q for %s, which is %s", e.Event, name(at), was)
	}
	return nil
}
