package certificate

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/strictjson"
)

// A Certificate claims that the optimum of a problem lies between a bound and the makespan of a schedule.
type Certificate struct {
	// Lower is the bound, and Makespan the makespan of Schedule.
	Lower, Makespan mig.Seconds
	// Proven means that Lower and Makespan are equal, up to 1e-9 of the makespan.
	Proven bool
	// Gap is the most by which a schedule can be shorter, in percent of the makespan; 0 if Proven.
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
	// TaskPrices is such a solution that also knows which tasks fit one instance together.
	TaskPrices = "task-prices"
	// Chains adds up the work that each slice does one after the other, for every assignment of the tasks.
	Chains = "chains"
	// ChainOrders is the same for one GPU, and also knows which of the instances on a slice can come last.
	ChainOrders = "chain-orders"
	// Search is an exhaustive search.
	Search = "search"
)

// A Witness proves that no schedule is faster than a bound.
type Witness struct {
	// Kind is one of the constants above.
	Kind string `json:"kind"`
	// Bound is the lower bound on the makespan that the witness proves.
	Bound mig.Seconds `json:"bound_s"`
	// Threshold belongs to [SliceWeights]. Options that cannot end before it are left out; 0 keeps all options.
	Threshold mig.Seconds `json:"threshold_s,omitempty"`
	// Weights belongs to [SliceWeights]: one weight for each compute slice, by position.
	Weights []float64 `json:"weights,omitempty"`
	// Cells and Prices belong to [TaskPrices]: the number of cells of the bound, and the price of each task.
	Cells  int       `json:"cells,omitempty"`
	Prices []float64 `json:"prices,omitempty"`
}

// New returns the certificate of a schedule and a bound.
func New(s schedule.Schedule, w Witness) Certificate {
	c := Certificate{Lower: w.Bound, Makespan: s.Makespan(), Schedule: s, Witness: w}
	c.Proven, c.Gap = measureGap(c.Lower, c.Makespan)
	return c
}

// measureGap returns the fields Proven and Gap of a certificate.
func measureGap(lower, makespan mig.Seconds) (proven bool, gap float64) {
	if !Exceeds(makespan, lower) {
		return true, 0
	}
	return false, 100 * float64(makespan-lower) / float64(makespan)
}

// A fileCertificate has the fields of a certificate file.
type fileCertificate struct {
	Lower    mig.Seconds    `json:"lower_bound_s"`
	Makespan mig.Seconds    `json:"makespan_s"`
	Proven   bool           `json:"proven"`
	Gap      float64        `json:"gap_percent"`
	Schedule *schedule.File `json:"schedule"`
	Witness  Witness        `json:"witness"`
}

// Encode writes a certificate as indented JSON. It returns any error of [schedule.Encode] and of w.
func Encode(w io.Writer, p schedule.Problem, c Certificate) error {
	s, err := schedule.NewFile(p, c.Schedule)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(fileCertificate{
		Lower: c.Lower, Makespan: c.Makespan, Proven: c.Proven, Gap: c.Gap, Schedule: s, Witness: c.Witness,
	})
}

// Decode reads the format of [Encode], as a certificate for the problem. It is strict: a field that is unknown,
// missing, duplicate or of the wrong type, a schedule that [schedule.Decode] refuses, and text after the end are a
// [*schedule.FormatError]. It also returns any error of r. It does not check the claim; see [Verify].
func Decode(r io.Reader, p schedule.Problem) (Certificate, error) {
	f := fileCertificate{Schedule: new(schedule.File)}
	text, err := strictjson.Read(r, "certificate", &f)
	if err != nil {
		return Certificate{}, err
	}
	s, err := f.Schedule.Schedule(p)
	if err != nil {
		return Certificate{}, strictjson.Locate(text, "/schedule", err)
	}
	return Certificate{
		Lower: f.Lower, Makespan: f.Makespan, Proven: f.Proven, Gap: f.Gap, Schedule: s, Witness: f.Witness,
	}, nil
}

// gapTolerance is the difference, in percent, up to which the gap of a file may deviate from the computed gap. It
// covers the rounding of the division that gives the gap.
const gapTolerance = 1e-9

// Verify checks every claim of a certificate; the error names a false claim. If it returns nil, the schedule is valid
// with this makespan, Proven and Gap follow from Lower and Makespan, and no schedule ends before Lower less its slack.
func Verify(p schedule.Problem, c Certificate) error {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return err
	}
	if v := schedule.Check(p, c.Schedule); len(v) > 0 {
		return fmt.Errorf("schedule: %w", &schedule.InvalidError{Algorithm: c.Schedule.Algorithm, Violations: v})
	}
	m := c.Schedule.Makespan()
	if Exceeds(m, c.Makespan) || Exceeds(c.Makespan, m) {
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
	proven, gap := measureGap(c.Lower, c.Makespan)
	if c.Proven != proven {
		return fmt.Errorf("proven is %v; of %v and %v it is %v", c.Proven, c.Lower, c.Makespan, proven)
	}
	if !(math.Abs(c.Gap-gap) <= gapTolerance) {
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
	if w.Kind != Area && (p.Restart > 0 || len(p.Start) > 0) {
		return fmt.Errorf("%q proves nothing about tasks that can be stopped, or for GPUs with instances at the "+
			"start; %q does", w.Kind, Area)
	}
	switch w.Kind {
	case Area:
		return w.verifyArea(&p)
	case SliceWeights:
		return w.verifyWeights(&p)
	case TaskPrices:
		return w.verifyPrices(&p)
	case Chains, ChainOrders:
		return w.verifyChains(&p)
	case Search:
		return w.verifySearch(&p)
	}
	return nearest.Unknown("kind", w.Kind, []string{Area, SliceWeights, TaskPrices, Chains, ChainOrders, Search})
}
