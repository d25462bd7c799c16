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
	Name    string
	Aliases []string // other names of the same datasets
	Doc     string   // describes the datasets in half a sentence
	Source  string   // the paper and section, or the source of the data
	// Assumes names the assumptions of the instances that are not measured, for the notes of tables; "" for none.
	Assumes string
	Params  []spec.Param // declares the parameters, in the order in which they are listed
	File    string       // names the kind of file, for example "tasks file"; "" for families without files
	// Example is a small file for the tests. It may be "" if instances of another family can be written as such a file.
	Example string
	// New makes the dataset. id is the canonical spec, for messages. Datasets with equal IDs must be equal under ==.
	New func(id string, a spec.Args) (Dataset, error)
}

// A Dataset has the instances of a family for some values of its parameters.
type Dataset interface {
	// Instances returns the number of instances; 0 means that there is no limit.
	Instances() int
	// Instance returns the contents of an instance for a GPU. Indices count from 0. The caller passes only indices that
	// exist. Instance returns an [*UnmeasuredError] for a GPU without measurements. It passes on the errors of opening
	// a file and of reading its kind, for example of [task.ReadCSV].
	Instance(g *mig.GPU, index int) (task.Payload, error)
}

// FileKey is the key of the path in the parameters of a family of files.
const FileKey = "FILE"

var families []Family

// Register adds a family and returns it. It panics on mistakes in the program: a bad name, a name that is taken, a
// missing New, or a parameter without a name or with a name that is taken.
func Register(f Family) Family {
	if f.New == nil {
		panic(fmt.Sprintf("datasets: %q has no New", f.Name))
	}
	for _, name := range append([]string{f.Name}, f.Aliases...) {
		if name == "" || strings.ContainsAny(name, "?&=, ") {
			panic(fmt.Sprintf("datasets: bad name %q", name))
		}
		other, _, _ := findFamily(name)
		if other != nil {
			panic(fmt.Sprintf("datasets: %q is a name of the family %s", name, other.Name))
		}
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

// Assumed returns the assumptions of a dataset, or else the assumptions of its family. It returns "" for an unknown
// dataset.
func Assumed(text string) string {
	a, ok := lookup(text).(interface{ assumes() string })
	if ok {
		return a.assumes()
	}
	f, _, _ := findFamily(text)
	if f == nil {
		return ""
	}
	return f.Assumes
}

// RegimeOf returns the regime of a dataset; [task.Whole] for an unknown dataset.
func RegimeOf(text string) task.Regime {
	r, ok := lookup(text).(interface{ regime() task.Regime })
	if ok {
		return r.regime()
	}
	return task.Whole
}

// lookup returns the dataset of a spec; nil for an unknown dataset.
func lookup(text string) Dataset {
	s, err := Parse(text)
	if err != nil {
		return nil
	}
	return s.(named).Dataset
}

// registerAll registers a family for each value.
func registerAll[T any](all []T, family func(T) Family) []Family {
	var out []Family
	for _, v := range all {
		out = append(out, Register(family(v)))
	}
	return out
}

// ofFiles reports whether a path follows the name.
func (f *Family) ofFiles() bool { return strings.HasSuffix(f.Name, ":") }

// findFamily divides a spec. It returns the family, which is nil if none has the name; the canonical name, which
// includes the path of a file; and the parameters.
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
		f := &families[i]
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return f, f.Name, pairs
		}
	}
	return nil, name, nil
}

// parametersAt returns the position of the question mark between a path and the parameters; -1 without parameters. A
// path may hold any character, so that only the last "?name=" of a known parameter counts.
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
			// The end of the path looks like parameters. Parse reads it as a part of the path if parameters follow.
			id += "?" + f.Params[0].Name + "=" + f.Params[0].Default
		}
		a[FileKey] = path
	}
	d, err := f.New(id, a)
	if err != nil {
		return nil, err
	}
	return named{Dataset: d, id: id}, nil
}

// named implements [Spec].
type named struct {
	Dataset
	id string
}

func (s named) ID() string { return s.id }

func (s named) Instance(g *mig.GPU, index int) (task.Payload, error) {
	n := s.Instances()
	if index < 0 || n > 0 && index >= n {
		return nil, &IndexError{Dataset: s.id, Index: index, Instances: n}
	}
	return s.Dataset.Instance(g, index)
}

// AddTo implements [Varied]. It adds nothing to the digest if the dataset is not varied.
func (s named) AddTo(d *task.Digest) {
	v, varied := s.Dataset.(Varied)
	if varied {
		v.AddTo(d)
	}
}

// List returns the families by name, for listings. Their Name is an example of a spec: for files it ends in [FileKey],
// and it has an example of each required parameter, as in mfi/custom?p=EXAMPLE.
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
