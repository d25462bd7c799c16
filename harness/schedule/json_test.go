package schedule_test

import (
	"bytes"
	_ "embed"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// two is a problem of two tasks, and small is a schedule for it.
var two = schedule.Problem{
	GPU: a100,
	Tasks: task.Batch{
		task.New("lud", map[mig.Slices]mig.Seconds{3: 1.5}),
		task.New("gaussian", map[mig.Slices]mig.Seconds{4: 2}),
	},
}

//go:embed testdata/schedule.json
var small string

func decode(text string) (schedule.Schedule, error) {
	return schedule.Decode(strings.NewReader(text), two)
}

func TestDecodedScheduleIsValidAndEncodesToTheSameBytes(t *testing.T) {
	s, err := decode(small)
	if err != nil {
		t.Fatal(err)
	}
	if found := schedule.Check(two, s); found != nil {
		t.Errorf("%v", found)
	}
	if s.Algorithm != "far?refine=false" || s.Counters["moves"] != 2 {
		t.Errorf("%+v", s)
	}
	s.Placements[0], s.Placements[1] = s.Placements[1], s.Placements[0]
	s.Operations[0], s.Operations[1] = s.Operations[1], s.Operations[0]
	var b bytes.Buffer
	if err := schedule.Encode(&b, two, s); err != nil {
		t.Fatal(err)
	}
	if b.String() != small {
		t.Errorf("got %s", b.String())
	}
}

func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, s := drawValid(t, 12, true)
		if rapid.Bool().Draw(t, "counted") {
			s.Counters = map[string]int{"moves": rapid.Int().Draw(t, "moves"), "<swaps>": 1}
		}
		var first, second bytes.Buffer
		if err := schedule.Encode(&first, p, s); err != nil {
			t.Fatal(err)
		}
		back, err := schedule.Decode(bytes.NewReader(first.Bytes()), p)
		if err != nil {
			t.Fatal(err)
		}
		before, err := schedule.Measure(p, s)
		if err != nil {
			t.Fatal(err)
		}
		after, err := schedule.Measure(p, back)
		if err != nil {
			t.Fatal(err)
		}
		if before != after {
			t.Fatalf("measured %+v before and %+v after", before, after)
		}
		r := rand.New(rand.NewPCG(1, 2))
		r.Shuffle(len(back.Placements), func(i, j int) {
			back.Placements[i], back.Placements[j] = back.Placements[j], back.Placements[i]
		})
		if err := schedule.Encode(&second, p, back); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Fatalf("wrote %s and then %s", &first, &second)
		}
		if !reflect.DeepEqual(s.Counters, back.Counters) {
			t.Fatalf("counters %v became %v", s.Counters, back.Counters)
		}
	})
}

