package spec_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"miglab/harness/nearest"
	"miglab/harness/spec"
)

var params = []spec.Param{
	{Name: "n", Default: "14", Type: spec.Whole(1, 100), Doc: "tasks"},
	{Name: "order", Default: "paper", Values: []string{"shuffled", "paper"}},
	{Name: "rho", Type: spec.Number(0, 2), DefaultFrom: func(a spec.Args) string {
		if a["order"] == "shuffled" {
			return "0.5"
		}
		return "1"
	}},
	{Name: "seed", Default: "1", Type: spec.Seed},
	{Name: "watts", Default: "1-2", Type: spec.Numbers(0, 1e9)},
	{Name: "jobs", Default: "a", Type: spec.Names("job", "jobs joined by +", "+", func() []string { return []string{"a", "b"} })},
	{Name: "part", Type: spec.Whole(1, 9)},
	{Name: "text", Without: []string{"n", "seed"}},
}

func read(text string) (string, spec.Args, error) {
	name, pairs := spec.Split(text)
	a, err := spec.Read(params, pairs)
	return spec.ID(name, params, a), a, err
}

func TestIDsAreCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"x":                                "x",
		"x?n=14&rho=1&seed=1&watts=01-2.0": "x",
		"x?watts=0.000010-1e1&n=+07":       "x?n=7&watts=0.00001-10",
		"x?rho=-0":                         "x?rho=0",
		"x?rho=1e-7":                       "x?rho=1e-07",
		"x?rho=0.5":                        "x?rho=0.5",
		"x?order=shuffled&rho=.5":          "x?order=shuffled",
		"x?rho=1&order=shuffled":           "x?order=shuffled&rho=1",
		"x?text=a=b?c&part=1&jobs=b+a":     "x?jobs=b+a&part=1&text=a=b?c",
		"x?seed=18446744073709551615":      "x?seed=18446744073709551615",
	} {
		id, a, err := read(text)
		if err != nil || id != want {
			t.Errorf("%q is %q, %v; want %q", text, id, err, want)
			continue
		}
		if again, b, err := read(id); err != nil || again != id || !maps.Equal(a, b) {
			t.Errorf("%q is read back as %q with %v, %v; want %v", id, again, b, err, a)
		}
	}
}

func TestArgs(t *testing.T) {
	_, a, err := read("x?n=7&seed=18446744073709551615&watts=1-0.5")
	if err != nil {
		t.Fatal(err)
	}
	if a.Int("n") != 7 || a.Int("part") != 0 || a.Uint("seed") != 1<<64-1 || a.Float("rho") != 1 || !slices.Equal(spec.Floats(a["watts"]), []float64{1, 0.5}) {
		t.Errorf("%v", a)
	}
	defer func() {
		if recover() == nil {
			t.Error("a word is read as a number")
		}
	}()
	a.Int("order")
}

func TestErrorsSayWhatWouldBeRight(t *testing.T) {
	for text, want := range map[string]string{
		"x?":              `unknown parameter ""`,
		"x?m=1":           `unknown parameter "m"; did you mean "n"?`,
		"x?n":             `parameter "n" has no value; give a whole number from 1 to 100`,
		"x?n=0":           `parameter "n" cannot be "0"; give a whole number from 1 to 100`,
		"x?n=1e1":         `parameter "n" cannot be "1e1"`,
		"x?n=1&n=1":       `parameter "n" cannot be "1"; give the parameter once`,
		"x?order=papr":    `parameter "order": unknown value "papr"; did you mean "paper"?`,
		"x?order=":        `parameter "order" has no value; give shuffled or paper`,
		"x?rho=NaN":       `parameter "rho" cannot be "NaN"; give a number from 0 to 2`,
		"x?seed=-1":       `parameter "seed" cannot be "-1"; give a whole number from 0 to 2^64-1`,
		"x?watts=1-2e9":   `parameter "watts" cannot be "1-2e9"; give numbers from 0 to 1000000000, joined by -`,
		"x?jobs=a+c":      `parameter "jobs": unknown job "c"; did you mean "a"?`,
		"x?text=a&n=14":   `parameter "n" cannot be "14"; give either it or text`,
		"x?text":          `parameter "text" has no value; give a value`,
		"x?part=1&&n=2":   `unknown parameter ""`,
		"x?order=paper&=": `unknown parameter ""`,
	} {
		_, _, err := read(text)
		_, unknown := errors.AsType[*nearest.UnknownError](err)
		_, parameter := errors.AsType[*spec.ParameterError](err)
		if err == nil || !strings.Contains(err.Error(), want) || unknown == parameter {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	required := []spec.Param{{Name: "p", Example: "0.5-0.5", Type: spec.Numbers(0, 1)}}
	if _, err := spec.Read(required, nil); err == nil || err.Error() != `parameter "p" has no value; give numbers from 0 to 1, joined by -` {
		t.Errorf("a parameter that must be given: %v", err)
	}
}

func TestHelpPutsDefaultsFirst(t *testing.T) {
	const want = "n=14 order=paper|shuffled rho seed=1 watts=1-2 jobs=a part text"
	if got := spec.Help(params); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Equal(params[1].Values, []string{"shuffled", "paper"}) {
		t.Errorf("the declaration is now %v", params[1].Values)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"x", "x?n=3&order=shuffled", "x?rho=1e-300&watts=1e-5-2", "x?jobs=a+b+a", "x?text=?=&&part=9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, a, err := read(text)
		if err != nil {
			return
		}
		if again, b, err := read(id); err != nil || again != id || !maps.Equal(a, b) {
			t.Fatalf("%q is %q, which is read as %q with %v, %v; want %v", text, id, again, b, err, a)
		}
	})
}
