package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// A file is an instance as other solvers read it. It has all that the problem consists of.
type file struct {
	Suite string `json:"suite"`
	ID    string `json:"id"`
	Track string `json:"track"`
	// Dataset and Index say where the tasks are from; no solver needs them.
	Dataset   string     `json:"dataset"`
	Index     int        `json:"index"`
	Objective string     `json:"objective"`
	Model     string     `json:"reconfiguration"`
	GPUs      int        `json:"gpus"`
	GPU       *mig.GPU   `json:"gpu"`
	Tasks     []fileTask `json:"tasks"`
}

// A fileTask has the seconds on each size on which the task fits.
type fileTask struct {
	Name    string                     `json:"task"`
	Seconds map[mig.Slices]mig.Seconds `json:"seconds"`
}

const objective = "minimize makespan_s, the end of the last task"

// encode returns the file of an instance.
func (in *Instance) encode(p schedule.Problem) ([]byte, error) {
	f := file{
		Version, in.ID, in.Track, in.Dataset, in.Index, objective, p.Model.String(), p.GPUs(), p.GPU,
		make([]fileTask, len(p.Tasks)),
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		f.Tasks[i] = fileTask{t.Name, map[mig.Slices]mig.Seconds{}}
		for _, s := range p.GPU.Sizes() {
			if t.Fits(s) {
				f.Tasks[i].Seconds[s] = t.On(s)
			}
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(f)
	return text.Bytes(), err
}

// Export returns an instance as JSON, whose SHA-256 is the hash of the suite, and as a tasks file ([task.WriteCSV]).
func (a *Archive) Export(id string) (text, csv []byte, err error) {
	in, _, err := a.Find(id)
	if err != nil {
		return nil, nil, err
	}
	p, err := in.checked()
	if err != nil {
		return nil, nil, err
	}
	if text, err = in.encode(p); err != nil {
		return nil, nil, err
	}
	var tasks bytes.Buffer
	err = task.WriteCSV(&tasks, p.GPU, p.Tasks)
	return text, tasks.Bytes(), err
}

// Import reads what [Archive.Export] returned, puts the problem together from that alone, and checks that writing it
// again gives the hash of the suite.
func (a *Archive) Import(text []byte) (schedule.Problem, error) {
	var f file
	none := schedule.Problem{}
	if err := strictjson.Unmarshal(text, &f); err != nil {
		return none, err
	}
	if f.Suite != Version {
		return none, fmt.Errorf("the instance is of suite %q; this is suite %s", f.Suite, Version)
	}
	in, _, err := a.Find(f.ID)
	if err != nil {
		return none, err
	}
	if f.GPU == nil || f.Objective != objective {
		return none, errors.New("the instance has no GPU model, or another objective")
	}
	p := schedule.Problem{Count: f.GPUs}
	if p.GPU, err = mig.Register(f.GPU); err != nil {
		return none, err
	}
	if p.Model, err = mig.ParseReconfiguration(f.Model); err != nil {
		return none, err
	}
	for _, t := range f.Tasks {
		p.Tasks = append(p.Tasks, task.New(t.Name, t.Seconds))
	}
	read := Instance{ID: f.ID, Track: f.Track, Dataset: f.Dataset, Index: f.Index}
	again, err := read.encode(p)
	if err == nil && hashOf(again) != in.Hash {
		err = fmt.Errorf("%s has the SHA-256 %s, not %s", f.ID, hashOf(again), in.Hash)
	}
	return p, err
}
