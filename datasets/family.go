package datasets

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A Family describes the datasets of one name, which differ in their parameters. A family registers
// itself from its own file:
//
//	var _ = datasets.Register(datasets.Family{Name: "mine", ...})
type Family struct {
	// Name is the spec without parameters. If it ends in a colon, the path of a file follows,
	// and New finds the path under the key [FileKey].
	Name string
	// Aliases are other names of the same datasets.
	Aliases []string
	// Doc describes the datasets in half a sentence.
	Doc string
	// Source is the paper and section, or the source of the data.
	Source string
	// Assumes names the unmeasured assumptions of the instances, for the notes of tables; "" if they
	// have no such assumptions.
	Assumes string
	// Params declares the parameters, in the order in which they are listed.
	Params []spec.Param
	// Tasks says that instances are [task.Batches]. [Register] then adds the parameter noise.
	Tasks bool
	// File names the kind of file, for example "tasks file"; "" for families without files.
	File string
	// Example is a small file for the tests; "" if another family's [task.Payload] writes the kind of file.
	Example string
	// New makes the dataset. id is the canonical spec, for messages. Datasets are compared with ==: those with equal
	// IDs must be equal.
	New func(id string, a spec.Args) (Dataset, error)
}

// A Dataset is the result of [Family.New].
type Dataset interface {
	// Instances returns the number of instances; 0 means that there is no limit.
	Instances() int
	// Instance returns the contents of an instance for a GPU. Indices count from 0, and a [Family]'s dataset is only
	// asked for an index that exists. Instance returns an [*UnmeasuredError] for a GPU without measurements. It
	// passes on the errors of opening a file and of reading its kind, for example of [task.ReadCSV].
	Instance(g *mig.GPU, index int) (task.Payload, error)
}

// FileKey is the key of the path in the parameters of a family of files.
const FileKey = "FILE"

var families []Family

// Register adds a family and returns it. It panics on a bad name, a name that is taken, a missing New, or a parameter
// without a name or with a name that is taken: these are mistakes in the program.
func Register(f Family) Family {
	if f.New == nil {
		panic(fmt.Sprintf("datasets: %q has no New", f.Name))
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if name == "" || strings.ContainsAny(name, "?&=, ") {
			panic(fmt.Sprintf("datasets: bad name %q", name))
		}
		g, _, _ := findFamily(name)
		if g != nil {
			panic(fmt.Sprintf("datasets: %q is a name of the family %s", name, g.Name))
		}
	}
	if f.Tasks {
		f.Params = append(slices.Clip(f.Params), noise)
	}
	seen := map[string]bool{"": true, FileKey: true}
	for _, p := range f.Params {
		if seen[p.Name] {
			panic(fmt.Sprintf("datasets: bad parameter %q of %s", p.Name, f.Name))
		}
		seen[p.Name] = true
	}
	families = append(families, f)
	return f
}

// Assumed returns the assumptions of a dataset: those of its parameters, or else those of its family. It returns "" for
// an unknown dataset.
func Assumed(text string) string {
	f, _, _ := findFamily(text)
	if f == nil {
		return ""
	}
	if s, err := Parse(text); err == nil {
		if a, ok := s.(named).Dataset.(interface{ assumes() string }); ok {
			return a.assumes()
		}
	}
	return f.Assumes
}

// registerAll registers a family for each value.
func registerAll[T any](all []T, family func(T) Family) []Family {
	var out []Family
	for _, v := range all {
		out = append(out, Register(family(v)))
	}
	return out
}

func (f *Family) hasName(name string) bool { return f.Name == name || slices.Contains(f.Aliases, name) }

// ofFiles reports whether a path follows the name.
func (f *Family) ofFiles() bool { return strings.HasSuffix(f.Name, ":") }

// findFamily returns the family of a spec, the canonical name, which includes the path of a file, and
// the parameters. The family is nil if no family has the name.
func findFamily(text string) (f *Family, name string, pairs []string) {
	for i := range families {
		f := &families[i]
		if !f.ofFiles() || !strings.HasPrefix(text, f.Name) {
			continue
		}
		at := f.parametersAt(text)
		if at >= 0 {
			return f, text[:at], strings.Split(text[at+1:], "&")
		}
		return f, text, nil
	}
	name, pairs = spec.Split(text)
	for i := range families {
		if families[i].hasName(name) {
			return &families[i], families[i].Name, pairs
		}
	}
	return nil, name, nil
}

// parametersAt returns the position of the parameters after a path; -1 if the text has no parameters.
// A path may hold any character, so that only the last "?name=" of a known parameter begins them.
func (f *Family) parametersAt(text string) int {
	at := -1
	for i := range f.Params {
		at = max(at, strings.LastIndex(text, "?"+f.Params[i].Name+"="))
	}
	return at
}

// open makes a dataset of the canonical name and the parameters.
func (f *Family) open(name string, pairs []string) (Spec, error) {
	a, err := spec.Read(f.Params, pairs)
	if err != nil {
		return nil, err
	}
	id := spec.ID(name, f.Params, a)
	if f.ofFiles() {
		path := strings.TrimPrefix(name, f.Name)
		if path == "" {
			prefix := strings.TrimSuffix(f.Name, ":")
			return nil, &spec.ParameterError{Name: prefix, Want: "the path of a " + f.File + ", as in " + f.Name +
				"FILE.csv"}
		}
		if id == name && f.parametersAt(name) >= 0 {
			// The end of the path looks like parameters. A parameter after it shows that it is the path.
			id += "?" + f.Params[0].Name + "=" + f.Params[0].Default
		}
		a[FileKey] = path
	}
	d, err := f.New(id, a)
	if err != nil {
		return nil, err
	}
	return named{d, id, newEstimates(name, f.Params, a)}, nil
}

type named struct {
	Dataset
	id        string
	estimates estimates
}

func (s named) ID() string { return s.id }

func (s named) Instance(g *mig.GPU, index int) (task.Payload, error) {
	n := s.Instances()
	if index < 0 || n > 0 && index >= n {
		return nil, &IndexError{Dataset: s.id, Index: index, Instances: n}
	}
	in, err := s.Dataset.Instance(g, index)
	if err != nil {
		return nil, err
	}
	return s.estimates.addTo(in, g, index)
}

// AddTo implements [Varied]. It adds nothing to the digest if the dataset is not varied.
func (s named) AddTo(d *task.Digest) {
	v, varied := s.Dataset.(Varied)
	if varied {
		v.AddTo(d)
	}
}

// RegimeOf returns the regime of a dataset; [task.Whole] for an unknown dataset.
func RegimeOf(text string) task.Regime {
	if s, err := Parse(text); err == nil {
		if r, ok := s.(named).Dataset.(interface{ regime() task.Regime }); ok {
			return r.regime()
		}
	}
	return task.Whole
}

// List returns the families by name, for listings. Their Name is an example of a spec: the name of a family of
// files ends in [FileKey], and an example of each required parameter follows, as in `?p=EXAMPLE`.
func List() []Family {
	out := slices.Clone(families)
	for i := range out {
		out[i].Name = families[i].displayName()
		for _, p := range out[i].Params {
			if p.Example != "" {
				out[i].Name += "?" + p.Name + "=" + p.Example
			}
		}
	}
	slices.SortFunc(out, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// displayName returns the name in listings and suggestions.
func (f *Family) displayName() string {
	if f.ofFiles() {
		return f.Name + FileKey
	}
	return f.Name
}

// acceptedNames returns every name that [Parse] accepts.
func acceptedNames() []string {
	var out []string
	for i := range families {
		out = append(append(out, families[i].displayName()), families[i].Aliases...)
	}
	return out
}
