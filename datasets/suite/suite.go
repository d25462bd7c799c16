// Package suite has instances that are frozen, so that results on them can be cited: "suite 2026.1, closed
// division". The folder 2026.1 names each instance by dataset, index and conditions, and by the SHA-256 of the file
// that [Instance.File] writes for it. An instance that a later version of the datasets would draw differently has
// another hash, and is an error.
//
// The folder also says what is known about each instance: the best result, and a proven bound. [Archive.Verify] checks
// the proofs without a solver, and [Submission.Submit] compares a submission with what is known.
//
// README.md states the problems and the rules.
package suite

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gocarina/gocsv"

	"miglab/bounds/certificate"
	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/spec"
	"miglab/harness/store"
	"miglab/harness/strictcsv"
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

// A Best is what is known about an instance: a row of best.csv.
type Best struct {
	ID string `csv:"id"`
	// Value is the best known result in the unit of the objective. Algorithm found it, and By handed it in.
	Value     float64 `csv:"value"`
	Algorithm string  `csv:"algorithm"`
	By        string  `csv:"by"`
	Date      string  `csv:"date"`
	// Bound is proven: no result is better. It is 0 if no more is known than that no result can be below 0.
	Bound     float64 `csv:"bound"`
	BoundBy   string  `csv:"bound_by"`
	BoundDate string  `csv:"bound_date"`
}

// An Archive is a suite with what is known about its instances.
type Archive struct {
	Instances []Instance
	// Best has a row for each instance, in their order.
	Best []Best

	files fs.FS
}

// Frozen returns the archive that is part of the program.
func Frozen() *Archive { return spec.Must(Read(frozen())) }

func frozen() fs.FS { return spec.Must(fs.Sub(embedded, Version)) }

// In returns the archive that the program has, with what the files of a folder change in it. The folder need not exist,
// and may be "". It is an error if a result of one is better than a bound of the other.
func In(dir string) (*Archive, error) {
	if dir == "" {
		return Frozen(), nil
	}
	a, err := Read(changed{os.DirFS(dir), frozen()})
	if err != nil {
		return nil, err
	}
	for _, known := range Frozen().Best {
		in, own, err := a.Find(known.ID)
		if err != nil {
			return nil, err
		}
		if in.contradicts(known.Value, own.Bound) || in.contradicts(own.Value, known.Bound) {
			return nil, fmt.Errorf("%s: best.csv in %s has the result %v and the bound %v, the program %v and %v; "+
				"they contradict each other", known.ID, dir, own.Value, own.Bound, known.Value, known.Bound)
		}
	}
	return a, nil
}

// changed is files in place of others.
type changed struct{ own, others fs.FS }

// Open implements [fs.FS].
func (c changed) Open(name string) (fs.File, error) {
	f, err := c.own.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = c.others.Open(name)
	}
	return f, err
}

// Read reads an archive from a folder. A result that is better than the bound is an error.
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
	for i, b := range a.Best {
		if a.Instances[i].contradicts(b.Value, b.Bound) {
			return nil, fmt.Errorf("best.csv: the result %v of %s by %s is better than the bound %v by %s; they "+
				"contradict each other", b.Value, b.ID, b.By, b.Bound, b.BoundBy)
		}
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

// Write writes an archive's tables into a folder, which it makes. It does not write the certificates.
func (a *Archive) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(writeRows(dir, "instances.csv", a.Instances), writeRows(dir, "best.csv", a.Best))
}

func writeRows[Row any](dir, name string, all []Row) error {
	text, err := gocsv.MarshalBytes(all)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, name), text)
}

// Find returns the instance of an ID and what is known about it. The error is a [*nearest.UnknownError].
func (a *Archive) Find(id string) (*Instance, *Best, error) {
	i := slices.IndexFunc(a.Instances, func(in Instance) bool { return in.ID == id })
	if i < 0 {
		ids := nearest.Names(a.Instances, func(in Instance) string { return in.ID })
		return nil, nil, nearest.Unknown("instance", id, ids)
	}
	return &a.Instances[i], &a.Best[i], nil
}

