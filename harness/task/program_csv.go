package task

import (
	"errors"
	"fmt"
	"io"
	"math"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// programColumns are the columns of a file of programs.
var programColumns = []string{"name", "class", "solo_s", "serial", "compute", "memory", "parallelism"}

// The ranges of the numbers in a file of programs.
var (
	soloTimes = strictcsv.Range{
		Least: above0, Most: MaxSeconds,
		What: fmt.Sprintf("a solo time; write seconds, more than 0 and at most %g", MaxSeconds),
	}
	parts = strictcsv.Range{
		Least: 0, Most: MaxSeconds, What: fmt.Sprintf("a part of a program; write a number from 0 to %g", MaxSeconds),
	}
	shares = strictcsv.Range{Least: above0, Most: 1, What: "a share; write a number over 0 and up to 1"}
)

// ReadPrograms reads programs of the co-run track: one line for each job, with the columns name, class (CI, MI or
// US), solo_s (seconds alone on a whole GPU), serial, compute and memory (the parts of [Program], in any unit), and
// parallelism (over 0 and up to 1), in any order. The parts are scaled so that together they take the solo time. A
// program may be listed several times. Spaces, line ends, quotes and errors are treated as by [ReadCSV].
func ReadPrograms(r io.Reader, file string) ([]Program, error) {
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns: programColumns,
		Header:  "the header of a file of programs",
		Empty:   "there are no programs; write one line a job below the header",
	})
	if err != nil {
		return nil, err
	}
	out := make([]Program, in.Len())
	for i := range out {
		p := &out[i]
		*p = Program{
			Name: in.Text(i, "name"), Solo: mig.Seconds(in.Number(i, "solo_s", soloTimes)),
			Serial: in.Number(i, "serial", parts), Compute: in.Number(i, "compute", parts),
			Memory: in.Number(i, "memory", parts), Parallelism: in.Number(i, "parallelism", shares),
		}
		problem := nameProblem(p.Name)
		if problem != "" {
			return nil, in.Fail(i, "name", fmt.Errorf("the name %s; write one that identifies the program", problem))
		}
		p.Class, err = nearest.Find("class", in.Text(i, "class"), Classes(), func(c Class) string { return string(c) })
		if err != nil {
			return nil, in.Fail(i, "class", err)
		}
		if in.Err != nil {
			return nil, in.Err
		}
		whole := p.Relative(1, 1)
		if !(whole >= leastWhole && whole <= mostWhole) {
			return nil, in.Fail(i, "", fmt.Errorf("serial, compute and memory take %v on the whole GPU; "+
				"write parts with which it is from %g to %g, in any unit", whole, leastWhole, mostWhole))
		}
		p.scale()
		if err := p.Validate(); err != nil {
			return nil, in.Fail(i, "", err)
		}
	}
	return out, nil
}

// The bounds of the time of all parts before they are scaled.
const (
	leastWhole = 1e-9
	mostWhole  = 1e18
)

// scale scales the parts so that they take the solo time on a whole GPU. It keeps parts that already do.
func (p *Program) scale() {
	whole := p.Relative(1, 1)
	if math.Abs(whole-1) <= wholeTolerance {
		return
	}
	p.Serial /= whole
	p.Compute /= whole
	p.Memory /= whole
}

// WritePrograms writes a file for [ReadPrograms]. It returns an error for an empty list and for an invalid program.
// It passes on the errors of w.
func WritePrograms(w io.Writer, programs []Program) error {
	if len(programs) == 0 {
		return errors.New("there is no program to write")
	}
	for i := range programs {
		p := &programs[i]
		if err := p.Validate(); err != nil {
			return fmt.Errorf("job %d, %w", i, err)
		}
		problem := nameProblem(p.Name)
		if problem != "" {
			return fmt.Errorf("job %d has a name that %s", i, problem)
		}
	}
	return strictcsv.Write(w, programColumns, len(programs), func(i int) []string {
		p := &programs[i]
		return []string{
			p.Name, string(p.Class), shortest(p.Solo), shortest(p.Serial), shortest(p.Compute), shortest(p.Memory),
			shortest(p.Parallelism),
		}
	})
}
