package datasets

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// Spec is a dataset. Specs are comparable: == holds exactly where the IDs are
// the same.
type Spec interface {
	// ID returns the canonical spec: the full name, and the parameters that differ
	// from their defaults, sorted. [Parse] gives the same dataset back.
	ID() string
	// Instances returns how many instances there are; 0 means as many as wanted.
	Instances() int
	// Instance returns the tasks of an instance for a GPU. Indices count from 0; one
	// that does not exist is an [*IndexError]. A GPU on which nothing was measured is
	// an [*UnmeasuredError]. Errors about a tasks file are those of [task.ReadCSV] and
	// of opening the file.
	Instance(g *mig.GPU, index int) (task.Payload, error)
}

// A Varied dataset has instances with contents of which its first instance shows only a part.
type Varied interface {
	// AddTo adds the contents that any instance may have to a digest.
	AddTo(d *task.Digest)
}

// KindError says that a dataset does not hold what is needed.
type KindError struct {
	Dataset string
	// Has and Needs are kinds of payloads ([task.Payload.Kind]).
	Has, Needs string
}

func (e *KindError) Error() string {
	return fmt.Sprintf("dataset %q has %s; %s are needed here", e.Dataset, e.Has, e.Needs)
}

// InstanceOf returns an instance whose payload is of a type. A dataset of another kind is a
// [*KindError]; other errors are those of [Spec.Instance].
func InstanceOf[T task.Payload](s Spec, g *mig.GPU, index int) (T, error) {
	var none T
	in, err := s.Instance(g, index)
	if err != nil {
		return none, err
	}
	out, ok := in.(T)
	if !ok {
		return none, &KindError{s.ID(), in.Kind(), none.Kind()}
	}
	return out, nil
}

// SpecError says what is wrong with a dataset spec.
type SpecError struct {
	// Spec is what was given.
	Spec string
	// Err is a [*ParameterError] or a [*nearest.UnknownError].
	Err error
}

func (e *SpecError) Error() string { return fmt.Sprintf("dataset %q: %v", e.Spec, e.Err) }

// Unwrap returns what is wrong.
func (e *SpecError) Unwrap() error { return e.Err }

// IndexError says that a dataset has no instance of an index.
type IndexError struct {
	// Dataset is the canonical spec.
	Dataset string
	// Index is what was asked for.
	Index int
	// Instances is how many there are; 0 means as many as wanted.
	Instances int
}

func (e *IndexError) Error() string {
	if e.Instances == 0 {
		return fmt.Sprintf("dataset %q has no instance %d; they count from 0", e.Dataset, e.Index)
	}
	return fmt.Sprintf("dataset %q has no instance %d; it has %d, counted from 0", e.Dataset, e.Index, e.Instances)
}

// checkIndex returns an [*IndexError] where the dataset has no such instance.
func checkIndex(s Spec, index int) error {
	if n := s.Instances(); index < 0 || n > 0 && index >= n {
		return &IndexError{Dataset: s.ID(), Index: index, Instances: n}
	}
	return nil
}

// profilePrefix marks the spec of a tasks file.
const profilePrefix = "profile:"

// Parse reads a dataset spec: a name and, after a question mark, parameters
// name=value joined by &. What follows "profile:" is the path of a file as it
// stands, whatever characters it holds; the file is not opened yet.
//
// A bare DRL workload means drl/, and MIXSCALINGUNIFORM in a FAR workload is
// another name of MIXEDSCALING. An unknown name is a [*nearest.UnknownError],
// anything else that is wrong a [*SpecError].
func Parse(spec string) (Spec, error) {
	if path, ok := strings.CutPrefix(spec, profilePrefix); ok {
		if path == "" {
			return nil, &SpecError{spec, &ParameterError{Name: "profile", Want: "the path of a tasks file, as in profile:tasks.csv"}}
		}
		return profile{path}, nil
	}
	for _, parse := range []func(string) (Spec, bool, error){parseRequests, parseJobs, parseWindows} {
		if s, known, err := parse(spec); known {
			if err != nil {
				return nil, &SpecError{spec, err}
			}
			return s, nil
		}
	}
	name, query, hasQuery := strings.Cut(spec, "?")
	var pairs []string
	if hasQuery {
		pairs = strings.Split(query, "&")
	}
	var s Spec
	var err error
	if w := workloadNamed(name); w != nil {
		s, err = parseSynthetic(w, pairs)
	} else if k := kernelsNamed(name); k != nil {
		s, err = parseMeasured(k, pairs)
	} else if name == subsetsName {
		s, err = parseSubsets(pairs)
	} else if e, ok := exampleNamed(name); ok {
		s, err = parseExample(e, pairs)
	} else {
		return nil, nearest.Unknown("dataset", name, names())
	}
	if err != nil {
		return nil, &SpecError{spec, err}
	}
	return s, nil
}

// MustParse is [Parse] for specs fixed in the program; it panics on an error.
func MustParse(spec string) Spec {
	s, err := Parse(spec)
	if err != nil {
		panic(err)
	}
	return s
}

// names returns every name that [Parse] accepts, in no particular order.
func names() []string {
	all := []string{profilePrefix + "FILE"}
	for _, w := range workloads {
		all = append(append(all, w.name), w.aliases...)
	}
	all = append(all, subsetsName)
	for _, k := range kernelSets() {
		all = append(all, k.name)
	}
	for _, e := range examples {
		all = append(all, e.name)
	}
	return slices.Concat(all, requestNames(), jobNames(), windowNames())
}

// Info describes a dataset to those who choose one.
type Info struct {
	// Name is the spec without parameters.
	Name string
	// Summary is half a sentence, with the parameters that may be given.
	Summary string
	// Source is the paper and section, or where the times come from.
	Source string
}

// List returns the datasets in the order in which they are shown.
func List() []Info {
	var out []Info
	for _, w := range workloads {
		out = append(out, w.info())
	}
	out = append(out, subsetsInfo())
	for _, k := range kernelSets() {
		out = append(out, k.info())
	}
	for _, e := range examples {
		out = append(out, e.info())
	}
	out = append(out, Info{
		Name:    profilePrefix + "FILE",
		Summary: "the tasks of a CSV file with the header task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4)",
		Source:  "the file",
	})
	return slices.Concat(out, requestInfos(), jobInfos(), windowInfos())
}

// canonical joins a name and parameters, given as name=value.
func canonical(name string, parameters []string) string {
	if len(parameters) == 0 {
		return name
	}
	slices.Sort(parameters)
	return name + "?" + strings.Join(parameters, "&")
}
