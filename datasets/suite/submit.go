package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"miglab/bounds/certificate"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/stats"
	"miglab/harness/strictjson"
	"miglab/harness/wholefile"
)

// A Judgement compares a submission with the best known schedule and bound.
type Judgement struct {
	ID string `json:"id"`
	// Improved means that the schedule is shorter than the best known one, or that the bound is higher.
	Improved bool `json:"improved"`
	// Schedule compares the makespan with the best known: "improved", "equal" or "worse".
	Schedule string `json:"schedule"`
	// Value is the makespan, Best is the makespan of the best known schedule, and Percent compares the two.
	Value   float64 `json:"makespan_s"`
	Best    float64 `json:"best_known_s"`
	Percent float64 `json:"percent_above_best_known"`
	// Bound is the best proven lower bound, including the submission's. Gap is the distance of Value above it.
	Bound float64 `json:"lower_bound_s"`
	Gap   float64 `json:"percent_above_bound"`

	best        Best
	certificate certificate.Certificate
}

// A Submission is a submitted schedule of an instance. The schedule is valid, and the bound of its witness is proven.
type Submission struct {
	suite, id, by, date string

	problem  schedule.Problem
	schedule schedule.Schedule
	witness  certificate.Witness // proves a bound; its Kind is "" if the submission has none
}

// ReadSubmission reads a submission and verifies its schedule and its witness, which can take minutes. The error says
// why a submission is refused.
func ReadSubmission(text []byte) (*Submission, error) {
	var named struct {
		ID   string `json:"id"`
		Hash string `json:"sha256"`
	}
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, fmt.Errorf("it is no JSON object: %w", err)
	}
	if missing := missingMembers(text); missing != nil {
		return nil, fmt.Errorf("missing: %s; miglab suite submit --id ID --by NAME adds what a schedule lacks",
			strings.Join(missing, ", "))
	}
	in, _, err := Frozen().Find(named.ID)
	if err != nil {
		return nil, err
	}
	if named.Hash != in.Hash {
		return nil, fmt.Errorf("sha256 is %q; %s of suite %s has %s", named.Hash, in.ID, Version, in.Hash)
	}
	if !in.isBatch() {
		return nil, fmt.Errorf("%s is of the %s track, in which programs are handed in (miglab suite run), no files",
			in.ID, in.Track)
	}
	if _, _, err := in.verify(); err != nil {
		return nil, err
	}
	p, err := in.Problem()
	if err != nil {
		return nil, err
	}
	s := &Submission{problem: p}
	if err := s.decode(text); err != nil {
		return nil, err
	}
	return s, s.check(time.Now())
}

// missingMembers returns the names of members that every submission has and a JSON object lacks.
func missingMembers(object []byte) (missing []string) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(object, &members) // without members, all are missing
	for _, name := range []string{"suite", "id", "sha256", "by", "date", "schedule"} {
		if members[name] == nil {
			missing = append(missing, name)
		}
	}
	return missing
}

// Wrap returns the submission of a schedule for an instance, handed in on a day.
func Wrap(schedule []byte, id, by string, day time.Time) ([]byte, error) {
	in, _, err := Frozen().Find(id)
	if err != nil {
		return nil, err
	}
	return encode(map[string]any{
		"suite": Version, "id": id, "sha256": in.Hash, "by": by, "date": day.UTC().Format(time.DateOnly),
		"schedule": json.RawMessage(schedule),
	})
}

// decode reads the members of a submission.
func (s *Submission) decode(text []byte) (err error) {
	var f struct {
		Suite    string              `json:"suite"`
		ID       string              `json:"id"`
		Hash     string              `json:"sha256"`
		By       string              `json:"by"`
		Date     string              `json:"date"`
		Schedule schedule.File       `json:"schedule"`
		Witness  certificate.Witness `json:"witness,omitzero"`
	}
	if err := strictjson.Complete(text, &f); err != nil {
		return err
	}
	s.suite, s.id, s.by, s.date, s.witness = f.Suite, f.ID, f.By, f.Date, f.Witness
	s.schedule, err = f.Schedule.Schedule(s.problem)
	return strictjson.Locate(text, "/schedule", err)
}

// check refuses a submission with missing details, an invalid schedule or a witness that proves no bound.
func (s *Submission) check(now time.Time) error {
	switch {
	case s.suite != Version:
		return fmt.Errorf("suite is %q; this is suite %s", s.suite, Version)
	case strings.TrimSpace(s.by) == "":
		return errors.New("by is empty; say who hands this in")
	case s.schedule.Algorithm == "":
		return errors.New("schedule.algorithm is empty; say what found the schedule")
	}
	day, err := time.Parse(time.DateOnly, s.date)
	if err != nil {
		return fmt.Errorf("date is %q; write a day such as 2026-01-31", s.date)
	}
	if day.After(now.UTC().Add(eastmost)) {
		return fmt.Errorf("date is %s, which is in the future; today is %s", s.date, now.UTC().Format(time.DateOnly))
	}
	if _, err := schedule.Measure(s.problem, s.schedule); err != nil {
		return err
	}
	if s.witness.Kind == "" {
		return nil
	}
	return certificate.Verify(s.problem, certificate.New(s.schedule, s.witness))
}

