package corun_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/sim/corun"
)

// table7 is what the hierarchical paper's Table VII prints, by column and number of jobs.
var table7 = map[corun.Family][5]string{
	corun.MPSOnly: {
		2: "[(0.1)+(0.9),1m]; [(0.2)+(0.8),1m]; [(0.5)+(0.5),1m]",
		3: "[(0.1)+(0.1)+(0.8),1m]; [(0.34)+(0.33)+(0.33),1m]",
		4: "[(0.1)+(0.1)+(0.1)+(0.7),1m]; [(0.25)+(0.25)+(0.25)+(0.25),1m]",
	},
	corun.Lockstep: {
		2: "[(0.1)+(0.9),1m]; [(0.2)+(0.8),1m]; [(0.5)+(0.5),1m]; [{0.375}+{0.5},1m]; [{0.375},0.5m]+[{0.5},0.5m]",
		3: "[(0.1)+(0.1)+(0.8),1m]; [(0.34)+(0.33)+(0.33),1m]; [{0.375},0.5m]+[(0.1)+(0.9),{0.5},0.5m]; " +
			"[{0.375},0.5m]+[(0.5)+(0.5),{0.5},0.5m]; [{0.375}+(0.1),(0.9){0.5},1m]; [{0.375}+(0.5),(0.5){0.5},1m]",
		4: "[(0.1)+(0.1)+(0.1)+(0.7),1m]; [(0.25)+(0.25)+(0.25)+(0.25),1m]; [(0.1)+(0.9),{0.375},0.5m]+ [(0.1)+(0.9),{0.5},0.5m]; " +
			"[(0.5)+(0.5),{0.375},0.5m]+ [(0.5)+(0.5),{0.5},0.5m]; [(0.1)+(0.9){0.375}+(0.1)+(0.9){0.5},1m]; [(0.5)+(0.5){0.375}+(0.5)+(0.5){0.5},1m]",
	},
}

func TestTable7IsPrintedAsThePaperDoes(t *testing.T) {
	for family, column := range table7 {
		for jobs, cell := range column {
			var have []string
			for _, s := range corun.Setups(family, jobs) {
				have = append(have, s.String())
			}
			for _, printed := range strings.FieldsFunc(cell, func(r rune) bool { return r == ';' }) {
				s, err := corun.Parse(printed)
				if err != nil {
					t.Error(err)
					continue
				}
				want := strings.ReplaceAll(printed, " ", "")
				if got := s.String(); got != want {
					t.Errorf("%s is printed as %s", want, got)
				}
				for _, f := range []corun.Family{family, corun.Hierarchical} {
					if !slices.ContainsFunc(corun.Setups(f, jobs), func(s corun.Setup) bool { return s.String() == want }) {
						t.Errorf("%s is not among the setups of %s for %d jobs: %v", want, f, jobs, have)
					}
				}
				if n := s.Slots(); n != jobs {
					t.Errorf("%s has %d slots, want %d", want, n, jobs)
				}
			}
		}
	}
}

func TestNumberOfSetups(t *testing.T) {
	for family, want := range map[corun.Family][4]int{
		corun.MIGShared: {1, 1, 0, 0}, corun.MIGPrivate: {1, 1, 0, 0},
		corun.MPSOnly:  {1, 5, 8, 10},
		corun.Lockstep: {1, 7, 18, 20}, corun.Hierarchical: {1, 7, 18, 60}, corun.Agent: {1, 6, 9, 14},
		corun.DefaultShared: {1, 3, 4, 5}, corun.DefaultPrivate: {1, 3, 4, 5}, corun.DefaultWhole: {1, 1, 1, 1},
		corun.DefaultThree: {1, 4, 6, 9},
	} {
		together := 0
		for jobs := 1; jobs <= corun.MaxConcurrency; jobs++ {
			setups := corun.Setups(family, jobs)
			if len(setups) != want[jobs-1] {
				t.Errorf("%s has %d setups for %d jobs, want %d: %v", family, len(setups), jobs, want[jobs-1], setups)
			}
			seen := map[string]bool{}
			for _, s := range setups {
				if err := s.Validate(); err != nil {
					t.Errorf("%s: %v", family, err)
				}
				if s.Slots() != jobs || seen[s.String()] {
					t.Errorf("%s: %s is for %d jobs, or there twice", family, &s, s.Slots())
				}
				seen[s.String()] = true
			}
			if jobs > 1 {
				together += len(setups)
			}
		}
		if want := map[corun.Family]int{corun.Lockstep: 45, corun.Hierarchical: 85, corun.Agent: 29}[family]; want != 0 && together != want {
			t.Errorf("%s has %d setups for 2 to 4 jobs, want %d", family, together, want)
		}
	}
	if n := len(corun.Setups(corun.Hierarchical, corun.MaxConcurrency+1)); n != 0 {
		t.Errorf("%d setups for 5 jobs", n)
	}
}

