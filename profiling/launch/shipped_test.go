package launch

import (
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"miglab/harness/nearest"
)

// roots are the parameters that the shipped manifests need.
var roots = map[string]map[string]string{
	"rodinia": {"rodinia": "/opt/rodinia"},
	"altis":   {"altis": "/opt/altis"},
	"miglab":  nil,
}

// kernelsOf returns the kernels of a shipped manifest.
func kernelsOf(t *testing.T, name string) []Kernel {
	t.Helper()
	all, err := Shipped(name, roots[name])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestShippedManifests(t *testing.T) {
	for _, name := range shipped {
		m := kernelsOf(t, name)
		if problem := invalid(m); problem != "" {
			t.Errorf("%s.yaml: %s", name, problem)
		}
		for _, k := range m {
			if k.Suite != name || k.Warmup == 0 || k.SizeClass == "" {
				t.Errorf("%s.yaml:%d: %+v", name, k.Line, k)
			}
			if name != "altis" && k.Expect == nil && k.Result == (ResultSource{}) {
				t.Errorf("%s.yaml:%d: %s expects nothing", name, k.Line, k.Name)
			}
			if writes := name == "rodinia" || k.Name == "dwt2d" && name == "altis"; k.OwnFolder != writes {
				t.Errorf("%s.yaml:%d: %s has a folder of its own: %v, want %v", name, k.Line, k.Name, k.OwnFolder, writes)
			}
			if k.Timeout > 2*time.Minute {
				t.Errorf("%s.yaml:%d: %s may hang for %v; commands are often stopped after 10 minutes", name, k.Line, k.Name, k.Timeout)
			}
		}
		if len(roots[name]) > 0 {
			_, err := Shipped(name, nil)
			if err == nil || !strings.HasSuffix(err.Error(), `: the parameter "`+name+`" has no value; set it with --set `+name+`=VALUE`) {
				t.Errorf("without the folder: %v", err)
			}
		}
	}
}

// A manifest whose data could be any says so above everything, and how to pin them.
func TestShippedManifestsSayThatDataAreNotPinned(t *testing.T) {
	for _, name := range shipped {
		text, err := manifests.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		free := slices.ContainsFunc(kernelsOf(t, name), func(k Kernel) bool {
			return slices.ContainsFunc(k.Data, func(d Data) bool { return d.SHA256 == "" })
		})
		header, _, _ := strings.Cut(string(text), "version: 1\n")
		if said := strings.Contains(header, "No data file has a sha256") && strings.Contains(header, "sha256sum"); said != free {
			t.Errorf("%s.yaml: data without a sha256: %v; the header says so: %v", name, free, said)
		}
	}
}

// NN is called nn, and its list of files is in its own folder and not among the data.
func TestRodiniaHasNNsFiles(t *testing.T) {
	m := kernelsOf(t, "rodinia")
	i := slices.IndexFunc(m, func(k Kernel) bool { return k.Name == "NN" })
	if i < 0 {
		t.Fatal("there is no NN")
	}
	k := m[i]
	if want := []string{"./nn", "../nn/filelist_4", "-r", "5", "-lat", "30", "-lng", "90"}; !slices.Equal(k.Argv, want) || k.Dir != "/opt/rodinia/cuda/nn" || k.Data[0].Path != "../nn/filelist_4" {
		t.Errorf("%q in %s with %v", k.Argv, k.Dir, k.Data)
	}
}

// Tasks of the measured tables can be run under the same names.
func TestRodiniaHasTheKernelsOfTheDatasets(t *testing.T) {
	m := kernelsOf(t, "rodinia")
	for _, table := range []string{"a100", "a30"} {
		f, err := os.Open("../../datasets/measured/rodinia-" + table + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		column := slices.Index(rows[0], "kernel")
		for _, row := range rows[1:] {
			if !slices.ContainsFunc(m, func(k Kernel) bool { return k.Name == row[column] }) {
				t.Errorf("%s: the manifest lacks %s", table, row[column])
			}
		}
	}
}

func TestShippedUnknown(t *testing.T) {
	_, err := Shipped("rodinai", nil)
	if unknown, ok := errors.AsType[*nearest.UnknownError](err); !ok || unknown.Nearest != "rodinia" {
		t.Errorf("%v", err)
	}
}
