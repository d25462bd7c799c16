package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// An Instance names a problem of the suite: a row of instances.csv.
type Instance struct {
	ID    string `csv:"id"`
	Track string `csv:"track"`
	Class string `csv:"class"`
	// Dataset and Index identify the tasks, requests, jobs or programs.
	Dataset string `csv:"dataset"`
	Index   int    `csv:"index"`
	// GPU is the GPU model, and Model is the reconfiguration model, such as sequential.
	GPU       string `csv:"gpu"`
	GPUs      int    `csv:"gpus"`
	Model     string `csv:"reconfiguration"`
	Objective string `csv:"objective"` // "min" or "max" with a metric of the track, as in "min makespan_s"
	Hash      string `csv:"sha256"`    // the SHA-256 of the instance's file, in hexadecimal digits
}

// A file is the file of an instance, which has all data of the problem for other solvers.
type file struct {
	Suite     string `json:"suite"`
	ID        string `json:"id"`
	Track     string `json:"track"`
	Objective string `json:"objective"`
	// Dataset is the source of the rows. In some tracks its parameters are conditions of the problem.
	Dataset string   `json:"dataset"`
	Index   int      `json:"index"`
	Model   string   `json:"reconfiguration"`
	GPUs    int      `json:"gpus"`
	GPU     *mig.GPU `json:"gpu"`
	// Columns and Rows are the CSV file that miglab generate writes for the instance.
	Columns []string            `json:"columns"`
	Rows    [][]json.RawMessage `json:"rows"`
}

// metric returns the metric of the objective, and whether higher values are better.
func (in *Instance) metric() (name string, higher bool) {
	goal, name, _ := strings.Cut(in.Objective, " ")
	return name, goal == "max"
}

// Metric returns the metric of the objective.
func (in *Instance) Metric() string {
	name, _ := in.metric()
	return name
}

// payload draws or reads the contents of an instance. It does not check the hash.
func (in *Instance) payload() (*mig.GPU, task.Payload, error) {
	g, err := new(mig.Catalog).Lookup(in.GPU)
	if err != nil {
		return nil, nil, err
	}
	spec, err := datasets.Parse(in.Dataset)
	if err != nil {
		return nil, nil, err
	}
	p, err := spec.Instance(g, in.Index)
	return g, p, err
}

// Problem returns the problem of an instance that is one batch; other instances are an error. It does not check the
// hash.
func (in *Instance) Problem() (p schedule.Problem, err error) {
	g, payload, err := in.payload()
	if err != nil {
		return p, err
	}
	b, ok := payload.(task.Batches)
	if !ok || len(b.Lengths) != 1 || b.Start != nil || b.Arrivals != nil || b.Restart != 0 {
		return p, fmt.Errorf("instance %d of %q is no plain batch", in.Index, in.Dataset)
	}
	p = schedule.Problem{GPU: g, Count: in.GPUs, Tasks: b.Tasks}
	p.Model, err = mig.ParseReconfiguration(in.Model)
	return p, err
}

// isBatch reports whether an instance is one batch, known from the start, so that a schedule can be submitted.
func (in *Instance) isBatch() bool {
	_, err := in.Problem()
	return err == nil
}

// Requests returns the requests and the GPU model of an instance whose objective is to accept as many requests as
// possible. The requests are nil for other problems.
func (in *Instance) Requests() (*mig.GPU, *task.Requests, error) {
	g, payload, err := in.payload()
	r, ok := payload.(task.Requests)
	if err != nil || !ok || in.Metric() != "acceptance" {
		return g, nil, err
	}
	return g, &r, nil
}

// encode returns the file of an instance, and its contents as the CSV file that miglab generate writes. It does not
// check the hash.
func (in *Instance) encode() (text, contents []byte, err error) {
	g, payload, err := in.payload()
	if err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	if err := payload.WriteCSV(&b, g); err != nil {
		return nil, nil, err
	}
	all, err := csv.NewReader(bytes.NewReader(b.Bytes())).ReadAll()
	if err != nil {
		return nil, nil, err
	}
	model := *g
	// The hash must not depend on texts, which may change, or on profiles that no algorithm uses.
	model.Origin, model.Aliases, model.Like = "", nil, ""
	model.CostSource, model.Assumed, model.Others = "", "", nil
	f := file{
		Suite: Version, ID: in.ID, Track: in.Track, Objective: in.Objective, Dataset: in.Dataset, Index: in.Index,
		Model: in.Model, GPUs: in.GPUs, GPU: &model, Columns: all[0], Rows: make([][]json.RawMessage, len(all)-1),
	}
	for i, row := range all[1:] {
		for _, field := range row {
			f.Rows[i] = append(f.Rows[i], jsonField(field))
		}
	}
	text, err = encode(f)
	return text, b.Bytes(), err
}

// jsonField returns a field of a CSV file as a number with the same digits, or else as a text.
func jsonField(field string) json.RawMessage {
	if strings.ContainsAny(field, "0123456789") && json.Valid([]byte(field)) {
		return json.RawMessage(field)
	}
	quoted, _ := json.Marshal(field) // never fails for a string
	return quoted
}

// encode returns a value as JSON on one line.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return text.Bytes(), err
}

// hexHash returns the SHA-256 of a text in hexadecimal digits.
func hexHash(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// verify does as [Instance.encode], and refuses a file that does not have the hash of the suite.
func (in *Instance) verify() (text, contents []byte, err error) {
	text, contents, err = in.encode()
	if err == nil && hexHash(text) != in.Hash {
		err = fmt.Errorf("%s is not the instance of suite %s: its SHA-256 is %s, not %s", in.ID, Version, hexHash(text),
			in.Hash)
	}
	return text, contents, err
}

// Files returns the file of an instance in JSON, whose SHA-256 is the hash of the suite, and its contents as the CSV
// file that miglab generate writes.
func (a *Archive) Files(id string) (text, contents []byte, err error) {
	in, _, err := a.Find(id)
	if err != nil {
		return nil, nil, err
	}
	return in.verify()
}
