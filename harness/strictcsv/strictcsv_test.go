package strictcsv_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
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

// read reads a sheet, or a table if it is exact.
func read(text string, exact bool) ([]int, error) {
	if exact {
		t, err := strictcsv.Read[row](strings.NewReader(text), "f", format.Empty, "note")
		if err != nil {
			return nil, err
		}
		return t.Lines[:len(t.Rows)], nil
	}
	s, err := strictcsv.ReadSheet(strings.NewReader(text), "f", format)
	if err != nil {
		return nil, err
	}
	return s.Lines[:s.Len()], nil
}

func TestReadKeepsLines(t *testing.T) {
	text := "\ufeffvalue, count,name,note\r\n\r\n1,2, a ,\"x\ny\"\r\n\"3.5\",4,b,\r\n"
	got, err := strictcsv.ReadSheet(strings.NewReader(text), "f", format)
	if err != nil {
		t.Fatal(err)
	}
	all := strictcsv.Range{Least: 0, Most: 4, What: "a small number"}
	var rows []row
	for i := range got.Len() {
		rows = append(rows, row{
			Common{got.Text(i, "name")}, got.Text(i, "note"), got.Whole(i, "count", all), got.Number(i, "value", all),
		})
	}
	want := []row{{Common{"a"}, "x\ny", 2, 1}, {Common{"b"}, "", 4, 3.5}}
	if !slices.Equal(rows, want) || !slices.Equal(got.Lines, []int{3, 5}) || got.Err != nil {
		t.Errorf("%+v on lines %v, %v", rows, got.Lines, got.Err)
	}
	if got.Whole(1, "value", all); got.Err == nil || got.Err.Error() != `f:5: value: "3.5" is not a small number` {
		t.Error(got.Err)
	}
	if got.Has("none") || got.Text(0, "none") != "" {
		t.Error("there is a column that the file lacks")
	}
	if err := got.Fail(1, "note", errors.New("wrong")); err.Error() != "f:5: note: wrong" {
		t.Error(err)
	}
}

func TestReadExact(t *testing.T) {
	text := "name,note,count,value\n\na,,0,NaN\nb,x,-12,+Inf\n"
	got, err := strictcsv.Read[row](strings.NewReader(text), "f", format.Empty, "note")
	if err != nil || len(got.Rows) != 2 || got.Rows[1] != (row{Common{"b"}, "x", -12, math.Inf(1)}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	const header = "name,note,count,value\n"
	for _, c := range []struct {
		exact      bool
		text, want string
	}{
		{false, "", "f:1: the file is empty; begin with the header name,note,count,value"},
		{false, "\ufeff\n", "f:1: the file is empty"},
		{false, "\n" + header, "f:2: there are no rows"},
		{false, "name,note,value\n", "f:1: count: the column is missing; the header is name,note,count,value"},
		{false, "name,note,name\n", "f:1: name: the column is there twice"},
		{false, "Name,note,count,value\n", "f:1: Name: unknown column"},
		{false, header + "\na,b,1\n", "f:3: the line has 3 fields, the header 4"},
		{false, header + "a,\"b,1,1\n\n", "f:2: extraneous or missing"},
		{false, header + "a,b,1,1\n\na\x00,b,1,1\n", "f:4: there is a NUL byte"},
		{false, header + strings.Repeat("x", strictcsv.MaxLine+1), "f:2: the line is longer than 1048576 bytes"},
		{true, "note,name,count,value\n", `f:1: the header is "note,name,count,value"; it must be "name,note,count,value"`},
		{true, header + ",,1,1\n", "f:2: name: must not be empty"},
		{true, header + "a ,,1,1\n", `f:2: name: "a " must have no control characters`},
		{true, header + "a,,1.5,1\n", `f:2: count: "1.5" is not a whole number`},
		{true, header + "a,,010,1\n", `f:2: count: "010" is not a whole number`},
		{true, header + "a,,+1,1\n", `f:2: count: "+1" is not a whole number`},
		{true, header + "a,,1,0x1p3\n", `f:2: value: "0x1p3" is not a number`},
		{true, header + "a,,1,1_000\n", `f:2: value: "1_000" is not a number`},
		{true, header + "a,,1,\n", `f:2: value: "" is not a number`},
	} {
		_, err := read(c.text, c.exact)
		if _, ok := errors.AsType[*strictcsv.Error](err); !ok || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestReadPassesOnErrorsOfTheReader(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := strictcsv.ReadSheet(iotest.ErrReader(broken), "f", format)
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
		_, err := strictcsv.ReadSheet(in, "f", format)
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
		for _, exact := range []bool{false, true} {
			lines, err := read(text, exact)
			if err != nil {
				if e, ok := errors.AsType[*strictcsv.Error](err); !ok || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") {
					t.Fatalf("%T %v", err, err)
				}
				continue
			}
			if len(lines) == 0 || !slices.IsSorted(lines) {
				t.Fatalf("rows on lines %v", lines)
			}
		}
	})
}

func TestSheetKeepsTheFirstError(t *testing.T) {
	in, err := strictcsv.ReadSheet(strings.NewReader("name,note,count,value\na,b,9,-0\n"), "f", format)
	all := strictcsv.Range{Most: 8, What: "a number up to 8"}
	if err != nil || math.Signbit(in.Number(0, "value", all)) || in.Err != nil {
		t.Fatal(err, in.Err)
	}
	in.Whole(0, "count", all)
	in.Number(0, "note", all)
	if want := `f:2: count: "9" is not a number up to 8`; in.Err == nil || in.Err.Error() != want {
		t.Errorf("%v, want %s", in.Err, want)
	}
}

func TestTruthValues(t *testing.T) {
	type row struct {
		Yes  bool `csv:"yes"`
		None bool `csv:"none"`
	}
	read := func(text string) (*strictcsv.Table[row], error) {
		return strictcsv.Read[row](strings.NewReader("yes,none\n"+text+"\n"), "f.csv", "there are no rows", "none")
	}
	if got, err := read("true,"); err != nil || got.Rows[0] != (row{true, false}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"1,":    `f.csv:2: yes: "1" is neither true nor false`,
		",true": `f.csv:2: yes: "" is neither true nor false`,
	} {
		if _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
