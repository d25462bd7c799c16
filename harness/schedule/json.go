package schedule

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"miglab/harness/mig"
	"miglab/harness/strictjson"
)

// FormatError says where and how a schedule or its file departs from the format. Its line is 0 when a schedule is
// written.
type FormatError = strictjson.Error

// A File has the members of a schedule in the format of [Encode].
type (
	File struct {
		GPU              string          `json:"gpu"`
		Algorithm        string          `json:"algorithm"`
		Reconfiguration  string          `json:"reconfiguration"`
		Makespan         mig.Seconds     `json:"makespan_s"`
		Placements       []filePlacement `json:"placements"`
		Reconfigurations []fileOperation `json:"reconfigurations"`
		Counters         map[string]int  `json:"counters,omitempty"`
	}
	filePlacement struct {
		Task string `json:"task"`
		fileSpan
	}
	fileOperation struct {
		Op string `json:"op"`
		fileSpan
	}
	fileSpan struct {
		GPU   int         `json:"gpu"`
		Size  mig.Slices  `json:"size"`
		Slice mig.Slices  `json:"slice"`
		Start mig.Seconds `json:"start_s"`
		End   mig.Seconds `json:"end_s"`
	}
)

// Encode writes a schedule as indented JSON. The bytes do not depend on the order of its lists, and times read back
// as the same numbers. Placements are sorted by start, GPU, slice and task, operations by start with destroys first.
// Encode does not call [Check]: an invalid schedule can be written and checked later.
//
// A value that the format cannot hold is a [*FormatError], for example a placed task that shares its name with another
// task, an instance of a profile that is not standard, or a time that is not finite. Encode passes on the errors of w.
func Encode(w io.Writer, p Problem, s Schedule) error {
	f, err := NewFile(p, s)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(f)
}

// notWritable returns the error about a value that the format cannot hold.
func notWritable(path, format string, args ...any) error {
	return &FormatError{Path: path, Err: fmt.Errorf(format, args...)}
}

// NewFile returns the file of a schedule. It returns the errors of [Encode], except errors of w.
func NewFile(p Problem, s Schedule) (*File, error) {
	if s.GPU == nil {
		return nil, notWritable("gpu", "the schedule has no GPU model")
	}
	if s.Model > mig.Free {
		return nil, notWritable("reconfiguration", "model %d is not known", uint8(s.Model))
	}
	if !utf8.ValidString(s.Algorithm) {
		return nil, notWritable("algorithm", "%q is not UTF-8", s.Algorithm)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		if !utf8.ValidString(name) {
			return nil, notWritable("counters", "%q is not UTF-8", name)
		}
	}
	f := &File{
		GPU: s.GPU.Name, Algorithm: s.Algorithm, Reconfiguration: s.Model.String(), Makespan: s.Makespan(),
		Placements: []filePlacement{}, Reconfigurations: []fileOperation{}, Counters: s.Counters,
	}
	if err := f.addPlacements(&p, &s); err != nil {
		return nil, err
	}
	return f, f.addOperations(&s)
}

func (f *File) addPlacements(p *Problem, s *Schedule) error {
	named := map[string]int{} // the number of tasks by name
	for i := range p.Tasks {
		named[p.Tasks[i].Name]++
	}
	for i, pl := range s.sortedPlacements() {
		path := fmt.Sprintf("placements[%d]", i)
		if pl.Task < 0 || pl.Task >= len(p.Tasks) {
			return notWritable(path+".task", "there is no task %d; the problem has %d", pl.Task, len(p.Tasks))
		}
		name := p.Tasks[pl.Task].Name
		if named[name] > 1 {
			return notWritable(path+".task", "%q names more than one task; names must differ", name)
		}
		if !utf8.ValidString(name) {
			return notWritable(path+".task", "%q is not UTF-8", name)
		}
		span, err := toSpan(path, s.GPU, pl.GPU, pl.Instance, pl.Start, pl.End)
		if err != nil {
			return err
		}
		f.Placements = append(f.Placements, filePlacement{name, span})
	}
	return nil
}

func (f *File) addOperations(s *Schedule) error {
	for i, o := range s.sortedOperations() {
		path := fmt.Sprintf("reconfigurations[%d]", i)
		if o.Op > Destroy {
			return notWritable(path+".op", "kind %d is neither create nor destroy", uint8(o.Op))
		}
		span, err := toSpan(path, s.GPU, o.GPU, o.Instance, o.Start, o.End)
		if err != nil {
			return err
		}
		f.Reconfigurations = append(f.Reconfigurations, fileOperation{o.Op.String(), span})
	}
	return nil
}

// toSpan returns the fields that placements and operations share. path names the entry in errors.
func toSpan(path string, g *mig.GPU, gpu int, in mig.Instance, start, end mig.Seconds) (fileSpan, error) {
	if in.Profile == nil {
		return fileSpan{}, notWritable(path+".size", "the instance has no profile")
	}
	standard, err := g.Instance(in.Size(), in.Start)
	switch {
	case err != nil:
		return fileSpan{}, notWritable(path+".slice", "%w", err)
	case standard != in:
		return fileSpan{}, notWritable(path+".size", "%v is not the standard profile of its size on %v", in.Profile, g)
	case !finite(start):
		return fileSpan{}, notWritable(path+".start_s", "%v is not a finite number", start)
	case !finite(end):
		return fileSpan{}, notWritable(path+".end_s", "%v is not a finite number", end)
	}
	return fileSpan{GPU: gpu, Size: in.Size(), Slice: in.Start, Start: start, End: end}, nil
}
