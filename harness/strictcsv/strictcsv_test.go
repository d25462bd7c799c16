package strictcsv_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"miglab/harness/strictcsv"
)

type Common struct {
	Name string `csv:"name"`
}

type row struct {
	Common
	Note  string  `csv:"note"`
	Count int     `csv:"count"`
	Value float64 `csv:"value"`
}

var format = strictcsv.Format{Columns: strictcsv.Columns[row](), Header: "the header", Empty: "there are no rows"}

func exact() strictcsv.Format {
	f := format
	f.Exact, f.MayBeEmpty = true, []string{"note"}
	return f
}

func TestReadKeepsLines(t *testing.T) {
	text := "\ufeffvalue, count,name,note\r\n\r\n1,2, a ,\"x\ny\"\r\n\"3.5\",4,b,\r\n"
	got, err := strictcsv.Read[row](strings.NewReader(text), "f", format)
	if err != nil {
		t.Fatal(err)
	}
	want := []row{{Common{"a"}, "x\ny", 2, 1}, {Common{"b"}, "", 4, 3.5}}
	if !reflect.DeepEqual(got.Rows, want) || !slices.Equal(got.Lines, []int{3, 5}) {
		t.Errorf("%+v on lines %v", got.Rows, got.Lines)
	}
	if err := got.Fail(1, "note", errors.New("wrong")); err.Error() != "f:5: note: wrong" {
		t.Error(err)
	}
}

func TestReadExact(t *testing.T) {
	text := "name,note,count,value\n\na,,0,NaN\nb,x,-12,+Inf\n"
	got, err := strictcsv.Read[row](strings.NewReader(text), "f", exact())
	if err != nil || len(got.Rows) != 2 || got.Rows[1].Count != -12 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	const header = "name,note,count,value\n"
	for _, c := range []struct {
		f          strictcsv.Format
		text, want string
	}{
		{format, "", "f:1: the file is empty; begin with the header name,note,count,value"},
		{format, "\ufeff\n", "f:1: the file is empty"},
		{format, "\n" + header, "f:2: there are no rows"},
		{format, "name,note,value\n", "f:1: count: the column is missing; the header is name,note,count,value"},
		{format, "name,note,name\n", "f:1: name: the column is there twice"},
		{format, "Name,note,count,value\n", "f:1: Name: unknown column"},
		{format, header + "\na,b,1\n", "f:3: the line has 3 fields, the header 4"},
		{format, header + "a,\"b,1,1\n\n", "f:2: extraneous or missing"},
		{format, header + "a,b,1,1\n\na\x00,b,1,1\n", "f:4: there is a NUL byte"},
		{format, header + strings.Repeat("x", strictcsv.MaxLine+1), "f:2: the line is longer than 1048576 bytes"},
		{exact(), "note,name,count,value\n", `f:1: the header is "note,name,count,value"; it must be "name,note,count,value"`},
		{exact(), header + ",,1,1\n", "f:2: name: must not be empty"},
		{exact(), header + "a ,,1,1\n", `f:2: name: "a " must have no control characters`},
		{exact(), header + "a,,1.5,1\n", `f:2: count: "1.5" is not a whole number`},
		{exact(), header + "a,,010,1\n", `f:2: count: "010" is not a whole number`},
		{exact(), header + "a,,+1,1\n", `f:2: count: "+1" is not a whole number`},
		{exact(), header + "a,,1,0x1p3\n", `f:2: value: "0x1p3" is not a number`},
		{exact(), header + "a,,1,1_000\n", `f:2: value: "1_000" is not a number`},
		{exact(), header + "a,,1,\n", `f:2: value: "" is not a number`},
	} {
		_, err := strictcsv.Read[row](strings.NewReader(c.text), "f", c.f)
		if _, ok := errors.AsType[*strictcsv.Error](err); !ok || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestReadPassesOnErrorsOfTheReader(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := strictcsv.Read[row](iotest.ErrReader(broken), "f", format)
	if _, ok := errors.AsType[*strictcsv.Error](err); ok || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// endless counts how much is read of a text without an end.
type endless struct {
	text []byte
	read int
}

func (e *endless) Read(b []byte) (int, error) {
	n := 0
	for n < len(b) {
		n += copy(b[n:], e.text)
	}
	e.read += n
	return n, nil
}

func TestReadStopsEarly(t *testing.T) {
	for text, most := range map[string]int{"\x00": 1 << 16, "x": 2 * strictcsv.MaxLine} {
		in := &endless{text: []byte(text)}
		_, err := strictcsv.Read[row](in, "f", format)
		if _, ok := errors.AsType[*strictcsv.Error](err); !ok || in.read > most {
			t.Errorf("%q: %v after %d bytes", text, err, in.read)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large.csv")
	if err := errors.Join(os.WriteFile(large, nil, 0o644), os.Truncate(large, strictcsv.MaxBytes+1)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "is a directory", os.DevNull: "is not a regular file", large: "has 268435457 bytes; at most 256 MiB are read", filepath.Join(dir, "none"): "no such file",
	} {
		f, err := strictcsv.Open(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
	if err := os.Truncate(large, 5); err != nil {
		t.Fatal(err)
	}
	f, err := strictcsv.Open(large)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestFloat(t *testing.T) {
	for s, want := range map[string]float64{"1": 1, "-0.5": -0.5, ".5": 0.5, "3e-4": 3e-4, "+2E2": 200, "1e-400": 0} {
		if got, err := strictcsv.Float(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "1_000", "0x1p3", "0X1P3", "inf", "+Inf", "-inf", "Infinity", "NaN", "nan", "1,5", " 1", "1e", "e1", "1e400", "１"} {
		if got, err := strictcsv.Float(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "name,note,count,value\na,,1,2\n", "\ufeffnote,name,value,count\r\n\"x\ny\",\"\",1,2\n", "\"\n\"\n", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []strictcsv.Format{format, exact()} {
			got, err := strictcsv.Read[row](strings.NewReader(text), "f", format)
			if err != nil {
				if e, ok := errors.AsType[*strictcsv.Error](err); !ok || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") {
					t.Fatalf("%T %v", err, err)
				}
				continue
			}
			if len(got.Rows) != len(got.Lines) || len(got.Rows) == 0 || !slices.IsSorted(got.Lines) {
				t.Fatalf("%d rows on lines %v", len(got.Rows), got.Lines)
			}
		}
	})
}