func TestParseAcceptsSpacesAndBothSeparators(t *testing.T) {
	for text, want := range map[string]string{
		" [ (0.10) + (0.9) , {0.5} , 0.5m ] ":        "[(0.1)+(0.9),{0.5},0.5m]",
		"[(0.5)+(0.5){0.375}+(0.5),(0.5){0.5},1m]":   "[(0.5)+(0.5){0.375}+(0.5)+(0.5){0.5},1m]",
		"[(*),(*),{0.5},0.5m]\n+\t[{0.375},0.5m]":    "[(*)+(*),{0.5},0.5m]+[{0.375},0.5m]",
		"[{0.125}+{0.25}+{0.5},1.0m]":                "[{0.125}+{0.25}+{0.5},1m]",
		"[{.125},.25m]+[{0.25},0.25m]+[{0.25},0.5m]": "[{0.125},0.25m]+[{0.25},0.25m]+[{0.25},0.5m]",
	} {
		s, err := corun.Parse(text)
		if err != nil || s.String() != want {
			t.Errorf("Parse(%q) = %s, %v, want %s", text, &s, err, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]struct {
		instance int // the GPU instance in another notation; 0 for a setup that is not possible
		reason   string
	}{
		"":                                  {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"(0.5)+(0.5),1m":                    {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+(0.5)]":                     {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)(0.5),1m]":                   {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+,1m]":                       {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[,1m]":                             {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+(0.6),1m]":                  {0, "1.1 of their instance together; at most 1"},
		"[(0.5)+(x),1m]":                    {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(1.5),1m]":                        {0, "1.5 is not a share; it must be over 0 and at most 1"},
		"[(0)+(1),1m]":                      {0, "0 is not a share"},
		"[(0.5)+(*),1m]":                    {0, "clients with and without percentages"},
		"[(0.5)+(0.5),1]":                   {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+(0.5),1m":                   {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+(0.5),1m]x":                 {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+1m]":                        {1, "from byte 1 on, is not written like"},
		"[(0.5)+(0. 5),1m]":                 {1, "from byte 1 on, is not written like"},
		"[(0.5)+(0.5),1m]+":                 {2, "from byte 18 on, is not written like [(0.5)+(0.5),1m] or "},
		"[(0.5)+(0.5),0.5m]":                {0, "has all multiprocessors and all memory"},
		"[(1),1m]+[(1),1m]":                 {0, "a GPU that MIG does not divide is one instance"},
		"[{0.3},1m]":                        {0, "MIG has no compute instance with 0.3 of the GPU"},
		"[{0.625},1m]":                      {0, "there are those with [1 2 3 4 7]"},
		"[{1},1m]":                          {0, "MIG has no compute instance with 1 of the GPU"},
		"[{0.5}+{0.5},1m]":                  {0, "the compute instances, 8 GPCs together, fit no instance with 1m; the largest has 7"},
		"[{0.5},0.5m]+[{0.5},0.5m]":         {0, "MIG has no room for [4g.20gb 4g.20gb] side by side"},
		"[{0.375},1m]+[{0.5},1m]":           {0, "MIG has no room"},
		"[{0.25},0.125m]":                   {0, "the compute instances, 2 GPCs together, fit no instance with 0.125m; the largest has 1"},
		"[{0.375}+{0.125},0.5m]":            {0, "fit no instance with 0.5m"},
		"[{0.125},0.3m]":                    {0, "MIG has no instance with 0.3m"},
		"[{0.5},0.5m]+[{0.375}+(0.5),0.5m]": {0, "do not go beside compute instances"},
		"[{0.5},0.5m]+[{3},0.5m]":           {0, "3 is not a share"},
		"[{0.5}é]":                          {1, "from byte 1 on, is not written like [(0.5)+(0.5),1m] or "},
		"[" + strings.Repeat("(0.1)+", 8) + "(0.1),1m]": {0, "9 jobs would run at the same time; the model takes up to 8"},
	} {
		_, err := corun.Parse(text)
		where := ""
		if want.instance > 0 {
			where = fmt.Sprintf("partition %q: GPU instance %d, ", text, want.instance)
		}
		if err == nil || !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), want.reason) {
			t.Errorf("Parse(%q): %v, want GPU instance %d and %q", text, err, want.instance, want.reason)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range setups() {
		f.Add(s.String())
	}
	for _, s := range []string{"", "[", "[(", "[(0.1", "[(0.1)", "[{0.5}+{0.5},1m]", "[(*)+(*),{0.875},1m]", "[{0.5},0.5m]+[", "[(1e309),1m]", "[(..),1m]", "é[(1),1m]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := corun.Parse(text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("Parse(%q) is invalid: %v", text, err)
		}
		if l := s.Layout(); l.Slots != s.Slots() {
			t.Fatalf("Parse(%q): %d slots and a layout of %d", text, s.Slots(), l.Slots)
		}
		again, err := corun.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("Parse(%q) is printed as %s, which is read as %s, %v", text, &s, &again, err)
		}
	})
}
