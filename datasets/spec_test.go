package datasets_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/task"
)

func TestCanonicalIDs(t *testing.T) {
	for text, want := range map[string]string{
		"far/POORSCALING+WIDETIMES":                                           "far/POORSCALING+WIDETIMES",
		"far/MIXSCALINGUNIFORM+NARROWTIMES?n=15":                              "far/MIXEDSCALING+NARROWTIMES",
		"far/MIXSCALINGEXTREME+WIDETIMES":                                     "far/MIXSCALINGEXTREME+WIDETIMES",
		"far/MIXEDSCALING+WIDETIMES?seed=2&psup=50&n=010&gen=paper&batches=2": "far/MIXEDSCALING+WIDETIMES?batches=2&n=10&psup=50&seed=2",
		"WIDETIMES":                         "drl/WIDETIMES",
		"drl/WIDETIMES?n=14&psup=50":        "drl/WIDETIMES",
		"POORSCALING?psup=0&leave=0.30":     "drl/POORSCALING?psup=0",
		"drl/GOODSCALING?gen=released":      "drl/GOODSCALING?gen=released",
		"GOODSCALING?leave=.1&gen=released": "drl/GOODSCALING?gen=released",
		"GOODSCALING?gen=released&leave=-0": "drl/GOODSCALING?gen=released&leave=0",
		"GOODSCALING?leave=0.1":             "drl/GOODSCALING?leave=0.1",
		"rodinia":                           "rodinia",
		"rodinia?order=paper&seed=1":        "rodinia",
		"rodinia?seed=7&order=shuffled":     "rodinia?order=shuffled&seed=7",
		"rodinia?copies=20&only=CFD":        "rodinia?copies=20&only=CFD",
		"rodinia?copies=1":                  "rodinia",
		"WIDETIMES?part=8&total=100&n=14":   "drl/WIDETIMES?part=8&total=100",
		"ADVERSARIAL4?psup=50":              "drl/ADVERSARIAL4",
		"drl/RODINIA?n=14&seed=1":           "drl/RODINIA",
		"drl/RODINIA?part=1&n=7":            "drl/RODINIA?n=7&part=1",
		"a30-batch":                         "a30-batch",
		"profile:a b?n=3&x.csv":             "profile:a b?n=3&x.csv",
	} {
		s, err := datasets.Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		if s.ID() != want {
			t.Errorf("Parse(%q).ID() = %q, want %q", text, s.ID(), want)
		}
		if again := datasets.MustParse(s.ID()); again != s {
			t.Errorf("Parse(%q) = %#v, but its ID parses as %#v", text, s, again)
		}
	}
}

func TestBadSpecs(t *testing.T) {
	for text, message := range map[string]string{
		"":                            `unknown dataset ""`,
		"WIDETIME":                    `did you mean "WIDETIMES"?`,
		"far/MIXEDSCALNG+WIDETIMES":   `did you mean "far/MIXEDSCALING+WIDETIMES"?`,
		"far/WIDETIMES+MIXEDSCALING":  `unknown dataset "far/WIDETIMES+MIXEDSCALING"`,
		"rodina":                      `did you mean "rodinia"?`,
		"WIDETIMES?":                  `unknown parameter ""`,
		"WIDETIMES?m=3":               `unknown parameter "m"; did you mean "n"? (known: batches, gen, leave, n, order, part, psup, repeat, rho, seed, start, total)`,
		"WIDETIMES?n":                 `parameter "n" has no value; give a whole number from 1 to 1000000`,
		"WIDETIMES?n=0":               `parameter "n" cannot be "0"`,
		"WIDETIMES?n=1e3":             `a whole number`,
		"WIDETIMES?n=3&n=3":           `give the parameter once`,
		"WIDETIMES?psup=101":          `from 0 to 100`,
		"WIDETIMES?psup=-1":           `from 0 to 100`,
		"WIDETIMES?leave=NaN":         `a number from 0 to 1`,
		"WIDETIMES?leave=1.5":         `a number from 0 to 1`,
		"WIDETIMES?leave=-1":          `a number from 0 to 1`,
		"WIDETIMES?gen=papr":          `parameter "gen": unknown value "papr"; did you mean "paper"?`,
		"WIDETIMES?seed=-1":           `from 0 to 2^64-1`,
		"WIDETIMES?batches=0":         `from 1 to 1000000`,
		"WIDETIMES?part=1":            `give a part only with total`,
		"WIDETIMES?total=100&part=9":  `parameter "part" cannot be "9"; give a whole number from 1 to 8`,
		"WIDETIMES?total=100&part=0":  `from 1 to 1000000`,
		"WIDETIMES?total=9&batches=2": `parameter "batches" cannot be "2"; give either batches or total`,
		"WIDETIMES?total=9&repeat=2":  `parameter "repeat" cannot be "2"; give either repeat or total`,
		"WIDETIMES?total=0":           `from 1 to 1000000`,
		"drl/ADVERSARIAL3":            `did you mean "drl/ADVERSARIAL2"?`,
		"drl/RODINIA?gen=paper":       `unknown parameter "gen"`,
		"drl/RODINIA?n=15":            `from 3 to 14`,
		"drl/RODINIA?part=3":          `parameter "part" cannot be "3"; give a whole number from 1 to 2`,
		"rodinia?only=CDF":            `did you mean "CFD"?`,
		"rodinia?copies=0":            `from 1 to 1000`,
		"rodinia?last=CFD&copies=2":   `a last kernel only where each is there once`,
		"a30-batch?copies=2":          `unknown parameter "copies"`,
		"rodinia?n=3":                 `unknown parameter "n"`,
		"rodinia?order=random":        `parameter "order": unknown value "random"`,
		"rodinia?seed=2":              `give a seed only with order=shuffled`,
		"a30-batch?order=shuffled":    `unknown parameter "order"`,
		"profile:":                    `the path of a tasks file`,
	} {
		s, err := datasets.Parse(text)
		if err == nil {
			t.Errorf("Parse(%q) = %q, want an error with %q", text, s.ID(), message)
			continue
		}
		if !strings.Contains(err.Error(), message) {
			t.Errorf("Parse(%q): %v\nwant a message with %q", text, err, message)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("Parse(%q): the message has more than one line", text)
		}
		var unknown *nearest.UnknownError
		var parameter *spec.ParameterError
		if !errors.As(err, &unknown) && !errors.As(err, &parameter) {
			t.Errorf("Parse(%q): error is a %T", text, err)
		}
	}
}