func TestAnEmptyScheduleHasEmptyLists(t *testing.T) {
	var b bytes.Buffer
	empty := schedule.Problem{GPU: a100}
	if err := schedule.Encode(&b, empty, schedule.Schedule{GPU: a100}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"placements": []`) || strings.Contains(b.String(), "null") {
		t.Errorf("got %s", &b)
	}
	if _, err := schedule.Decode(&b, empty); err != nil {
		t.Error(err)
	}
}

func TestDecodeSaysWhereAndWhatWouldBeRight(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"empty", small, "", "line 1: the text is incomplete; it ends at byte 0"},
		{"truncated", small[200:], "", "line 11: the text is incomplete; it ends at byte 200"},
		{"within a word", small[150:], "", "the text is incomplete; it ends at byte 150"},
		{"no comma", `"size": 4,`, `"size": 4`, "line 11: placements[0]: this is not JSON at byte 199: "},
		{"NaN", `"start_s": 0.21`, `"start_s": NaN`, "line 12: placements[0].start_s: this is not JSON at byte 229: "},
		{"comma at the end", "    }\n  ],", "    },\n  ],", "this is not JSON at byte"},
		{"more text", small, small + "\n{}", "line 48: there is more text after the end, at byte"},
		{"a list", small, "[]", "line 1: a list is not an object"},
		{"unknown field", `"algorithm"`, `"algoritm"`, `line 3: unknown field "algoritm"; did you mean "algorithm"?`},
		{"case", `"gpu": "A100"`, `"GPU": "A100"`, `line 2: unknown field "GPU"; did you mean "gpu"?`},
		{"unknown inner field", `"slice": 4`, `"slices": 4`, `line 19: placements[1]: unknown field "slices"; did you mean "slice"?`},
		{"twice", `"size": 3,`, `"size": 3, "size": 3,`, "line 18: placements[1].size: the field is there twice"},
		{"missing", `"algorithm": "far?refine=false",`, "", "algorithm: the field is missing"},
		{"missing inside", `"op": "create",`, "", "line 32: reconfigurations[0].op: the field is missing"},
		{"no list", "[\n    {\n      \"task\"", "{\"a\": [\n    {\n      \"task\"", "line 6: placements: an object is not a list"},
		{"null", `"A100"`, "null", "line 2: gpu: null is not a string"},
		{"unknown GPU", `"A100"`, `"A101"`, `line 2: gpu: unknown GPU "A101"; did you mean "A100"?`},
		{"other GPU", `"A100"`, `"H100"`, "line 2: gpu: the schedule is for H100, the problem for A100"},
		{"unknown model", `"sequential"`, `"sequental"`, `line 4: reconfiguration: unknown reconfiguration model "sequental"; did you mean "sequential"?`},
		{"unknown task", `"lud"`, `"ldu"`, `line 16: placements[1].task: unknown task "ldu"; did you mean "lud"?`},
		{"unknown operation", `"create"`, `"creat"`, `line 26: reconfigurations[0].op: unknown operation "creat"; did you mean "create"?`},
		{"size", `"size": 3`, `"size": 5`, "line 18: placements[1].size: A100 has no instances of size 5"},
		{"slice", `"slice": 4`, `"slice": 3`, "line 18: placements[1].size: A100 cannot place size 3 at slice 3; it may start at [0 4]"},
		{"size in words", `"size": 3`, `"size": "3"`, `line 18: placements[1].size: "3" is not a whole number`},
		{"half a slice", `"size": 3`, `"size": 3.5`, "line 18: placements[1].size: 3.5 is not a whole number"},
		{"seconds in words", `"end_s": 2.21`, `"end_s": "2.21"`, `line 13: placements[0].end_s: "2.21" is not a number`},
		{"too large", `"end_s": 2.21`, `"end_s": 1e400`, "line 13: placements[0].end_s: 1e400 is too large for a number"},
		{"makespan", `"makespan_s": 2.21`, `"makespan_s": 2.2`, "line 5: makespan_s: 2.2 is not the end of the last task, which is 2.21"},
		{"counter", `"moves": 2`, `"moves": 2.5`, "counters.moves: 2.5 is not a whole number"},
		{"counter twice", `"swaps": 0`, `"moves": 0`, "counters.moves: the field is there twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(small, c.old, c.new, 1)
			if text == small {
				t.Fatal("the edit changes nothing")
			}
			_, err := decode(text)
			if _, ok := errors.AsType[*schedule.FormatError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %T %v, want %q", err, err, c.want)
			}
		})
	}
}

func TestAnInvalidScheduleCanBeWrittenAndRead(t *testing.T) {
	text := strings.NewReplacer(`"gpu": 0`, `"gpu": 7`, `"start_s": 0.21`, `"start_s": -4`).Replace(small)
	s, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(schedule.Check(two, s)) == 0 {
		t.Error("the referee finds nothing")
	}
}

func TestEncodeRefusesWhatTheFormatCannotHold(t *testing.T) {
	for _, c := range []struct {
		path string
		edit func(*schedule.Problem, *schedule.Schedule)
	}{
		{"gpu", func(_ *schedule.Problem, s *schedule.Schedule) { s.GPU = nil }},
		{"reconfiguration", func(_ *schedule.Problem, s *schedule.Schedule) { s.Model = 3 }},
		{"algorithm", func(_ *schedule.Problem, s *schedule.Schedule) { s.Algorithm = "\xff" }},
		{"counters", func(_ *schedule.Problem, s *schedule.Schedule) { s.Counters = map[string]int{"\xff": 1} }},
		{"placements[1].task", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].Task = 2 }},
		{"placements[0].task", func(p *schedule.Problem, _ *schedule.Schedule) { p.Tasks[1].Name = "\xff" }},
		{"placements[0].task", func(p *schedule.Problem, _ *schedule.Schedule) { p.Tasks[1].Name = "lud" }},
		{"placements[0].task", func(p *schedule.Problem, s *schedule.Schedule) { // the placement is the last task's
			p.Tasks[1].Name, s.Placements = p.Tasks[0].Name, s.Placements[:1]
		}},
		{"placements[1].size", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].Instance = media(4) }},
		{"placements[1].size", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].Instance.Profile = nil }},
		{"placements[1].slice", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].Instance.Start = 5 }},
		{"placements[1].end_s", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].End = inf }},
		{"placements[0].start_s", func(_ *schedule.Problem, s *schedule.Schedule) { s.Placements[1].Start = nan }},
		{"reconfigurations[0].op", func(_ *schedule.Problem, s *schedule.Schedule) { s.Operations[0].Op = 2 }},
		{"reconfigurations[1].end_s", func(_ *schedule.Problem, s *schedule.Schedule) { s.Operations[1].End = -inf }},
	} {
		s, err := decode(small)
		if err != nil {
			t.Fatal(err)
		}
		p := two
		p.Tasks = append(task.Batch{}, two.Tasks...)
		c.edit(&p, &s)
		err = schedule.Encode(&bytes.Buffer{}, p, s)
		if f, ok := errors.AsType[*schedule.FormatError](err); !ok || f.Path != c.path || f.Line != 0 {
			t.Errorf("got %v, want an error about %s", err, c.path)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(small)
	f.Add(strings.Replace(small, `"gpu": 0`, `"gpu": -1`, 1))
	f.Add(small[:300])
	f.Add(`{"counters":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := decode(text)
		if err != nil {
			if _, ok := errors.AsType[*schedule.FormatError](err); !ok {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		schedule.Check(two, s)
		var b bytes.Buffer
		if err := schedule.Encode(&b, two, s); err != nil {
			t.Fatal(err)
		}
		back, err := decode(b.String())
		if err != nil {
			t.Fatalf("cannot read %s: %v", &b, err)
		}
		var again bytes.Buffer
		if err := schedule.Encode(&again, two, back); err != nil || again.String() != b.String() {
			t.Fatalf("%v: wrote %s and then %s", err, &b, &again)
		}
	})
}

// A schedule names its GPU, and no file is opened for that: programs write schedules.
func TestDecodeOpensNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gpu.json")
	model := strings.Replace(string(a100.JSON()), `"A100"`, `"Read-1SM"`, 1)
	model = strings.Replace(model, `"A100-SXM4-40GB"`, `"Read-1SM-40GB"`, 1)
	if err := os.WriteFile(file, []byte(model), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := schedule.Decode(strings.NewReader(strings.Replace(small, `"gpu": "A100"`, strconv.Quote("gpu")+": "+strconv.Quote(file), 1)), two)
	if _, ok := errors.AsType[*nearest.UnknownError](err); !ok {
		t.Errorf("%v; want an unknown GPU", err)
	}
	if g, err := new(mig.Catalog).Lookup("Read-1SM"); err == nil {
		t.Errorf("the model %s was read from the file", g)
	}
}
