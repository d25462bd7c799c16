package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/strictjson"
	"miglab/profiling"
)

// A journal lists the things that a run must clean up. Its file is replaced as a whole before each change of the GPU,
// and exists as long as there may be something to clean up.
type journal struct {
	// Boot is the boot of the system, and PID the process.
	Boot string `json:"boot,omitempty"`
	PID  int    `json:"process"`
	// Before are the instances that existed when the run began. They belong to others.
	Before []entry `json:"before,omitempty"`
	// Instances are those that the run made, or is about to make.
	Instances []entry `json:"instances,omitempty"`
}

// An entry is an instance in a journal.
type entry struct {
	Profile string     `json:"profile"`
	Start   mig.Slices `json:"start"`
	// Creating says that it may or may not exist. Its ID and UUID are unknown then. An instance without a compute
	// instance has no UUID.
	Creating bool   `json:"creating,omitempty"`
	ID       int    `json:"id,omitempty"`
	UUID     string `json:"uuid,omitempty"`

	// destroying says that Destroy is at work.
	destroying bool
}

// newEntry returns the entry of an instance that exists.
func newEntry(i profiling.Instance) entry {
	return entry{Profile: i.Profile.String(), Start: i.Start, ID: i.ID, UUID: i.UUID}
}

// readJournal reads the journal of a killed run, and returns the entries of the instances that it may have left, by
// instance. If g is nil, it returns no instances. A file that is not a journal, or that lists an instance that is
// impossible or twice there, is a [*profiling.DeviceError]. Other errors are from [os.ReadFile]; [fs.ErrNotExist] is
// one.
func readJournal(path string, g *mig.GPU) (j journal, left map[mig.Instance]entry, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return j, nil, err
	}
	left = map[mig.Instance]entry{}
	if err = strictjson.Unmarshal(raw, &j); err == nil && g != nil {
		for _, e := range j.Instances {
			at, wrong := e.instance(g)
			if _, twice := left[at]; twice && wrong == nil {
				wrong = fmt.Errorf("%s is there twice", instanceName(at))
			}
			err = errors.Join(err, wrong)
			left[at] = e
		}
	}
	if err != nil {
		return j, nil, &profiling.DeviceError{
			Op: path, Err: err, Remedy: "the file lists the instances that a killed run left: look at them with " +
				"nvidia-smi mig -lgi, destroy those that nobody needs with nvidia-smi mig -dci and -dgi, and delete " +
				"the file",
		}
	}
	return j, left, nil
}

// instance checks an entry and returns its instance on a GPU of a model.
func (e *entry) instance(g *mig.GPU) (mig.Instance, error) {
	p, err := g.ProfileByName(e.Profile)
	if err == nil && !slices.Contains(p.Starts, e.Start) {
		err = fmt.Errorf("%s cannot begin at slice %d; it may start at %v", p, e.Start, p.Starts)
	}
	return mig.Instance{Profile: p, Start: e.Start}, err
}

// write replaces the journal's file. The caller holds mu, or is the only user of the session.
func (s *Session) write() error {
	s.journal.Instances = nil
	for _, at := range s.places() {
		s.journal.Instances = append(s.journal.Instances, s.ours[at])
	}
	raw, err := json.Marshal(&s.journal)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.path, append(raw, '\n'))
}

// places returns the run's instances, from left to right.
func (s *Session) places() []mig.Instance {
	return slices.SortedFunc(maps.Keys(s.ours), func(a, b mig.Instance) int { return cmp.Compare(a.Start, b.Start) })
}