func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for _, info := range datasets.List() {
			if strings.HasPrefix(info.Summary, "synthetic") {
				names = append(names, info.Name)
			}
		}
		parameters := map[string]*rapid.Generator[any]{
			"n":       rapid.IntRange(1, 1_000_000).AsAny(),
			"psup":    rapid.IntRange(0, 100).AsAny(),
			"gen":     rapid.SampledFrom([]string{"paper", "paper-sub", "released", "released-train"}).AsAny(),
			"leave":   rapid.Float64Range(0, 1).AsAny(),
			"seed":    rapid.Uint64().AsAny(),
			"batches": rapid.IntRange(1, 1_000_000).AsAny(),
			"total":   rapid.IntRange(1, 1_000_000).AsAny(),
		}
		several := rapid.SampledFrom([]string{"batches", "total"}).Draw(t, "several")
		keys := rapid.Permutation([]string{"n", "psup", "gen", "leave", "seed", several}).Draw(t, "order")
		keys = keys[:rapid.IntRange(0, len(keys)).Draw(t, "given")]
		var pairs []string
		for _, k := range keys {
			pairs = append(pairs, k+"="+fmt.Sprint(parameters[k].Draw(t, k)))
		}
		text := rapid.SampledFrom(names).Draw(t, "name")
		if len(pairs) > 0 {
			text += "?" + strings.Join(pairs, "&")
		}
		s, err := datasets.Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		again, err := datasets.Parse(s.ID())
		if err != nil || again != s || again.ID() != s.ID() {
			t.Fatalf("Parse(%q).ID() = %q, which parses as %v, %v", text, s.ID(), again, err)
		}
	})
}

func TestListedNamesParse(t *testing.T) {
	seen := map[string]bool{}
	for _, info := range datasets.List() {
		if info.Summary == "" || info.Source == "" {
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
	for _, s := range []string{
		"WIDETIMES", "far/MIXSCALINGUNIFORM+WIDETIMES?n=10&psup=50&gen=paper&seed=1&batches=2", "drl/GOODSCALING?leave=1e-300",
		"rodinia?order=shuffled&seed=18446744073709551615", "a30-batch", "profile:t.csv", "WIDETIMES?n=+7&seed=0", "x?y=z",
		"toy/marbles?first=4", "drl/RODINIA?n=7&part=2", "mfi/custom?p=0.5-0.5&lifespan=forever", "requests:a?gpus=7?gpus=100", "deadline/slack?low=0.5&high=2",
		"jobs:a?watts=1?gpus=7&watts=1-2.50", "rodinia?only=CFD&copies=3", "WIDETIMES?total=100&part=8&gen=released&leave=.1", "far-move",
		"corun/mix?jobs=cfd+stream&kappa=1e-3", "corun/balanced?w=3&seed=2&draw=3&release=true", "corunfile:a?cmax=1?delta=0",
	} {
		f.Add(s)
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