// Closed reports whether the best known result of an instance is proven to be optimal.
func (b *Best) Closed() bool { return math.Abs(b.Value-b.Bound) <= equal*math.Abs(b.Value) }

// equal is the relative difference of results that counts as none, as in package certificate.
const equal = 1e-9

// A Gap is how much worse a result is than another.
//
// Gap is 0 for an equal one, and negative for a better one. It is in percent of the other one; of a metric in percent,
// it is the difference.
func (in *Instance) Gap(value, than float64) float64 {
	gap := value - than
	if _, higher := in.metric(); higher {
		gap = -gap
	}
	switch {
	case math.Abs(gap) <= equal*math.Abs(than):
		return 0
	case strings.HasSuffix(in.Objective, "_percent"):
		return gap
	}
	return 100 * gap / than
}

// Verify checks an instance without a solver: the hash, the schedule and the proof of the bound, and that best.csv and
// the class agree with them. An instance is [Open] if and only if result and bound differ. Where results are no
// schedules of one batch, the database has them, and bounds without a certificate.
func (a *Archive) Verify(id string, db *store.DB) error {
	in, best, err := a.Find(id)
	if err != nil {
		return err
	}
	if _, err := in.checked(); err != nil {
		return err
	}
	known, certified := *best, true
	if in.scheduled() {
		err = a.verifySchedule(in, &known)
	} else if known.Value, known.Bound, err = in.result(db, best.Algorithm); err == nil {
		certified, err = a.verifyBound(in, &known)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	if known != *best {
		return fmt.Errorf("%s: best.csv has %+v; shown is %+v", id, *best, known)
	}
	_, higher := in.metric()
	closed := best.Closed() && (certified || best.Value == 0 && !higher)
	if !slices.Contains(Classes, in.Class) || closed == (in.Class == Open) {
		return fmt.Errorf("%s has the class %q; closed is %v", id, in.Class, closed)
	}
	return nil
}

// verifySchedule sets what the certificate of a batch shows.
func (a *Archive) verifySchedule(in *Instance, b *Best) error {
	p, err := in.Problem()
	if err != nil {
		return err
	}
	c, err := a.Certificate(in, p)
	if err != nil {
		return err
	}
	b.Value, b.Bound, b.Algorithm = float64(c.Makespan), float64(c.Lower), c.Schedule.Algorithm
	return certificate.Verify(p, c)
}

// verifyBound sets the bound on accepted requests of which an instance has a certificate, and reports whether it has.
func (a *Archive) verifyBound(in *Instance, b *Best) (bool, error) {
	text, err := fs.ReadFile(a.files, certificateFile(in.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c, err := certificate.DecodeAcceptance(bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	g, requests, err := in.Requests()
	if err != nil {
		return false, err
	}
	if requests == nil {
		return false, fmt.Errorf("%s is about no requests that are accepted or forgotten", certificateFile(in.ID))
	}
	b.Bound = float64(c.AtMost) / float64(c.Requests)
	return true, certificate.VerifyAcceptance(g, requests.GPUs, requests.Requests, c)
}

// Certificate reads the best known schedule of a batch and what proves the bound. It does not verify them.
func (a *Archive) Certificate(in *Instance, p schedule.Problem) (c certificate.Certificate, err error) {
	f, err := a.files.Open(certificateFile(in.ID))
	if err != nil {
		return c, err
	}
	defer f.Close()
	if c, err = certificate.Decode(f, p); err != nil {
		err = fmt.Errorf("%s: %w", certificateFile(in.ID), err)
	}
	return c, err
}

func certificateFile(id string) string { return "best/" + id + ".json" }

// writeCertificate writes a certificate on one line.
func writeCertificate(dir, id string, text []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(certificateFile(id)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	line, err := compact(text)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, line)
}
