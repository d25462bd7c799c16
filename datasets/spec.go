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

// A Spec is a dataset with its name. Specs are comparable, because every Dataset is: two are equal under == if and only
// if their IDs are equal.
type Spec interface {
	// ID returns the canonical spec: the full name, and the parameters that differ
	// from their defaults, sorted. [Parse] gives the same dataset back.
	ID() string
	// Dataset has the instances. Its Instance returns an [*IndexError] for an index that does not exist.
	Dataset
}

// A Varied dataset has contents that its first instance does not show, so that a digest of that instance is not enough
// to notice a change.
type Varied interface {
	// AddTo adds the contents that any instance may have to a digest.
	AddTo(d *task.Digest)
}

// InstanceOf returns an instance with its payload as the type T. It returns an error for a dataset
// of another kind, and passes on the errors of [Spec.Instance].
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

// IndexError says that a dataset has no instance with an index.
type IndexError struct {
	Dataset   string // the canonical spec
	Index     int    // the requested index
	Instances int    // 0 means that there is no limit
}

func (e *IndexError) Error() string {
	if e.Instances == 0 {
		return fmt.Sprintf("dataset %q has no instance %d; they count from 0", e.Dataset, e.Index)
	}
	return fmt.Sprintf("dataset %q has no instance %d; it has %d, counted from 0", e.Dataset, e.Index, e.Instances)
}

// UnmeasuredError says that a dataset has no times for a GPU.
type UnmeasuredError struct {
	Dataset, GPU string   // Dataset names the dataset, and GPU the model
	Measured     []string // the GPU boards with times
}

func (e *UnmeasuredError) Error() string {
	return fmt.Sprintf("dataset %q has no times for %s; it was measured on %s", e.Dataset, e.GPU,
		strings.Join(e.Measured, ", "))
}

// checkA100 returns an [*UnmeasuredError] unless the GPU is an A100.
func checkA100(dataset string, g *mig.GPU) error {
	boards := []string{"A100", "A100-80GB"}
	if !slices.Contains(boards, g.Board()) {
		return &UnmeasuredError{Dataset: dataset, GPU: g.Name, Measured: boards}
	}
	return nil
}

// Parse reads a dataset spec: a name and, after a question mark, parameters name=value joined by &. If the name ends in
// a colon, the path of a file follows, which may hold any character, and then the parameters. Parse does not open the
// file.
//
// The error for an unknown name is or wraps a [*nearest.UnknownError]. Any other error names the spec and wraps a
// [*spec.ParameterError] or a [*nearest.UnknownError].
func Parse(text string) (Spec, error) {
	f, name, pairs := findFamily(text)
	if f == nil {
		err := nearest.Unknown("dataset", name, acceptedNames())
		if strings.HasSuffix(name, ".csv") {
			err = fmt.Errorf("%w; a file of tasks is profile:%s", err, name)
		}
		return nil, err
	}
	s, err := f.open(name, pairs)
	if err != nil {
		return nil, fmt.Errorf("dataset %q: %w", text, err)
	}
	return s, nil
}

// MustParse is [Parse] for specs fixed in the program; it panics on an error.
func MustParse(text string) Spec { return spec.Must(Parse(text)) }
