// Package suite has frozen instances, so that results on them can be cited: "suite 2026.1, closed division". The folder
// 2026.1 names each instance by dataset, index and conditions, and has the SHA-256 of the instance's file
// ([Archive.File]). If a later version of the datasets draws an instance differently, the hash of its file differs and
// the instance is refused.
//
// The folder also has the best known result and a proven bound of each instance. [Archive.Verify] checks the proofs
// without a solver. [ReadSubmission] refuses an invalid schedule or proof, and [Submission.Submit] compares a
// submission with the best known result.
//
// README.md states the problems and the rules.
package suite

import (
	"bytes"
	"embed"
	"encoding/json"
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
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/strictcsv"
)

// Version names the suite.
const Version = "2026.1"

//go:embed 2026.1
var embedded embed.FS

// The classes of instances, from the least difficult. README.md has the rule for each.
const (
	Easy   = "easy"
	Medium = "medium"
	Hard   = "hard"
	Open   = "open"
)

// Classes lists the classes, from the least difficult.
var Classes = []string{Easy, Medium, Hard, Open}

// A Best has the best known result and bound of an instance: a row of best.csv.
type Best struct {
	ID string `csv:"id"`
	// Value is the best known result in the unit of the objective. Algorithm found it, and By submitted it.
	Value     float64 `csv:"value"`
	Algorithm string  `csv:"algorithm"`
	By        string  `csv:"by"`
	Date      string  `csv:"date"`
	// Bound is a proven bound: no result is better. 0 means that only the trivial bound 0 is known.
	Bound     float64 `csv:"bound"`
	BoundBy   string  `csv:"bound_by"`
	BoundDate string  `csv:"bound_date"`
}

// An Archive is a suite with the best known results and bounds of its instances.
type Archive struct {
	Instances []Instance
	Best      []Best // a row for each instance, in their order

	files fs.FS
}

// Frozen returns the archive that is embedded in the program.
func Frozen() *Archive { return spec.Must(Read(embeddedFiles())) }

func embeddedFiles() fs.FS { return spec.Must(fs.Sub(embedded, Version)) }

// In returns the archive of the program, except that files in a folder replace its files. The folder need not exist,
// and may be "". In returns an error if a result in one of the two is better than a bound in the other.
func In(dir string) (*Archive, error) {
	if dir == "" {
		return Frozen(), nil
	}
	a, err := Read(overlay{os.DirFS(dir), embeddedFiles()})
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

// An overlay has the files of upper, and the files of lower that upper lacks.
type overlay struct{ upper, lower fs.FS }

// Open implements [fs.FS].
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.upper.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = o.lower.Open(name)
	}
	return f, err
}

// Read reads an archive from a folder. A result that is better than the bound is an error.
func Read(files fs.FS) (*Archive, error) {
	a := &Archive{files: files}
	var err error
	if a.Instances, err = readRows[Instance](files, "instances.csv"); err != nil {
		return nil, err
	}
	if a.Best, err = readRows[Best](files, "best.csv"); err != nil {
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

func readRows[Row any](files fs.FS, name string) ([]Row, error) {
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
	return a.Tables(func(name string, text []byte) error { return atomicfile.Write(filepath.Join(dir, name), text) })
}

// Tables calls use with the name and the contents of each table of an archive.
func (a *Archive) Tables(use func(name string, text []byte) error) error {
	instances, err := gocsv.MarshalBytes(a.Instances)
	if err != nil {
		return err
	}
	best, err := gocsv.MarshalBytes(a.Best)
	if err != nil {
		return err
	}
	return errors.Join(use("instances.csv", instances), use("best.csv", best))
}

// Find returns the instance with an ID, and its best known result and bound. The error is a [*nearest.UnknownError].
func (a *Archive) Find(id string) (*Instance, *Best, error) {
	i := slices.IndexFunc(a.Instances, func(in Instance) bool { return in.ID == id })
	if i < 0 {
		ids := nearest.Names(a.Instances, func(in Instance) string { return in.ID })
		return nil, nil, nearest.Unknown("instance", id, ids)
	}
	return &a.Instances[i], &a.Best[i], nil
}

// Closed reports whether the best known result of an instance is proven to be optimal.
func (b *Best) Closed() bool {
	return math.Abs(b.Value-b.Bound) <= stats.RoundingError*math.Abs(b.Value)
}

// Excess returns by how much a result is worse than another: 0 if they are equal, and less than 0 if it is better. The
// number is in percent of the other result or, for a metric in percent, the difference in percentage points.
func (in *Instance) Excess(value, than float64) float64 {
	excess := value - than
	_, higher := in.metric()
	if higher {
		excess = -excess
	}
	switch {
	case math.Abs(excess) <= stats.RoundingError*math.Abs(than):
		return 0
	case strings.HasSuffix(in.Objective, "_percent"):
		return excess
	}
	return 100 * excess / than
}

// Verify checks an instance without a solver: its hash, the schedule and the proof of the bound, and that best.csv and
// the class agree with them. An instance must be [Open] if its best known result is not proven to be optimal, and only
// then. For instances other than one batch, Verify takes results, and bounds without a certificate, from the database.
func (a *Archive) Verify(id string, db *store.DB) error {
	in, best, err := a.Find(id)
	if err != nil {
		return err
	}
	if _, _, err := in.verify(); err != nil {
		return err
	}
	known, certified := *best, true
	if in.isBatch() {
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
	trivial := best.Value == 0 && !higher // nothing can be less
	closed := best.Closed() && (certified || trivial)
	if !slices.Contains(Classes, in.Class) || closed == (in.Class == Open) {
		return fmt.Errorf("%s has the class %q; closed is %v", id, in.Class, closed)
	}
	return nil
}

// verifySchedule sets the result and the bound of b from the certificate of a batch, and verifies the certificate.
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

// verifyBound sets the bound on accepted requests from the certificate of an instance, and verifies it. It returns
// false if the instance has no certificate.
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

// Certificate reads the best known schedule of a batch and the proof of the bound. It does not verify them.
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
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		return err
	}
	line.WriteByte('\n')
	return atomicfile.Write(path, line.Bytes())
}