// eastmost is the time by which the earliest time zone is ahead of UTC.
const eastmost = 14 * time.Hour

// Submit compares a submission with the archive of a folder ([In]), and adds it to the folder if it improves the
// schedule or the bound. It makes the folder only for an improvement. Without a folder ("") it only compares. Several
// processes may add to one folder. If a process is killed, the next one completes its change, so that a submission is
// always added as a whole.
func (s *Submission) Submit(ctx context.Context, dir string) (*Judgement, error) {
	if dir == "" {
		return Frozen().judge(s)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		j, err := Frozen().judge(s)
		if err != nil || !j.Improved {
			return j, err
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}
	unlock, err := atomicfile.Lock(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := finish(dir); err != nil {
		return nil, err
	}
	a, err := In(dir)
	if err != nil {
		return nil, err
	}
	j, err := a.judge(s)
	if err == nil && j.Improved {
		err = a.save(j, s.problem, dir)
	}
	return j, err
}

// judge compares a submission with the archive. It refuses a bound above a valid schedule, which is a contradiction.
func (a *Archive) judge(s *Submission) (*Judgement, error) {
	in, best, err := a.Find(s.id)
	if err != nil {
		return nil, err
	}
	known, err := a.Certificate(in, s.problem)
	if err != nil {
		return nil, err
	}
	makespan := s.schedule.Makespan()
	if err := certificate.CheckKnown(s.witness.Bound, mig.Seconds(best.Value)); err != nil {
		return nil, fmt.Errorf("its witness against the best known schedule, by %s: %w", best.By, err)
	}
	if err := certificate.CheckKnown(known.Lower, makespan); err != nil {
		return nil, fmt.Errorf("the best known bound, by %s, against its schedule: %w", best.BoundBy, err)
	}
	j := &Judgement{ID: best.ID, Schedule: "equal", Value: float64(makespan), Best: best.Value, best: *best}
	j.Percent = in.Excess(j.Value, j.Best)
	shortest, highest := known.Schedule, known.Witness
	switch {
	case j.Percent < 0:
		j.Schedule, j.Improved = "improved", true
		shortest = s.schedule
		j.best.Value, j.best.Algorithm, j.best.By, j.best.Date = j.Value, shortest.Algorithm, s.by, s.date
	case j.Percent > 0:
		j.Schedule = "worse"
	}
	if s.witness.Bound > known.Lower*(1+stats.RoundingError) {
		j.Improved = true
		highest = s.witness
		j.best.Bound, j.best.BoundBy, j.best.BoundDate = float64(highest.Bound), s.by, s.date
	}
	j.certificate = certificate.New(shortest, highest)
	j.Bound = float64(highest.Bound)
	j.Gap = max(0, in.Excess(j.Value, j.Bound))
	return j, nil
}

// contradicts reports whether a result is better than a bound. A bound of 0 means that no bound is known.
func (in *Instance) contradicts(value, bound float64) bool {
	_, higher := in.metric()
	switch {
	case bound == 0:
		return false
	case higher:
		return certificate.Exceeds(value, bound)
	}
	return certificate.Exceeds(bound, value)
}

// A change has the row of best.csv, the class and the certificate of an instance that a submission improves.
type change struct {
	Best        Best            `json:"best"`
	Class       string          `json:"class"`
	Certificate json.RawMessage `json:"certificate"`
}

// unfinished is the name of a file with the change in progress. The submission counts as added when this file exists:
// from then on, the next process can complete the change.
const unfinished = ".unfinished.json"

// save applies a judgement to the files of the archive in a folder. The caller must hold the folder's lock.
func (a *Archive) save(j *Judgement, p schedule.Problem, dir string) error {
	// The schedule and the bound may come from a submission and the archive.
	if err := certificate.Verify(p, j.certificate); err != nil {
		return err
	}
	in, _, err := a.Find(j.ID)
	if err != nil {
		return err
	}
	c := change{Best: j.best, Class: in.Class}
	if j.best.Closed() && c.Class == Open {
		c.Class = Hard
	}
	var text bytes.Buffer
	if err := certificate.Encode(&text, p, j.certificate); err != nil {
		return err
	}
	c.Certificate = text.Bytes()
	raw, err := encode(c)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(dir, unfinished), raw); err != nil {
		return err
	}
	return finish(dir)
}

// finish completes the change that a submission has begun in a folder, and removes the temporary files of killed
// submissions. The caller must hold the folder's lock.
func finish(dir string) error {
	if err := errors.Join(atomicfile.Sweep(dir), atomicfile.Sweep(filepath.Join(dir, "best"))); err != nil {
		return err
	}
	path := filepath.Join(dir, unfinished)
	raw, err := wholefile.Read(path, strictjson.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var c change
	if err == nil {
		err = strictjson.Unmarshal(raw, &c)
	}
	if err != nil {
		return err
	}
	a, err := In(dir)
	if err != nil {
		return err
	}
	in, best, err := a.Find(c.Best.ID)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	*best, in.Class = c.Best, c.Class
	if err := writeCertificate(dir, in.ID, c.Certificate); err != nil {
		return err
	}
	if err := a.Write(dir); err != nil {
		return err
	}
	return os.Remove(path)
}
