package datasets_test

import (
	_ "embed"
	"errors"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// specs has a spec on each line and, after a tab, its canonical ID; or "! " and what its error says.
//
//go:embed testdata/specs.txt
var specs string

// TestSpecs reads the specs of testdata/specs.txt.
func TestSpecs(t *testing.T) {
	for line := range strings.Lines(specs) {
		text, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		s, err := datasets.Parse(text)
		if message, ok := strings.CutPrefix(want, "! "); ok {
			_, unknown := errors.AsType[*nearest.UnknownError](err)
			_, parameter := errors.AsType[*spec.ParameterError](err)
			if err == nil || !strings.Contains(err.Error(), message) || strings.Contains(err.Error(), "\n") || !unknown && !parameter {
				t.Errorf("Parse(%q) = %v, %v\nwant one line with %q", text, s, err, message)
			}
			continue
		}
		if err != nil || s.ID() != want {
			t.Errorf("Parse(%q) = %v, %v; want %q", text, s, err, want)
		} else if again := datasets.MustParse(s.ID()); again != s {
			t.Errorf("Parse(%q) = %#v, but its ID parses as %#v", text, s, again)
		}
	}
}

func TestListedNamesParse(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range datasets.List() {
		if info.Doc == "" || info.Source == "" {
			t.Errorf("%+v lacks a summary or a source", info)
		}
		s, err := datasets.Parse(info.Name)
		if err != nil || s.ID() != info.Name {
			t.Errorf("Parse(%q) = %v, %v; a listed name must be canonical", info.Name, s, err)
		}
		if seen[info.Name] {
			t.Errorf("%s is listed twice", info.Name)
		}
		seen[info.Name] = true
	}
}

func TestIndicesOutOfRange(t *testing.T) {
	for text, index := range map[string]int{
		"WIDETIMES": -1, "rodinia": 1, "drl/RODINIA": 1000, "rodinia?order=shuffled": -1, "a30-batch": 1, "profile:x.csv": 1,
	} {
		_, err := datasets.InstanceOf[task.Batches](datasets.MustParse(text), mig.MustLookup("A30"), index)
		var bad *datasets.IndexError
		if !errors.As(err, &bad) || bad.Dataset != text && bad.Dataset != "drl/"+text || bad.Index != index {
			t.Errorf("instance %d of %s: %v, want an IndexError", index, text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for line := range strings.Lines(specs) {
		text, _, _ := strings.Cut(line, "\t")
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := datasets.Parse(text)
		if err != nil {
			return
		}
		again, err := datasets.Parse(s.ID())
		if err != nil || again != s || again.ID() != s.ID() {
			t.Fatalf("Parse(%q).ID() = %q, which parses as %v, %v", text, s.ID(), again, err)
		}
	})
}

func TestRegimeOf(t *testing.T) {
	for text, want := range map[string]task.Regime{
		"mfi/uniform": task.Whole, "mfi/uniform?lifespan=steady": task.Steady, "mfi/uniform?lifespan=forever": task.Whole,
		"drl/WIDETIMES": task.Whole, "drl/WIDETIMES?batches=20&rho=0.8": task.Timed,
		"openb/stream": task.Whole, "openb/stream?arrivals=trace": task.Timed,
		"rodinia": task.Whole, "gone?lifespan=steady": task.Whole,
	} {
		if got := datasets.RegimeOf(text); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
