package datasets

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
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

// InstanceOf returns an instance whose payload is of a type. A dataset of another kind is an
// error; other errors are those of [Spec.Instance].
func InstanceOf[T task.Payload](s Spec, g *mig.GPU, index int) (T, error) {
	var none T
	in, err := s.Instance(g, index)
	if err != nil {
		return none, err
	}
	out, ok := in.(T)
	if !ok {
		return none, fmt.Errorf("dataset %q has %s; %s are needed here", s.ID(), in.Kind(), none.Kind())
	}
	return out, nil
}

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
	return fmt.Sprintf("dataset %q has no times for %s; it was measured on %s", e.Dataset, e.GPU,
		strings.Join(e.Measured, ", "))
}

// onA100 returns an [*UnmeasuredError] unless the GPU is an A100 model.
func onA100(dataset string, g *mig.GPU) error {
	if on := []string{"A100", "A100-80GB"}; !slices.Contains(on, g.Board()) {
		return &UnmeasuredError{dataset, g.Name, on}
	}
	return nil
}

// Parse reads a dataset spec: a name and, after a question mark, parameters
// name=value joined by &. What follows a name that ends in a colon is the path of a file,
// whatever characters it holds, and at its very end parameters. The file is not opened yet.
//
// An unknown name is a [*nearest.UnknownError]. Anything else that is wrong names the spec and
// wraps a [*spec.ParameterError] or a [*nearest.UnknownError].
func Parse(text string) (Spec, error) {
	f, name, pairs := familyOf(text)
	if f == nil {
		return nil, nearest.Unknown("dataset", name, acceptedNames())
	}
	s, err := f.open(name, pairs)
	if err != nil {
		return nil, fmt.Errorf("dataset %q: %w", text, err)
	}
	return s, nil
}

// MustParse is [Parse] for specs fixed in the program; it panics on an error.
func MustParse(text string) Spec { return spec.Must(Parse(text)) }
