package datasets

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// Spec is a dataset with its name. Specs are comparable: == holds exactly if the IDs are
// the same.
type Spec interface {
	// ID returns the canonical spec: the full name, and the parameters that differ
	// from their defaults, sorted. [Parse] gives the same dataset back.
	ID() string
	// An index that does not exist is an [*IndexError].
	Dataset
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
	// Err wraps a [*spec.ParameterError] or a [*nearest.UnknownError].
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

// UnmeasuredError says that a dataset has no times for a GPU.
type UnmeasuredError struct {
	// Dataset is its name.
	Dataset string
	GPU     string
	// Measured lists the models that there are times for.
	Measured []string
}

func (e *UnmeasuredError) Error() string {
	return fmt.Sprintf("dataset %q has no times for %s; it was measured on %s", e.Dataset, e.GPU, strings.Join(e.Measured, ", "))
}

// onA100 returns an [*UnmeasuredError] unless the GPU is an A100 model.
func onA100(dataset string, g *mig.GPU) error {
	if on := []string{"A100", "A100-80GB"}; !slices.Contains(on, g.Name) {
		return &UnmeasuredError{dataset, g.Name, on}
	}
	return nil
}

// Parse reads a dataset spec: a name and, after a question mark, parameters
// name=value joined by &. What follows a name that ends in a colon is the path of a file,
// whatever characters it holds, and at its very end parameters. The file is not opened yet.
//
// An unknown name is a [*nearest.UnknownError]. Anything else that is wrong is a [*SpecError].
func Parse(text string) (Spec, error) {
	f, name, pairs := find(text)
	if f == nil {
		return nil, nearest.Unknown("dataset", name, names())
	}
	s, err := f.open(name, pairs)
	if err != nil {
		return nil, &SpecError{text, err}
	}
	return s, nil
}

// MustParse is [Parse] for specs fixed in the program; it panics on an error.
func MustParse(text string) Spec {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}
