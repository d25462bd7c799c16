package counters

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// countersFile was made by hand.
const countersFile = "testdata/counters.csv"

var byHand = datasets.Provenance{GPU: "A100", Name: "made by hand", Driver: "none", Source: datasets.SourceMIG, Date: "2026-11-21"}

func TestFile(t *testing.T) {
	text, err := os.ReadFile(countersFile)
	if err != nil {
		t.Fatal(err)
	}
	large := lud
	large.ActiveWarps = 51.5
	nn := Counters{Launches: 1, Duration: 1e-6, ElapsedCycles: 1, GridSize: 1, Registers: 1, ActiveCycles: 0.5, Waves: 0.001, ActiveWarps: math.NaN()}
	want := []Row{{byHand, "lud, large", large}, {byHand, "nn", nn}}

	var b bytes.Buffer
	if err := WriteCSV(&b, want); err != nil || b.String() != string(text) {
		t.Errorf("written, %v:\n%swant\n%s", err, b.String(), text)
	}
	got, err := ReadCSV(bytes.NewReader(text), countersFile)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	for i := range want {
		if !same(got[i], want[i]) {
			t.Errorf("row %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// same compares to the last bit; NaN equals NaN.
func same(a, b Row) bool {
	for _, c := range table {
		if x, y := *c.of(&a.Counters), *c.of(&b.Counters); x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
			return false
		}
	}
	return a.Provenance == b.Provenance && a.Kernel == b.Kernel && a.Launches == b.Launches
}

func TestFileRefuses(t *testing.T) {
	raw, err := os.ReadFile(countersFile)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	header, _, _ := strings.Cut(text, "\n")
	replace := func(old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %s", old, countersFile)
		}
		return strings.Replace(text, old, new, 1)
	}
	for _, c := range []struct{ name, text, says string }{
		{"nothing", "", "f:1: there are no kernels"},
		{"header alone", header + "\n", "f:1: there are no kernels"},
		{"other column", replace("compute_percent", "compute"), "f:1: the header is gpu,"},
		{"a field less", replace(",0.001,n/a", ",n/a"), "f:3: there are 18 fields; there must be 19"},
		{"quote", replace("nn,", `"nn,`), "f:3: "},
		{"other GPU", replace("A100,", "A1000,"), `f:2: gpu: unknown GPU "A1000"`},
		{"alias", replace("A100,", "a100,"), `f:2: gpu: "a100"; write A100`},
		{"other source", replace("mig,", "mps,"), `f:2: source: unknown source "mps"`},
		{"no day", replace("2026-11-21", "21.11.2026"), `f:2: date: "21.11.2026" must be a day`},
		{"no name", replace("nn,", ","), `f:3: kernel: "" must not be empty`},
		{"space", replace("nn,", "nn ,"), `f:3: kernel: "nn " must not`},
		{"no launches", replace("nn,1,", "nn,0,"), `f:3: launches: "0" must be a whole number from 1`},
		{"no duration", replace("0.000001", "n/a"), `f:3: duration_s: "n/a" must be a number`},
		{"zero duration", replace("0.000001", "0"), `f:3: duration_s: launches must have a duration`},
		{"NaN", replace("n/a", "NaN"), `f:3: active_warps_per_sm: "NaN" must be a number`},
		{"negative", replace("0.5,", "-0.5,"), `f:3: sm_active_cycles: "-0.5" must be a number`},
		{"twice", text + strings.SplitAfter(text, "\n")[2], `f:4: kernel: "nn" is there twice`},
	} {
		got, err := ReadCSV(strings.NewReader(c.text), "f")
		if at, ok := errors.AsType[*task.ParseError](err); !ok || !strings.HasPrefix(at.Error(), c.says) {
			t.Errorf("%s: %+v, %v; want the error %q", c.name, got, err, c.says)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z"][a-z", +]{0,5}[a-z"]`), 1, 4, rapid.ID).Draw(t, "names")
		for _, name := range names {
			r := Row{Provenance: byHand, Kernel: name}
			r.Launches = rapid.IntRange(1, 1e6).Draw(t, "launches")
			for _, c := range table {
				*c.of(&r.Counters) = rapid.Float64Range(0, 1e12).Draw(t, c.column)
				if rapid.Bool().Draw(t, "n/a") {
					*c.of(&r.Counters) = math.NaN()
				}
			}
			r.Duration = mig.Seconds(rapid.Float64Range(1e-9, 1e6).Draw(t, "duration"))
			rows = append(rows, r)
		}
		var b bytes.Buffer
		if err := WriteCSV(&b, rows); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCSV(&b, "f")
		if err != nil || len(got) != len(rows) {
			t.Fatalf("%+v, %v; want %+v", got, err, rows)
		}
		for i := range rows {
			if !same(got[i], rows[i]) {
				t.Fatalf("row %d is %+v, want %+v", i, got[i], rows[i])
			}
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	text, err := os.ReadFile(countersFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("gpu\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadCSV(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := WriteCSV(&b, rows); err != nil {
			t.Fatal(err)
		}
		again, err := ReadCSV(&b, "f")
		if err != nil || len(again) != len(rows) {
			t.Fatalf("%v: %+v, was %+v", err, again, rows)
		}
		for i := range rows {
			if !same(again[i], rows[i]) {
				t.Errorf("row %d is %+v, was %+v", i, again[i], rows[i])
			}
		}
	})
}
