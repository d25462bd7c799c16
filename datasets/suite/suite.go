// Package suite has instances that are frozen, so that results on them can be cited: "suite 2026.1, closed
// division". The folder 2026.1 names each instance by dataset, index and conditions, and by the SHA-256 of the file
// that [Archive.Export] writes for it. An instance that a later version of the datasets would draw differently has
// another hash, and is an error.
//
// For each instance the folder also has the best known schedule with a proven lower bound, as a certificate.
// [Archive.Verify] checks all of this without a solver, and [Archive.Judge] compares a submission with it.
//
// README.md states the problems and the rules.
package suite

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// Version names the suite.
const Version = "2026.1"

//go:embed 2026.1
var embedded embed.FS

// The classes, from the least difficult. README.md has the rule for each.
const (
	Easy   = "easy"
	Medium = "medium"
	Hard   = "hard"
	Open   = "open"
)

// Classes lists the classes, from the least difficult.
var Classes = []string{Easy, Medium, Hard, Open}

// An Instance names a problem of the suite: a row of instances.csv.
type Instance struct {
	ID    string `csv:"id"`
	Track string `csv:"track"`
	Class string `csv:"class"`
	// Dataset and Index say where the tasks are from.
	Dataset string `csv:"dataset"`
	Index   int    `csv:"index"`
	GPU     string `csv:"gpu"`
	GPUs    int    `csv:"gpus"`
	Model   string `csv:"reconfiguration"`
	// Hash is the SHA-256 of the instance's file, in hexadecimal digits.
	Hash string `csv:"sha256"`
}

// A Best is what is known about an instance: a row of best.csv. The schedule and what proves the bound are in
// best/ID.json.
type Best struct {
	ID string `csv:"id"`
	// Value is the makespan of the best known schedule, and Bound the best proven lower bound, in seconds.
	Value mig.Seconds `csv:"makespan_s"`
	Bound mig.Seconds `csv:"lower_bound_s"`
	// By is who found the schedule or the bound last, and Date when.
	By        string `csv:"by"`
	Date      string `csv:"date"`
	Algorithm string `csv:"algorithm"`
}

// An Archive is a suite with what is known about its instances.
type Archive struct {
	Instances []Instance
	// Best has a row for each instance, in their order.
	Best []Best

	files fs.FS
}

// Frozen returns the archive that is part of the program. Its files were read by the tests, so that an error is a
// mistake in the program.
func Frozen() (*Archive, error) {
	files, err := fs.Sub(embedded, Version)
	if err != nil {
		return nil, err
	}
	return Read(files)
}

// Read reads an archive from a folder.
func Read(files fs.FS) (*Archive, error) {
	a := &Archive{files: files}
	var err error
	if a.Instances, err = rows[Instance](files, "instances.csv"); err != nil {
		return nil, err
	}
	if a.Best, err = rows[Best](files, "best.csv"); err != nil {
		return nil, err
	}
	same := func(in Instance, b Best) bool { return in.ID == b.ID }
	if !slices.EqualFunc(a.Instances, a.Best, same) {
		return nil, errors.New("instances.csv and best.csv have other instances, or another order")
	}
	return a, nil
}

func rows[Row any](files fs.FS, name string) ([]Row, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := strictcsv.Read[Row](f, name, "there are no rows")
	if err != nil {
		return nil, err
	}
	return t.Rows, nil
}

// Find returns the instance of an ID and what is known about it. The error is a [*nearest.UnknownError].
func (a *Archive) Find(id string) (*Instance, *Best, error) {
	i := slices.IndexFunc(a.Instances, func(in Instance) bool { return in.ID == id })
	if i < 0 {
		ids := make([]string, len(a.Instances))
		for i := range a.Instances {
			ids[i] = a.Instances[i].ID
		}
		return nil, nil, nearest.Unknown("instance", id, ids)
	}
	return &a.Instances[i], &a.Best[i], nil
}

// Problem draws the tasks of an instance. The result is not compared with the hash; see [Archive.File].
func (in *Instance) Problem() (p schedule.Problem, err error) {
	if p.GPU, err = mig.Lookup(in.GPU); err != nil {
		return p, err
	}
	if p.Model, err = mig.ParseReconfiguration(in.Model); err != nil {
		return p, err
	}
	spec, err := datasets.Parse(in.Dataset)
	if err != nil {
		return p, err
	}
	b, err := datasets.InstanceOf[task.Batches](spec, p.GPU, in.Index)
	if err != nil {
		return p, err
	}
	if len(b.Lengths) != 1 || b.Start != nil || b.Arrivals != nil || b.Estimates != nil || b.Restart != 0 {
		return p, fmt.Errorf("instance %d of %q is no plain batch", in.Index, in.Dataset)
	}
	p.Count, p.Tasks = in.GPUs, b.Tasks
	return p, nil
}

// Certificate reads the best known schedule of an instance and what proves the bound. It does not verify them.
func (a *Archive) Certificate(id string, p schedule.Problem) (c certificate.Certificate, err error) {
	f, err := a.files.Open(certificateFile(id))
	if err != nil {
		return c, err
	}
	defer f.Close()
	if c, err = certificate.Decode(f, p); err != nil {
		err = fmt.Errorf("%s: %w", certificateFile(id), err)
	}
	return c, err
}

func certificateFile(id string) string { return "best/" + id + ".json" }

func hashOf(text []byte) string {
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:])
}

// Verify checks an instance without a solver: the hash, the schedule, the proof of the bound, and that best.csv and
// the class agree with them. An instance is [Open] if and only if schedule and bound differ.
func (a *Archive) Verify(id string) error {
	in, best, err := a.Find(id)
	if err != nil {
		return err
	}
	p, err := in.checked()
	if err != nil {
		return err
	}
	c, err := a.Certificate(id, p)
	if err != nil {
		return err
	}
	if err := certificate.Verify(p, c); err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if c.Makespan != best.Value || c.Lower != best.Bound || c.Schedule.Algorithm != best.Algorithm {
		return fmt.Errorf("%s: best.csv has %+v; the certificate has the makespan %v, the bound %v and the algorithm %q",
			id, *best, c.Makespan, c.Lower, c.Schedule.Algorithm)
	}
	if !slices.Contains(Classes, in.Class) || c.Proven == (in.Class == Open) {
		return fmt.Errorf("%s has the class %q; proven is %v", id, in.Class, c.Proven)
	}
	return nil
}

// checked returns the problem of an instance that has the hash of the suite.
func (in *Instance) checked() (schedule.Problem, error) {
	p, err := in.Problem()
	if err != nil {
		return p, err
	}
	text, err := in.encode(p)
	if err == nil && hashOf(text) != in.Hash {
		err = fmt.Errorf("%s is not the instance of suite %s: its SHA-256 is %s, not %s",
			in.ID, Version, hashOf(text), in.Hash)
	}
	return p, err
}
