package certificate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/strictjson"
)

// A Certificate claims that the optimum of a problem lies between a bound and the
// makespan of a schedule, which is the optimum only where Proven says so.
type Certificate struct {
	// Lower is the bound, and Makespan that of Schedule.
	Lower, Makespan mig.Seconds
	// Proven means that the two are equal, up to 1e-9 of the makespan.
	Proven bool
	// Gap is how much shorter a schedule can be, in percent of the makespan; 0 if Proven.
	Gap      float64
	Schedule schedule.Schedule
	Witness  Witness
}

// The kinds of [Witness], by the argument that proves the bound.
const (
	// Area adds up the time of the slices that tasks, idling and reconfiguration take.
	Area = "area"
	// SliceWeights is a dual solution of the configuration linear program.
	SliceWeights = "slice-weights"
	// TaskPrices is one that knows which tasks fit one instance together.
	TaskPrices = "task-prices"
	// Chains adds up what each slice has to do one after the other, whatever runs where.
	Chains = "chains"
	// Search is an exhaustive search.
	Search = "search"
)

// A Witness says why no schedule is faster than a bound.
type Witness struct {
	// Kind is one of the constants above.
	Kind string `json:"kind"`
	// Bound is what the argument proves.
	Bound mig.Seconds `json:"bound_s"`
	// Threshold belongs to [SliceWeights]. Options that end at it or later, even if they
	// start as early as they can, are left out; 0 leaves out none.
	Threshold mig.Seconds `json:"threshold_s,omitempty"`
	// Weights belongs to [SliceWeights]: one weight for each compute slice, by position.
	Weights []float64 `json:"weights,omitempty"`
	// Cells and Prices belong to [TaskPrices]: how many cells the bound is divided into, and the price of each task.
	Cells  int       `json:"cells,omitempty"`
	Prices []float64 `json:"prices,omitempty"`
}

// New returns the certificate of a schedule and a bound.
func New(s schedule.Schedule, w Witness) Certificate {
	c := Certificate{Lower: w.Bound, Makespan: s.Makespan(), Schedule: s, Witness: w}
	c.Proven, c.Gap = gapOf(c.Lower, c.Makespan)
	return c
}

func gapOf(lower, makespan mig.Seconds) (proven bool, gap float64) {
	if !Exceeds(makespan, lower) {
		return true, 0
	}
	return false, 100 * float64(makespan-lower) / float64(makespan)
}

// A fileCertificate is a certificate as its file has it.
type fileCertificate struct {
	Lower    mig.Seconds     `json:"lower_bound_s"`
	Makespan mig.Seconds     `json:"makespan_s"`
	Proven   bool            `json:"proven"`
	Gap      float64         `json:"gap_percent"`
	Schedule json.RawMessage `json:"schedule"`
	Witness  Witness         `json:"witness"`
}

// Encode writes a certificate as indented JSON. The errors are those of [schedule.Encode].
func Encode(w io.Writer, p schedule.Problem, c Certificate) error {
	var s bytes.Buffer
	if err := schedule.Encode(&s, p, c.Schedule); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(fileCertificate{c.Lower, c.Makespan, c.Proven, c.Gap, s.Bytes(), c.Witness})
}

// Decode reads what [Encode] writes as a certificate for the problem. It is strict. These
// are each a [*schedule.FormatError]: a field that is unknown, missing, duplicate or of the
// wrong type, what [schedule.Decode] refuses, and text after the end. Other errors are
// those of r. Decode does not check whether the claim is true; see [Verify].
func Decode(r io.Reader, p schedule.Problem) (Certificate, error) {
	return decode(r, func(d *strictjson.Decoder, c *Certificate) []strictjson.Member {
		return []strictjson.Member{
			{Name: "lower_bound_s", Read: d.Into(&c.Lower)},
			{Name: "makespan_s", Read: d.Into(&c.Makespan)},
			{Name: "proven", Read: d.Into(&c.Proven)},
			{Name: "gap_percent", Read: d.Into(&c.Gap)},
			{Name: "schedule", Read: func() (err error) {
				c.Schedule, err = schedule.DecodeFrom(d, p)
				return err
			}},
			{Name: "witness", Read: ReadWitness(d, &c.Witness)},
		}
	})
}

