package strictjson_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/nearest"
	"miglab/harness/strictjson"
)

type inner struct {
	Size  int       `json:"size"`
	Times []float64 `json:"times"`
}

type message struct {
	Type string           `json:"type"`
	ID   *int64           `json:"id"`
	In   inner            `json:"in"`
	More []inner          `json:"more"`
	By   map[int]float64  `json:"by"`
	Sub  map[string]inner `json:"sub"`
}

func TestUnmarshal(t *testing.T) {
	m := message{Type: "before"}
	text := "{\n \"id\": 7, \"in\": {\"size\": 3, \"times\": [1, 2.5e3]}, \"by\": {\"2\": 4}}\n"
	if err := strictjson.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	if m.Type != "before" || *m.ID != 7 || m.In.Size != 3 || m.In.Times[1] != 2500 || m.By[2] != 4 {
		t.Errorf("%+v", m)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "line 1: the text is incomplete; it ends at byte 0"},
		{"{\n\"id\":", "line 2: the text is incomplete; it ends at byte 7"},
		{"{\n\"id\": 1}}", "line 2: there is more text after the end, at byte 10"},
		{"{} \n\n {}", "line 3: there is more text after the end, at byte 7"},
		{"{\n\"TYPE\": \"x\"}", `line 2: unknown field "TYPE"; did you mean "type"? (known: `},
		{"{\"in\": {\n\"sizes\": 1}}", `line 2: in: unknown field "sizes"; did you mean "size"? (known: size, times)`},
		{"{\"id\": 1,\n\"id\": 2}", "line 2: id: the field is there twice"},
		{"{\"by\": {\"1\": 2,\n\"1\": 2}}", "line 2: by.1: the field is there twice"},
		{"{\"type\":\n5}", "line 2: type: 5 is not a string"},
		{"null", "line 1: null is not an object"},
		{"{\"type\":\nnull}", "line 2: type: null is not a string"},
		{"{\"id\": null}", "line 1: id: null is not a whole number"},
		{"{\"in\": {\"times\": [1,\nnull]}}", "line 2: in.times[1]: null is not a number"},
		{"{\"more\": null}", "line 1: more: null is not a list"},
		{"{\"in\": {\"size\": \"3\"}}", "line 1: in.size: \"3\" is not a whole number"},
		{"{\"more\": [{},\n{\"times\": [1,\n\"x\"]}]}", "line 3: more[1].times[1]: \"x\" is not a number"},
		{"{\"sub\": {\"0\": []}}", "line 1: sub.0: a list is not an object"},
		{"{\"in\": {\"size\": 99999999999999999999}}", "line 1: in.size: 99999999999999999999 is too large for a whole number"},
		{"{\"type\": \"\xff\"}", "this is not JSON at byte"},
		{"{\"id\": 0x1}", "this is not JSON at byte"},
		{strings.Repeat("[", 20000), "is not an object"},
		{"{\"type\": [" + strings.Repeat("[", 20000), "exceeded max depth"},
		{"{\"in\": {\"size\": " + strings.Repeat("9", 5000) + "}}", "999..."},
	} {
		var m message
		err := strictjson.Unmarshal([]byte(c.text), &m)
		e, ok := errors.AsType[*strictjson.Error](err)
		if !ok || !strings.Contains(err.Error(), c.want) || e.Line < 1 || len(err.Error()) > 400 {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
}

// A record has members that must be there and members that may be missing.
type record struct {
	Name   string         `json:"name"`
	On     bool           `json:"on,omitzero"`
	List   []float64      `json:"list,omitempty"`
	Counts map[string]int `json:"counts,omitempty"`
	More   []record       `json:"more,omitempty"`
	Own    *record        `json:"own,omitempty"`
}

func TestCompleteSaysWhere(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\"name\": \"a\",\n\"on\": true, \"list\": [1, -2e3], \"counts\": {\"a.b\": 1}, \"more\": [{\"name\": \"b\"}]}", ""},
		{"null", "line 1: null is not an object"},
		{"{\n}", "line 2: name: the field is missing"},
		{"{\"name\": \"a\", \"more\": [{\"name\": \"b\"},\n{\"more\": []}]}", "line 2: more[1].name: the field is missing"},
		{"{\"name\": \"a\", \"own\": {\"on\":\ntrue\n}}", "line 3: own.name: the field is missing"},
		{"{\n\"nam\": 1}", `line 2: unknown field "nam"; did you mean "name"?`},
		{"{\"name\": \"a\",\n\"name\": \"a\"}", "line 2: name: the field is there twice"},
		{`"a"`, `line 1: "a" is not an object`},
		{"{\"name\":\nnull}", "line 2: name: null is not a string"},
		{"{\"on\":\n1}", "line 2: on: 1 is not true or false"},
		{"{\"list\": [1,\n\n{}]}", "line 3: list[1]: an object is not a number"},
		{"{\"list\": [1e999]}", "line 1: list[0]: 1e999 is too large for a number"},
		{"{\"counts\": {\"a\": 1,\n\"a\": 1}}", "line 2: counts.a: the field is there twice"},
		{"{\"counts\": {\"a\": 1.0}}", "line 1: counts.a: 1.0 is not a whole number"},
		{"{\"list\": [1,\n]}", "line 1: list: this is not JSON at byte 11: "},
		{"{\"list\": [1}", "line 1: list: this is not JSON at byte 11: "},
		{"{\"name\": \"a\"}\n]", "line 2: there is more text after the end, at byte 14"},
		{"{\"name\": \"a\"", "line 1: the text is incomplete"},
	} {
		_, err := strictjson.Read(iotest.OneByteReader(strings.NewReader(c.text)), "r", new(record))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	_, err := strictjson.Read(strings.NewReader(`{"nam": 1}`), "r", new(record))
	if u, ok := errors.AsType[*nearest.UnknownError](err); !ok || u.Nearest != "name" {
		t.Errorf("%v", err)
	}
}

// A mistake that the caller finds later is at the line of its value.
func TestFaultsAreLocated(t *testing.T) {
	const text = "{\"own\": {\"name\": \"a\", \"more\": [{},\n{\"name\":\n7}]}}"
	for at, want := range map[jsontext.Pointer]string{
		"/more/1/name": "line 3: own.more[1].name: wrong", "/more/0": "line 1: own.more[0]: wrong", "": "line 1: own: wrong",
	} {
		err := strictjson.Locate([]byte(text), "/own", &strictjson.Fault{At: at, Err: errors.New("wrong")})
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := strictjson.Locate([]byte(text), "/own", io.EOF); err != io.EOF {
		t.Errorf("%v", err)
	}
}

func TestErrorsOfTheReaderArePassedOn(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, text := range []string{"", `{"name": `, `{"name": "a"} `} {
		_, err := strictjson.Read(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "r", new(record))
		if _, ok := errors.AsType[*strictjson.Error](err); ok || !errors.Is(err, broken) {
			t.Errorf("after %q: %v", text, err)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for _, s := range []string{"", "{}", `{"name": "a", "list": [1, 2], "counts": {"a": 1}}`, `{"name":"\u00e9","on":false}`, "[", "{\"a\"\n:1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, err := range []error{
			strictjson.Complete([]byte(text), new(record)), strictjson.Unmarshal([]byte(text), new(message)),
		} {
			if e, ok := errors.AsType[*strictjson.Error](err); err != nil && (!ok || e.Line < 1 || e.Line > 1+strings.Count(text, "\n")) {
				t.Fatalf("%T %v", err, err)
			}
		}
	})
}
