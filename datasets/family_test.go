package datasets_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// builtin are the families of this package, without those that tests register.
var builtin = datasets.List()

// fileFamilies has the family that reads the files of a kind of payload.
var fileFamilies = map[string]string{"tasks": "profile:", "requests": "requests:", "jobs": "jobs:", "programs": "corunfile:"}

// firstInstance returns instance 0 for the first GPU model that the dataset has one for.
func firstInstance(t *testing.T, s datasets.Spec) (task.Payload, *mig.GPU) {
	t.Helper()
	for _, gpu := range []string{"A100", "A30"} {
		g := mig.MustLookup(gpu)
		if in, err := s.Instance(g, 0); err == nil {
			return in, g
		}
	}
	t.Fatalf("%s has no instance 0 for A100 or A30", s.ID())
	return nil, nil
}

func digest(in task.Payload) string {
	d := task.NewDigest()
	in.AddTo(d)
	return d.String()
}

// inFile returns what a file holds of a payload: it lacks the probabilities that requests were
// drawn with. What else the file lacks are parameters of
// the family that reads it, and their defaults are those of the generated datasets: the size of
// the cluster, the fleet, Cmax and the model. The clock and the random stream of a queue are
// those of the report's days alone.
func inFile(in task.Payload) task.Payload {
	switch in := in.(type) {
	case task.Requests:
		in.Demand, in.GPUs = nil, 100
		return in
	case task.Batches:
		in.Restart = 0
		return in
	case task.Queue:
		in.NumPy, in.Fleet.Float32 = nil, false
		return in
	}
	return in
}

// TestEveryFamily parses a dataset of each family by its ID, and reads back what it writes.
func TestEveryFamily(t *testing.T) {
	folder := t.TempDir()
	written := map[string]bool{}
	for i, info := range builtin {
		if strings.HasSuffix(info.Name, ":"+datasets.FileKey) {
			continue // read below
		}
		s := datasets.MustParse(info.Name)
		in, g := firstInstance(t, s)
		if again, err := datasets.Parse(s.ID()); err != nil || again != s || again.ID() != s.ID() {
			t.Errorf("the ID of %s parses as %v, %v", info.Name, again, err)
		} else if other, _ := firstInstance(t, again); digest(other) != digest(in) {
			t.Errorf("instance 0 of %s is another one the second time", info.Name)
		}
		var text bytes.Buffer
		if err := inFile(in).WriteCSV(&text, g); err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		path := filepath.Join(folder, strconv.Itoa(i)+".csv")
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		family := fileFamilies[in.Kind()]
		file, err := datasets.Parse(family + path)
		if err != nil || file.ID() != family+path || file.Instances() != 1 {
			t.Errorf("%s%s: %v, %v", family, path, file, err)
			continue
		}
		back, err := file.Instance(g, 0)
		if err != nil || digest(back) != digest(inFile(in)) {
			t.Errorf("%s is not read back from its file: %v", info.Name, err)
			continue
		}
		var again bytes.Buffer
		if err := back.WriteCSV(&again, g); err != nil || again.String() != text.String() {
			t.Errorf("the file of %s is written in another way after reading it: %v", info.Name, err)
		}
		written[family] = true
	}
	for _, info := range builtin {
		name, ok := strings.CutSuffix(info.Name, datasets.FileKey)
		if !ok || written[name] {
			continue
		}
		if info.Example == "" {
			t.Errorf("no test reads a file of %s: give its Family a small one as Example", name)
			continue
		}
		path := filepath.Join(folder, "example.csv")
		if err := os.WriteFile(path, []byte(info.Example), 0o600); err != nil {
			t.Fatal(err)
		}
		s := datasets.MustParse(name + path)
		in, _ := firstInstance(t, s)
		if other, _ := firstInstance(t, s); digest(other) != digest(in) {
			t.Errorf("the Example of %s is another instance the second time", name)
		}
	}
}

// marbles is a payload of a kind that only this test knows.
type marbles int

func (marbles) Kind() string           { return "marbles" }
func (m marbles) AddTo(d *task.Digest) { d.Int(int(m)) }
func (m marbles) Instances() int       { return 3 }
func (marbles) WriteCSV(w io.Writer, _ *mig.GPU) error {
	_, err := io.WriteString(w, "marbles\n")
	return err
}

func (m marbles) Instance(_ *mig.GPU, index int) (task.Payload, error) {
	return m + marbles(index), nil
}

func newMarbles(_ string, a spec.Args) (datasets.Dataset, error) { return marbles(a.Int("first")), nil }

var _ = datasets.Register(datasets.Family{
	Name: "toy/marbles", Aliases: []string{"marbles"}, Doc: "counted marbles", Source: "this test",
	Params: []spec.Param{{Name: "first", Default: "7", Type: spec.Whole(0, 9)}}, New: newMarbles,
})

func TestRegisterAddsAFamily(t *testing.T) {
	for text, want := range map[string]string{
		"toy/marbles": "toy/marbles", "marbles?first=07": "toy/marbles", "marbles?first=3": "toy/marbles?first=3",
	} {
		if s, err := datasets.Parse(text); err != nil || s.ID() != want || datasets.MustParse(want) != s {
			t.Errorf("Parse(%q) = %v, %v; want %s", text, s, err, want)
		}
	}
	s := datasets.MustParse("marbles?first=3")
	g := mig.MustLookup("A100")
	if in, err := datasets.InstanceOf[marbles](s, g, 2); err != nil || in != 5 {
		t.Errorf("instance 2 is %v, %v; want 5", in, err)
	}
	if _, err := datasets.InstanceOf[task.Batches](s, g, 0); err == nil || !strings.HasSuffix(err.Error(), "has marbles; tasks are needed here") {
		t.Errorf("marbles as tasks: %v", err)
	}
	var index *datasets.IndexError
	if _, err := s.Instance(g, 3); !errors.As(err, &index) || index.Instances != 3 {
		t.Errorf("instance 3: %v", err)
	}
	var unknown *nearest.UnknownError
	if _, err := datasets.Parse("toy/marble"); !errors.As(err, &unknown) || unknown.Nearest != "toy/marbles" {
		t.Errorf("toy/marble: %v", err)
	}
	listed := func(f datasets.Family) bool {
		return f.Name == "toy/marbles" && f.Doc == "counted marbles" && f.Source == "this test" && spec.Help(f.Params) == "first=7"
	}
	if all := datasets.List(); !slices.ContainsFunc(all, listed) || !slices.IsSortedFunc(all, func(a, b datasets.Family) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("toy/marbles is not among %+v, or they are not sorted", all)
	}
}

func TestRegisterPanicsOnMistakes(t *testing.T) {
	for name, f := range map[string]datasets.Family{
		"no name":          {New: newMarbles},
		"name with query":  {Name: "a?b", New: newMarbles},
		"taken name":       {Name: "drl/WIDETIMES", New: newMarbles},
		"taken alias":      {Name: "toy/wide", Aliases: []string{"WIDETIMES"}, New: newMarbles},
		"no New":           {Name: "toy/none"},
		"unnamed":          {Name: "toy/unnamed", Params: []spec.Param{{}}, New: newMarbles},
		"parameter twice":  {Name: "toy/twice", Params: []spec.Param{{Name: "n"}, {Name: "n"}}, New: newMarbles},
		"FILE":             {Name: "toy/file:", Params: []spec.Param{{Name: datasets.FileKey}}, New: newMarbles},
		"swallowed prefix": {Name: "profile:mine", New: newMarbles},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			datasets.Register(f)
		}()
	}
}
