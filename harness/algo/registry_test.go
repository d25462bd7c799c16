package algo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
)

type nothing struct{}

func (nothing) Schedule(context.Context, algo.Problem) (schedule.Schedule, error) {
	return schedule.Schedule{}, nil
}

var errWidth = errors.New("width is no number")

var _ = algo.Register(algo.Spec{
	Name: "test-wide", Version: 3,
	Params: []algo.Param{
		{Name: "width", Default: "4"},
		{Name: "order", Default: "fifo", Values: []string{"fifo", "lpt"}},
	},
	New: algo.NewBatch(func(a algo.Args) (algo.Batch, error) {
		if strings.Trim(a["width"], "0123456789") != "" {
			return nil, errWidth
		}
		return nothing{}, nil
	}),
})

func TestParseGivesOneIDForOneAlgorithm(t *testing.T) {
	for id, want := range map[string]string{
		"test-wide":                   "test-wide",
		"test-wide?":                  "test-wide",
		"test-wide?width=4":           "test-wide",
		"test-wide?width=7&order=lpt": "test-wide?order=lpt&width=7",
		"test-wide?order=lpt&width=7": "test-wide?order=lpt&width=7",
	} {
		a, err := algo.Parse(id)
		if err != nil || a.ID != want {
			t.Errorf("Parse(%q).ID = %q, %v; want %q", id, a.ID, err, want)
			continue
		}
		if again, err := algo.Parse(a.ID); err != nil || again.ID != a.ID {
			t.Errorf("Parse(%q) is not its own ID: %q, %v", a.ID, again.ID, err)
		}
		if s, err := a.Schedule(context.Background(), algo.Problem{}); err != nil || s.Algorithm != want {
			t.Errorf("the schedule of %q is by %q, %v", id, s.Algorithm, err)
		}
	}
}

func TestParseSaysWhatWouldBeRight(t *testing.T) {
	for id, want := range map[string]string{
		"test-wied":                       `did you mean "test-wide"?`,
		"test-wide?widht=4":               `did you mean "width"?`,
		"test-wide?order=lpd":             `did you mean "lpt"?`,
		"test-wide?order":                 `parameter "order" has no value; give fifo or lpt`,
		"test-wide?width=4&width=5":       "give the parameter once",
		"test-wide?width=x":               errWidth.Error(),
		"test-wide?width=4&&order=fifo&=": "unknown parameter",
	} {
		if _, err := algo.Parse(id); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v; want it to contain %q", id, err, want)
		}
	}
	var unknown *nearest.UnknownError
	if _, err := algo.Parse("test-wied"); !errors.As(err, &unknown) || unknown.Nearest != "test-wide" {
		t.Errorf("Parse(test-wied): %#v", err)
	}
}

func TestRegisterPanicsOnMistakes(t *testing.T) {
	batch := algo.NewBatch(func(algo.Args) (algo.Batch, error) { return nothing{}, nil })
	for name, s := range map[string]algo.Spec{
		"duplicate":       {Name: "test-wide", New: batch},
		"no name":         {New: batch},
		"name with query": {Name: "a?b", New: batch},
		"no constructor":  {Name: "test-none"},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			algo.Register(s)
		}()
	}
}

// A name with a prefix is found without asking what it names, and asked for a track.
func TestPrefixesAreOpenedForATrack(t *testing.T) {
	opened := 0
	algo.RegisterPrefix("test-prefix:", func(name string) (algo.Spec, error) {
		s := algo.Spec{
			Name: strings.ToLower(name), Params: []algo.Param{{Name: "width", Default: "4"}},
			Weights: func(algo.Args) string { return "content" },
		}
		s.Open = func(a algo.Args, track string) (algo.Spec, error) {
			opened++
			if track != algo.TrackBatch || a["width"] != "5" {
				return algo.Spec{}, errWidth
			}
			own := s
			own.Version, own.Track = 7, track
			own.New = algo.NewBatch(func(algo.Args) (algo.Batch, error) { return nothing{}, nil })
			return own, nil
		}
		return s, nil
	})
	const id = "test-prefix:a b?width=5"
	a, err := algo.Parse("test-prefix:A b?width=5")
	if err != nil || a.ID != id || a.Weights() != "content" || opened != 0 {
		t.Errorf("Parse: %q of weights %q, opened %d times, %v", a.ID, a.Weights(), opened, err)
	}
	a, err = algo.ParseFor(id, algo.TrackBatch)
	if err != nil || a.ID != id || a.Spec.Version != 7 {
		t.Errorf("ParseFor: %q of version %d, %v", a.ID, a.Spec.Version, err)
	}
	if s, err := a.Schedule(context.Background(), algo.Problem{}); err != nil || s.Algorithm != id {
		t.Errorf("the schedule is by %q, %v", s.Algorithm, err)
	}
	if _, err := algo.ParseFor(id, algo.TrackStream); !errors.Is(err, errWidth) {
		t.Errorf("ParseFor another track: %v", err)
	}
	if _, err := algo.ParseFor("test-wide", algo.TrackStream); err == nil || !strings.Contains(err.Error(), `"test-wide" is of the batch track`) {
		t.Errorf("ParseFor of an algorithm of another track: %v", err)
	}
}
