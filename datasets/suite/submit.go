package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"miglab/bounds/certificate"
	"miglab/harness/schedule"
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
	Value   float64 `json:"makespan_s"`
	Best    float64 `json:"best_known_s"`
	Percent float64 `json:"percent_above_best_known"`
	// Bound is the best proven lower bound, with the submission's, and Gap how far Value is above it in percent.
	Bound float64 `json:"lower_bound_s"`
	Gap   float64 `json:"percent_above_bound"`

	best        Best
	certificate certificate.Certificate
	problem     schedule.Problem
}

// A submission is a schedule of a batch that somebody hands in.
type submission struct {
	suite, id, hash, by, date string
	schedule                  schedule.Schedule
	witness                   certificate.Witness
}

// Judge verifies a submission and compares it with what is known. An error is the reason for which it is refused.
func (a *Archive) Judge(text []byte) (*Judgement, error) {
	var named struct {
		ID   string `json:"id"`
		Hash string `json:"sha256"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if named.ID == "" {
		return nil, errors.New("id is missing; a submission names its instance, and has the schedule in it")
	}
	in, best, err := a.Find(named.ID)
	if err != nil {
		return nil, err
	}
	if named.Hash != in.Hash {
		return nil, fmt.Errorf("sha256 is %q; %s of suite %s has %s", named.Hash, in.ID, Version, in.Hash)
	}
	if !in.scheduled() {
		return nil, fmt.Errorf("%s is of the %s track, in which programs are handed in (miglab suite run), no files",
			in.ID, in.Track)
	}
	if _, err := in.checked(); err != nil {
		return nil, err
	}
	p, err := in.Problem()
	if err != nil {
		return nil, err
	}
	s, err := readSubmission(text, p)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if _, err := schedule.Measure(p, s.schedule); err != nil {
		return nil, err
	}
	known, err := a.Certificate(in, p)
	if err != nil {
		return nil, err
	}
	return s.judge(in, p, *best, known)
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
		{Name: "witness", Optional: true, Read: certificate.ReadWitness(d, &s.witness)},
	})
	if err == nil {
		err = d.End()
	}
	return s, err
}

// check refuses what the schedule does not show.
func (s *submission) check() error {
	switch {
	case s.suite != Version:
		return fmt.Errorf("suite is %q; this is suite %s", s.suite, Version)
	case strings.TrimSpace(s.by) == "":
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
func (s *submission) judge(in *Instance, p schedule.Problem, best Best, known certificate.Certificate,
) (*Judgement, error) {
	shown, bound := s.schedule, known.Witness
	if s.witness.Kind != "" {
		bound = s.witness
	}
	if err := certificate.Verify(p, certificate.New(shown, bound)); err != nil {
		return nil, err
	}
	m := float64(shown.Makespan())
	j := &Judgement{
		ID: best.ID, Schedule: "equal", Value: m, Best: best.Value, Percent: in.Gap(m, best.Value), problem: p, best: best,
	}
	switch {
	case j.Percent < 0:
		j.Schedule, j.Improved = "improved", true
		j.best.Value, j.best.Algorithm, j.best.By, j.best.Date = m, shown.Algorithm, s.by, s.date
	case j.Percent > 0:
		j.Schedule, shown = "worse", known.Schedule
	default:
		shown = known.Schedule
	}
	if bound.Bound > known.Lower*(1+equal) {
		j.Improved = true
		j.best.Bound, j.best.BoundBy, j.best.BoundDate = float64(bound.Bound), s.by, s.date
	} else {
		bound = known.Witness
	}
	j.certificate = certificate.New(shown, bound)
	j.Bound = float64(bound.Bound)
	j.Gap = max(0, in.Gap(m, j.Bound))
	return j, nil
}

// Save changes the files of an archive in a folder as a submission does, which was judged by that archive.
func (a *Archive) Save(j *Judgement, dir string) error {
	i := slices.IndexFunc(a.Best, func(b Best) bool { return b.ID == j.ID })
	next := Archive{Instances: slices.Clone(a.Instances), Best: slices.Clone(a.Best)}
	next.Best[i] = j.best
	if j.best.Closed() && next.Instances[i].Class == Open {
		next.Instances[i].Class = Hard
	}
	if err := encodeCertificate(dir, j.ID, j.problem, j.certificate); err != nil {
		return err
	}
	return next.Write(dir)
}

func encodeCertificate(dir, id string, p schedule.Problem, c certificate.Certificate) error {
	var text bytes.Buffer
	if err := certificate.Encode(&text, p, c); err != nil {
		return err
	}
	return writeCertificate(dir, id, text.Bytes())
}
