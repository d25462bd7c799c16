package task

import (
	"fmt"
	"io"
	"math"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// A programRow is one line of a file of programs.
type programRow struct {
	Name        string   `csv:"name"`
	Class       class    `csv:"class"`
	Solo        soloTime `csv:"solo_s"`
	Serial      part     `csv:"serial"`
	Compute     part     `csv:"compute"`
	Memory      part     `csv:"memory"`
	Parallelism part     `csv:"parallelism"`
}

// ReadPrograms reads programs of the co-run track: one line a job, with the columns name,
// class (CI, MI or US), solo_s (seconds alone on a whole GPU), serial, compute and memory
// (the parts of [Program], in any unit), and parallelism (over 0 and up to 1), in any order.
// The parts are scaled so that together they take the solo time. A program may be there
// several times. Spaces, line ends and quotes are treated as by [ReadCSV].
//
// The file's name is only used in errors. What is wrong with the text is a [*ParseError];
// other errors are those of r.
func ReadPrograms(r io.Reader, file string) ([]Program, error) {
	t, err := strictcsv.Read[programRow](r, file, strictcsv.Format{
		Columns: strictcsv.Columns[programRow](),
		Header:  "the header of a file of programs",
		Empty:   "there are no programs; write one line a job below the header",
	})
	if err != nil {
		return nil, err
	}
	out := make([]Program, len(t.Rows))
	for i, row := range t.Rows {
		p := &out[i]
		*p = Program{
			Name: row.Name, Class: Class(row.Class), Solo: mig.Seconds(row.Solo), Parallelism: float64(row.Parallelism),
			Serial: float64(row.Serial), Compute: float64(row.Compute), Memory: float64(row.Memory),
		}
		if problem := nameProblem(p.Name); problem != "" {
			return nil, t.Fail(i, "name", fmt.Errorf("the name %s; write one that identifies the program", problem))
		}
		if p.Parallelism == 0 || p.Parallelism > 1 {
			return nil, t.Fail(i, "parallelism",
				fmt.Errorf("%v is not a share; write a number over 0 and up to 1", p.Parallelism))
		}
		if whole := p.Relative(1, 1); !(whole >= leastWhole && whole <= mostWhole) {
			return nil, t.Fail(i, "", fmt.Errorf("serial, compute and memory take %v on the whole GPU; "+
				"write parts with which it is from %g to %g, in any unit", whole, leastWhole, mostWhole))
		}
		p.scale()
		if err := p.Validate(); err != nil {
			return nil, t.Fail(i, "", err)
		}
	}
	return out, nil
}

// The bounds of what the parts take together before they are scaled.
const (
	leastWhole = 1e-9
	mostWhole  = 1e18
)

// scale makes the parts take the solo time on a whole GPU, if they do not yet.
func (p *Program) scale() {
	if whole := p.Relative(1, 1); !(math.Abs(whole-1) <= normal) {
		p.Serial /= whole
		p.Compute /= whole
		p.Memory /= whole
	}
}

// WritePrograms writes what [ReadPrograms] reads. A program that is not valid is an error.
// Other errors are those of w.
func WritePrograms(w io.Writer, programs []Program) error {
	rows := make([]programRow, len(programs))
	for i := range programs {
		p := &programs[i]
		if err := p.Validate(); err != nil {
			return fmt.Errorf("job %d, %w", i, err)
		}
		if problem := nameProblem(p.Name); problem != "" {
			return fmt.Errorf("job %d has a name that %s", i, problem)
		}
		rows[i] = programRow{
			p.Name, class(p.Class), soloTime(p.Solo), part(p.Serial), part(p.Compute), part(p.Memory),
			part(p.Parallelism),
		}
	}
	return gocsv.Marshal(rows, w)
}

// A class is a Class as files write it.
type class Class

func (c *class) UnmarshalCSV(s string) error {
	known, err := nearest.Find("class", s, Classes(), func(c Class) string { return string(c) })
	*c = class(known)
	return err
}

// A soloTime is the time alone on a whole GPU, and a part one of a program, as files write them.
type (
	soloTime  = decimal[soloTimes]
	part      = decimal[parts]
	soloTimes struct{}
	parts     struct{}
)

func (soloTimes) limits() (least, most float64, what string) {
	return above0, MaxSeconds, fmt.Sprintf("a solo time; write seconds, more than 0 and at most %g", MaxSeconds)
}

func (parts) limits() (least, most float64, what string) {
	return 0, MaxSeconds, fmt.Sprintf("a part of a program; write a number from 0 to %g", MaxSeconds)
}