// ReadWitness returns what reads a witness that is a part of a larger text, as strictly as [Decode].
func ReadWitness(d *strictjson.Decoder, w *Witness) func() error {
	return func() error {
		return d.Object([]strictjson.Member{
			{Name: "kind", Read: d.Into(&w.Kind)},
			{Name: "bound_s", Read: d.Into(&w.Bound)},
			{Name: "threshold_s", Optional: true, Read: d.Into(&w.Threshold)},
			{Name: "weights", Optional: true, Read: list(d, &w.Weights)},
			{Name: "cells", Optional: true, Read: d.Into(&w.Cells)},
			{Name: "prices", Optional: true, Read: list(d, &w.Prices)},
		})
	}
}

// list makes a [strictjson.Member.Read] of a pointer to a list of numbers, none of which is null.
func list[T int | float64](d *strictjson.Decoder, to *[]T) func() error {
	return func() error {
		*to = []T{}
		return d.List(func() error {
			*to = append(*to, 0)
			return d.Into(&(*to)[len(*to)-1])()
		})
	}
}

// decode reads one JSON object and nothing after it.
func decode[T any](r io.Reader, members func(*strictjson.Decoder, *T) []strictjson.Member) (T, error) {
	var c, none T
	d := strictjson.NewDecoder(r)
	err := d.Object(members(d, &c))
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return none, err
	}
	return c, nil
}

// Verify checks every claim of a certificate; the error says which one is false. If it returns nil, then the schedule
// is valid, its makespan is Makespan, Proven and Gap follow from Lower and Makespan, and no schedule that the referee
// accepts has a makespan below Lower, up to 1e-9 of it.
func Verify(p schedule.Problem, c Certificate) error {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return err
	}
	if v := schedule.Check(p, c.Schedule); len(v) > 0 {
		return fmt.Errorf("schedule: %w", &schedule.InvalidError{Algorithm: c.Schedule.Algorithm, Violations: v})
	}
	if m := c.Schedule.Makespan(); Exceeds(m, c.Makespan) || Exceeds(c.Makespan, m) {
		return fmt.Errorf("makespan_s is %v, the makespan of the schedule %v", c.Makespan, m)
	}
	if c.Lower != c.Witness.Bound {
		return fmt.Errorf("lower_bound_s is %v, and the witness is for %v", c.Lower, c.Witness.Bound)
	}
	if !(c.Lower > 0) {
		return fmt.Errorf("lower_bound_s is %v; it is more than 0", c.Lower)
	}
	if err := CheckKnown(c.Lower, c.Makespan); err != nil {
		return fmt.Errorf("lower_bound_s: %w", err)
	}
	proven, gap := gapOf(c.Lower, c.Makespan)
	if c.Proven != proven {
		return fmt.Errorf("proven is %v; of %v and %v it is %v", c.Proven, c.Lower, c.Makespan, proven)
	}
	if !(math.Abs(c.Gap-gap) <= 1e-9) {
		return fmt.Errorf("gap_percent is %v; of %v and %v it is %v", c.Gap, c.Lower, c.Makespan, gap)
	}
	switch w := &c.Witness; {
	case w.Kind != SliceWeights && (w.Weights != nil || w.Threshold != 0):
		return fmt.Errorf("witness: %q has neither weights nor threshold_s", w.Kind)
	case w.Kind != TaskPrices && (w.Cells != 0 || w.Prices != nil):
		return fmt.Errorf("witness: %q has neither cells nor prices", w.Kind)
	}
	if err := VerifyWitness(p, c.Witness); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	return nil
}

// VerifyWitness checks that no schedule of a problem with valid tasks ends before the bound less its slack.
func VerifyWitness(p schedule.Problem, w Witness) error {
	if !(w.Bound > 0 && w.Bound < inf) {
		return fmt.Errorf("bound_s is %v; it is more than 0", w.Bound)
	}
	if p.Restart > 0 && w.Kind != Area {
		return fmt.Errorf("%q proves nothing about tasks that can be stopped; %q does", w.Kind, Area)
	}
	switch w.Kind {
	case Area:
		return w.verifyArea(&p)
	case SliceWeights:
		return w.verifyWeights(&p)
	case TaskPrices:
		return w.verifyPrices(&p)
	case Chains:
		return w.verifyChains(&p)
	case Search:
		return w.verifySearch(&p)
	}
	return nearest.Unknown("kind", w.Kind, []string{Area, SliceWeights, TaskPrices, Chains, Search})
}
