package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"miglab/bounds/certificate"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/strictcsv"
	"miglab/harness/strictjson"
)

// A Judgement says how a submission compares with what is known.
type Judgement struct {
	ID string `json:"id"`
	// Improved means that the schedule is shorter than the best known, or that the bound is higher.
	Improved bool `json:"improved"`
	// Schedule compares the makespan with the best known: "improved", "equal" or "worse".
	Schedule string `json:"schedule"`
	// Value is the makespan, Best that of the best known schedule, and Percent how much longer Value is.
	Value   mig.Seconds `json:"makespan_s"`
	Best    mig.Seconds `json:"best_known_s"`
	Percent float64     `json:"percent_above_best_known"`
	// Bound is the best proven lower bound, with the submission's, and Gap how far Value is above it in percent.
	Bound mig.Seconds `json:"lower_bound_s"`
	Gap   float64     `json:"percent_above_bound"`

	best        Best
	certificate certificate.Certificate
	problem     schedule.Problem
}

// A submission is a schedule of an instance that somebody hands in.
type submission struct {
	suite, id, hash, by, date string
	schedule                  schedule.Schedule
	witness                   certificate.Witness
}

// Judge verifies a submission and compares it with what is known. An error is the reason for which it is refused.
func (a *Archive) Judge(text []byte) (*Judgement, error) {
	var named struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, err
	}
	in, best, err := a.Find(named.ID)
	if err != nil {
		return nil, err
	}
	p, err := in.checked()
	if err != nil {
		return nil, err
	}
	s, err := readSubmission(text, p)
	if err != nil {
		return nil, err
	}
	if err := s.check(in); err != nil {
		return nil, err
	}
	if _, err := schedule.Measure(p, s.schedule); err != nil {
		return nil, err
	}
	known, err := a.Certificate(in.ID, p)
	if err != nil {
		return nil, err
	}
	return s.judge(p, *best, known)
}

func readSubmission(text []byte, p schedule.Problem) (s submission, err error) {
	d := strictjson.NewDecoder(bytes.NewReader(text))
	err = d.Object([]strictjson.Member{
		{Name: "suite", Read: d.Into(&s.suite)},
		{Name: "id", Read: d.Into(&s.id)},
		{Name: "sha256", Read: d.Into(&s.hash)},
		{Name: "by", Read: d.Into(&s.by)},
		{Name: "date", Read: d.Into(&s.date)},
		{Name: "schedule", Read: func() (err error) {
			s.schedule, err = schedule.DecodeFrom(d, p)
			return err
		}},
		{Name: "witness", Optional: true, Read: d.Into(&s.witness)},
	})
	if err == nil {
		err = d.End()
	}
	return s, err
}

// check refuses what the schedule does not show.
func (s *submission) check(in *Instance) error {
	switch {
	case s.suite != Version:
		return fmt.Errorf("suite is %q; this is suite %s", s.suite, Version)
	case s.hash != in.Hash:
		return fmt.Errorf("sha256 is %q; %s of suite %s has %s", s.hash, in.ID, Version, in.Hash)
	case s.by == "":
		return errors.New("by is empty; say who hands this in")
	case s.schedule.Algorithm == "":
		return errors.New("schedule.algorithm is empty; say what found the schedule")
	}
	if _, err := time.Parse(time.DateOnly, s.date); err != nil {
		return fmt.Errorf("date is %q; write a day such as 2026-12-31", s.date)
	}
	return nil
}

// judge compares a valid schedule with what is known. It verifies a witness of the submission's own.
func (s *submission) judge(p schedule.Problem, best Best, known certificate.Certificate) (*Judgement, error) {
	shown, bound := s.schedule, known.Witness
	if s.witness.Kind != "" {
		bound = s.witness
	}
	if err := certificate.Verify(p, certificate.New(shown, bound)); err != nil {
		return nil, err
	}
	m := shown.Makespan()
	j := &Judgement{
		ID: best.ID, Schedule: "equal", Value: m, Best: best.Value, Percent: 100 * float64(m/best.Value-1), problem: p,
	}
	switch {
	case math.Abs(j.Percent) <= 100*equal:
		j.Percent, shown = 0, known.Schedule
	case m < best.Value:
		j.Schedule, j.Improved = "improved", true
	default:
		j.Schedule, shown = "worse", known.Schedule
	}
	if bound.Bound > known.Lower*(1+equal) {
		j.Improved = true
	} else {
		bound = known.Witness
	}
	j.certificate = certificate.New(shown, bound)
	j.Bound, j.Gap = bound.Bound, max(0, 100*float64(m/bound.Bound-1))
	j.best = Best{best.ID, j.certificate.Makespan, j.certificate.Lower, s.by, s.date, shown.Algorithm}
	return j, nil
}

// equal is the relative difference of makespans that counts as none, as in package certificate.
const equal = 1e-9

// Save writes the archive's files that a submission changes into a folder: the certificate, and best.csv as a whole.
func (a *Archive) Save(j *Judgement, dir string) error {
	changed := slices.Clone(a.Best)
	i := slices.IndexFunc(changed, func(b Best) bool { return b.ID == j.ID })
	changed[i] = j.best
	if err := writeCertificate(dir, j.ID, j.problem, j.certificate); err != nil {
		return err
	}
	return writeBest(dir, changed)
}

func writeCertificate(dir, id string, p schedule.Problem, c certificate.Certificate) error {
	var text, line bytes.Buffer
	if err := certificate.Encode(&text, p, c); err != nil {
		return err
	}
	if err := json.Compact(&line, text.Bytes()); err != nil {
		return err
	}
	line.WriteByte('\n')
	return atomicfile.Write(filepath.Join(dir, filepath.FromSlash(certificateFile(id))), line.Bytes())
}

func writeBest(dir string, best []Best) error {
	var text bytes.Buffer
	err := strictcsv.Write(&text, strictcsv.Columns[Best](), len(best), func(i int) []string {
		b := &best[i]
		return []string{b.ID, number(b.Value), number(b.Bound), b.By, b.Date, b.Algorithm}
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "best.csv"), text.Bytes())
}

func number(s mig.Seconds) string { return strconv.FormatFloat(float64(s), 'g', -1, 64) }
