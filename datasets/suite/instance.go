package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// An Instance names a problem of the suite: a row of instances.csv.
type Instance struct {
	ID    string `csv:"id"`
	Track string `csv:"track"`
	Class string `csv:"class"`
	// Dataset and Index say where the tasks, requests, jobs or programs are from.
	Dataset string `csv:"dataset"`
	Index   int    `csv:"index"`
	GPU     string `csv:"gpu"`
	GPUs    int    `csv:"gpus"`
	Model   string `csv:"reconfiguration"`
	// Objective is "min" or "max" with a metric of the track, as in "min makespan_s".
	Objective string `csv:"objective"`
	// Hash is the SHA-256 of the instance's file, in hexadecimal digits.
	Hash string `csv:"sha256"`
}

// A file is an instance as other solvers read it. It has all that the problem consists of.
type file struct {
	Suite     string `json:"suite"`
	ID        string `json:"id"`
	Track     string `json:"track"`
	Objective string `json:"objective"`
	// Dataset says where the rows are from. Its parameters are conditions of the problem in some tracks.
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

// payload draws or reads the contents of an instance. They are not compared with the hash.
func (in *Instance) payload() (*mig.GPU, task.Payload, error) {
	g, err := mig.Lookup(in.GPU)
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

// Problem returns the problem of one batch. It is not compared with the hash. Other instances are an error.
func (in *Instance) Problem() (p schedule.Problem, err error) {
	g, payload, err := in.payload()
	if err != nil {
		return p, err
	}
	b, ok := payload.(task.Batches)
	if !ok || len(b.Lengths) != 1 || b.Start != nil || b.Arrivals != nil || b.Estimates != nil || b.Restart != 0 {
		return p, fmt.Errorf("instance %d of %q is no plain batch", in.Index, in.Dataset)
	}
	p = schedule.Problem{GPU: g, Count: in.GPUs, Tasks: b.Tasks}
	p.Model, err = mig.ParseReconfiguration(in.Model)
	return p, err
}

// scheduled reports whether all tasks of an instance are known from the start, so that a schedule can be handed in.
func (in *Instance) scheduled() bool {
	_, err := in.Problem()
	return err == nil
}

// Requests returns the requests of an instance of which as many as possible are to be accepted, and the GPU model. They
// are nil for other problems.
func (in *Instance) Requests() (*mig.GPU, *task.Requests, error) {
	g, payload, err := in.payload()
	r, ok := payload.(task.Requests)
	if err != nil || !ok || in.Metric() != "acceptance" {
		return g, nil, err
	}
	return g, &r, nil
}

// encode returns the file of an instance, which is not compared with the hash.
func (in *Instance) encode() ([]byte, error) {
	g, payload, err := in.payload()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := payload.WriteCSV(&text, g); err != nil {
		return nil, err
	}
	all, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		return nil, err
	}
	model := *g
	model.Origin, model.Aliases, model.Like, model.CostSource = "", nil, "", "" // prose may change
	model.Assumed, model.Others = "", nil                                       // and profiles that no algorithm uses
	f := file{
		Version, in.ID, in.Track, in.Objective, in.Dataset, in.Index, in.Model, in.GPUs, &model, all[0],
		make([][]json.RawMessage, len(all)-1),
	}
	for i, row := range all[1:] {
		for _, field := range row {
			f.Rows[i] = append(f.Rows[i], jsonOf(field))
		}
	}
	return encode(f)
}

// jsonOf returns a field of a CSV file as a number, digit by digit, or else as a text.
func jsonOf(field string) json.RawMessage {
	if strings.ContainsAny(field, "0123456789") && json.Valid([]byte(field)) {
		return json.RawMessage(field)
	}
	quoted, _ := json.Marshal(field) // a string is no error
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

// compact returns a JSON text on one line.
func compact(text []byte) ([]byte, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return nil, err
	}
	line.WriteByte('\n')
	return line.Bytes(), nil
}

func hashOf(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// checked returns the file of an instance, which has the hash of the suite.
func (in *Instance) checked() ([]byte, error) {
	text, err := in.encode()
	if err == nil && hashOf(text) != in.Hash {
		err = fmt.Errorf("%s is not the instance of suite %s: its SHA-256 is %s, not %s", in.ID, Version, hashOf(text),
			in.Hash)
	}
	return text, err
}

// File returns an instance as JSON, whose SHA-256 is the hash of the suite.
func (a *Archive) File(id string) ([]byte, error) {
	in, _, err := a.Find(id)
	if err != nil {
		return nil, err
	}
	return in.checked()
}

// Import reads what [Archive.File] returns. It puts the file together again from what it has understood, compares
// that with the hash of the suite, and returns the contents as the CSV file that miglab generate writes.
func (a *Archive) Import(text []byte) (contents []byte, err error) {
	var f file
	if err := strictjson.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Suite != Version {
		return nil, fmt.Errorf("the instance is of suite %q; this is suite %s", f.Suite, Version)
	}
	in, _, err := a.Find(f.ID)
	if err != nil {
		return nil, err
	}
	if f.GPU == nil {
		return nil, errors.New("the instance has no GPU model")
	}
	again, err := encode(f)
	if err != nil {
		return nil, err
	}
	if hashOf(again) != in.Hash {
		return nil, fmt.Errorf("%s has the SHA-256 %s, not %s", f.ID, hashOf(again), in.Hash)
	}
	return f.csv()
}

// csv returns the contents of an instance as CSV.
func (f *file) csv() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(f.Columns) // Error has what went wrong
	for _, row := range f.Rows {
		fields := make([]string, len(row))
		for i, field := range row {
			if json.Unmarshal(field, &fields[i]) != nil { // not a text
				fields[i] = string(field)
			}
		}
		_ = w.Write(fields)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}
