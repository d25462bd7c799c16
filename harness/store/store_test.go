package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func cell(instance int) string {
	return fmt.Sprintf(`{"track":"batch","dataset":"far/MIXEDSCALING+WIDETIMES?n=14&psup=50","gpu":"A100","count":1,"algorithm":"far","model":"sequential","version":1,"instance":%d}`, instance)
}

func result(instance int, makespan float64) Record {
	return Record{
		Row: Row{Cell: cell(instance), Metrics: Metrics{
			{"makespan_s", makespan}, {"reconfiguration_s", 1.5}, {"reconfigurations", 4}, {"utilisation", 0.75},
		}},
		Took: time.Duration(instance) * time.Microsecond,
	}
}

func failure(instance int, kind, text string) Record {
	return Record{Row: Row{Cell: cell(instance), Kind: kind, Error: text}}
}

// write appends to shard index of n in dir and closes it.
func write(t testing.TB, dir string, index, n int, records ...Record) {
	t.Helper()
	w, err := mustOpen(t, dir).Writer(index, n)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(records...); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func export(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "new", "results.csv")
	if err := mustOpen(t, dir).Export(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func shard(dir string) string { return filepath.Join(dir, "results-0of1.jsonl") }

func TestLinesAreAsDocumented(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 1,
		Record{Row: Row{Cell: `{"track":"batch","instance":0}`, Metrics: Metrics{{"makespan_s", 12.5}, {"moves", 3}}}, Took: 12250 * time.Nanosecond},
		Record{Row: Row{Cell: `{"track":"batch","instance":1}`, Kind: "infeasible", Error: "task \"a\" & <b>"}})
	got, err := os.ReadFile(shard(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"miglab":"results","format":1}
{"cell":{"track":"batch","instance":0},"metrics":{"makespan_s":12.5,"moves":3}}
{"cell":{"track":"batch","instance":1},"kind":"infeasible","error":"task \"a\" & <b>"}
`
	if string(got) != want {
		t.Errorf("results shard:\n%s\nwant:\n%s", got, want)
	}
	got, err = os.ReadFile(filepath.Join(dir, "timing-0of1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	// The key is the cell's digest as sha256sum prints it.
	want = `{"miglab":"timing","format":1}
{"key":"` + KeyOf([]byte(`{"track":"batch","instance":0}`)).String() + `","us":12.25}
`
	if string(got) != want {
		t.Errorf("timing shard:\n%s\nwant:\n%s", got, want)
	}
}

func TestKey(t *testing.T) {
	// printf '{"instance":1}' | sha256sum
	const want = "24891f655fcbb1e0bf47135efdfbdcbb0aeade8a74fd956e5ca8c4471523255b"
	r := Row{Cell: `{"instance":1}`}
	if got := r.Key().String(); got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

func TestReopen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "by", "the", "writer")
	write(t, dir, 0, 1, result(1, 10), failure(2, "panic", "index\nout of range \xff"))
	s := mustOpen(t, dir)
	if s.Len() != 2 {
		t.Fatalf("%d rows, want 2", s.Len())
	}
	got, ok := s.Get(KeyOf([]byte(cell(1))))
	if want := result(1, 10).Row; !ok || got.Cell != want.Cell || !got.same(&want) {
		t.Errorf("got %v %v, want %v", got, ok, want)
	}
	if v, ok := got.Metrics.Get("utilisation"); !ok || v != 0.75 {
		t.Errorf("utilisation = %v, %v", v, ok)
	}
	if _, ok := got.Metrics.Get("bound_s"); ok {
		t.Error("found a metric that is not there")
	}
	if got, ok := s.Get(KeyOf([]byte(cell(2)))); !ok || got.Kind != "panic" || got.Error != "index\nout of range \uFFFD" {
		t.Errorf("got %v %v", got, ok)
	}
	if _, ok := s.Get(KeyOf([]byte(cell(3)))); ok {
		t.Error("found a row that is not there")
	}
	timings, err := s.Timings()
	if err != nil {
		t.Fatal(err)
	}
	if len(timings) != 1 || timings[KeyOf([]byte(cell(1)))] != 1 {
		t.Errorf("timings %v", timings)
	}
}

func TestExport(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 1, 2, result(10, 1e21), failure(9, "infeasible", "a, \"b\""))
	write(t, dir, 0, 2, result(2, 0.1), Record{Row: Row{Cell: `{"track":"bound","load":0.85}`, Metrics: Metrics{{"bound_s", 3}}}})
	const id = "batch,far/MIXEDSCALING+WIDETIMES?n=14&psup=50,A100,1,far,sequential,1,"
	want := `track,dataset,gpu,count,algorithm,model,version,instance,load,bound_s,makespan_s,reconfiguration_s,reconfigurations,utilisation,kind,error
` + id + `2,,,0.1,1.5,4,0.75,,
` + id + `9,,,,,,,infeasible,"a, ""b"""
` + id + `10,,,1e+21,1.5,4,0.75,,
bound,,,,,,,,0.85,3,,,,,,
`
	if got := export(t, dir); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestDuplicatesAreHarmless(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 2, result(1, 10), result(1, 10))
	slower := result(1, 10)
	slower.Took = time.Second
	copied := t.TempDir()
	write(t, copied, 1, 2, slower, result(2, 20))
	for _, name := range []string{"results-1of2.jsonl", "timing-1of2.jsonl"} {
		if err := os.Rename(filepath.Join(copied, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, dir)
	if s.Len() != 2 {
		t.Errorf("%d rows, want 2", s.Len())
	}
	timings, err := s.Timings()
	if err != nil {
		t.Fatal(err)
	}
	if got := timings[KeyOf([]byte(cell(1)))]; got != 1 {
		t.Errorf("took %v us, want the least, 1", got)
	}
}

func TestConflict(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 2, result(1, 10))
	s := mustOpen(t, dir)
	w, err := s.Writer(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var conflict *ConflictError
	if err := w.Append(result(2, 20), result(1, 11)); !errors.As(err, &conflict) {
		t.Fatalf("append: %v", err)
	}
	if conflict.First != (Origin{"results-0of2.jsonl", 2}) || conflict.Second != (Origin{"results-1of2.jsonl", 0}) {
		t.Errorf("origins %v and %v", conflict.First, conflict.Second)
	}

	other := t.TempDir()
	write(t, other, 1, 3, result(3, 30), result(1, 11))
	if err := os.Rename(filepath.Join(other, "results-1of3.jsonl"), filepath.Join(dir, "results-1of3.jsonl")); err != nil {
		t.Fatal(err)
	}
	_, err = Open(dir)
	if !errors.As(err, &conflict) {
		t.Fatalf("open: %v", err)
	}
	for _, part := range []string{cell(1), "results-0of2.jsonl:2", "makespan_s = 10,", "results-1of3.jsonl:3", "makespan_s = 11,"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %q", err, part)
		}
	}
}

func TestTimeoutSettlesNothing(t *testing.T) {
	timeout := failure(1, KindTimeout, "took longer than 1s")
	for name, records := range map[string][]Record{
		"result last":  {timeout, result(1, 10)},
		"result first": {result(1, 10), timeout},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, 0, 1, records...)
			if got := export(t, dir); !strings.Contains(got, ",10,") || strings.Contains(got, "timeout") {
				t.Errorf("exported\n%s", got)
			}
		})
	}
}

func TestTruncatedLastLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, 0, 1, result(1, 10), result(2, 20))
	whole, err := os.ReadFile(shard(dir))
	if err != nil {
		t.Fatal(err)
	}
	want := export(t, dir)
	header := strings.IndexByte(string(whole), '\n') + 1
	for size := range len(whole) {
		if err := os.WriteFile(shard(dir), whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		complete := 0
		if size >= header {
			complete = strings.Count(string(whole[header:size]), "\n")
		}
		if got := mustOpen(t, dir).Len(); got != complete {
			t.Fatalf("cut to %d bytes: %d rows, want %d", size, got, complete)
		}
		if size%7 != 0 { // what follows waits for the disk
			continue
		}
		write(t, dir, 0, 1, result(1, 10), result(2, 20))
		if got := export(t, dir); got != want {
			t.Fatalf("cut to %d bytes and resumed:\n%s", size, got)
		}
	}
}

func TestBadShards(t *testing.T) {
	const header = `{"miglab":"results","format":1}` + "\n"
	row := string(appendRow(nil, &Row{Cell: cell(1), Metrics: Metrics{{"makespan_s", 1}}}))
	for name, test := range map[string]struct{ data, want string }{
		"garbage in the middle": {header + row + "\x00\x00\n" + row, "results-0of1.jsonl:3: column 1: expected {\"cell\":; delete the line; its cell will be computed again"},
		"half a line":           {header + row[:50] + "\n" + row, "results-0of1.jsonl:2: column"},
		"an empty line":         {header + "\n" + row, "results-0of1.jsonl:2: column 1"},
		"trailing data":         {header + strings.TrimSuffix(row, "\n") + " \n", "expected the end of the line"},
		"white space":           {header + strings.Replace(row, ":", ": ", 1) + row, "results-0of1.jsonl:2: column 9: expected {"},
		"a number too large":    {header + `{"cell":{"i":1},"metrics":{"x":1e400}}` + "\n", "expected a number below"},
		"not a number":          {header + `{"cell":{"i":1},"metrics":{"x":NaN}}` + "\n", "expected a digit"},
		"metrics out of order":  {header + `{"cell":{"i":1},"metrics":{"b":1,"a":1}}` + "\n", "ascending"},
		"no metrics":            {header + `{"cell":{"i":1},"metrics":{}}` + "\n", "results-0of1.jsonl:2: column"},
		"no error":              {header + `{"cell":{"i":1},"kind":"panic","error":""}` + "\n", "says something"},
		"another spelling":      {header + `{"cell":{"i":"\u0041"},"metrics":{"b":1}}` + "\n", "as few escapes"},
		"no header":             {row + row, `results-0of1.jsonl:1: the first line is not {"miglab":"results","format":1}`},
		"timing as results":     {`{"miglab":"timing","format":1}` + "\n", "results-0of1.jsonl:1: the first line"},
		"another format":        {`{"miglab":"results","format":2,"more":true}` + "\n" + "whatever\n", "has format 2 and this program reads format 1"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(shard(dir), []byte(test.data), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			var line *LineError
			var format *FormatError
			if !errors.As(err, &line) && !errors.As(err, &format) {
				t.Errorf("error of type %T", err)
			}
		})
	}
}

func TestFirstBadLineOfManyIsNamed(t *testing.T) {
	var b strings.Builder
	b.WriteString(results.header() + "\n")
	for i := range 20000 { // several blocks
		r := result(i, 1)
		if i == 12000 || i == 19000 {
			b.WriteString("bad\n")
		}
		b.Write(appendRow(nil, &r.Row))
	}
	dir := t.TempDir()
	if err := os.WriteFile(shard(dir), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var line *LineError
	if _, err := Open(dir); !errors.As(err, &line) || line.Line != 12002 {
		t.Errorf("got %v, want line 12002", err)
	}
}

func TestLineLongerThanABlock(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 3*blockSize+1)
	write(t, dir, 0, 1, result(1, 10), failure(2, "panic", long), result(3, 30))
	s := mustOpen(t, dir)
	if r, _ := s.Get(KeyOf([]byte(cell(2)))); r.Error != long || s.Len() != 3 {
		t.Errorf("%d rows, error of %d bytes", s.Len(), len(r.Error))
	}
}

func TestAppendRefuses(t *testing.T) {
	nan := result(1, 10)
	nan.Metrics[0].Value *= 0
	nan.Metrics[0].Value /= nan.Metrics[0].Value
	unsorted := result(1, 10)
	slices.Reverse(unsorted.Metrics)
	nothing := Record{Row: Row{Cell: cell(1)}}
	both := result(1, 10)
	both.Kind, both.Error = "panic", "?"
	spaced := result(1, 10)
	spaced.Cell = `{"instance": 1}`
	nested := result(1, 10)
	nested.Cell = `{"instance":{"i":1}}`
	for name, r := range map[string]Record{
		"NaN": nan, "unsorted": unsorted, "nothing": nothing, "both": both, "spaced": spaced, "nested": nested,
	} {
		dir := t.TempDir()
		w, err := mustOpen(t, dir).Writer(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(r); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if n := mustOpen(t, dir).Len(); n != 0 {
			t.Errorf("%s: %d rows on disk", name, n)
		}
	}
}

func TestOneWriterAShard(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	w, err := s.Writer(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.Writer(1, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var busy *BusyError
	if _, err := s.Writer(0, 2); !errors.As(err, &busy) {
		t.Errorf("second writer: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := s.Writer(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestOpenAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil {
		t.Error("opened a file as a store")
	}
}

func TestBadTiming(t *testing.T) {
	key := strings.Repeat("0f", 32)
	for line, ok := range map[string]bool{
		`{"key":"` + key + `","us":1.5}`:   true,
		`{"key":"` + key[1:] + `","us":1}`: false,
		`{"key":"` + key + `0","us":1}`:    false,
		`{"key":"` + key + `","us":}`:      false,
		`{"key":"zz","us":1}`:              false,
		`{"key":"` + key + `","us":1}}`:    false,
	} {
		if _, err := parseTiming(line); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// rows draws rows for distinct cells.
func rows(t *rapid.T) []Record {
	value := rapid.Float64Range(-1e300, 1e300)
	instances := rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 0, 30, rapid.ID[int]).Draw(t, "instances")
	var out []Record
	for _, i := range instances {
		r := Record{Row: Row{Cell: string(append(AppendString([]byte(`{"a":`), rapid.String().Draw(t, "a")), fmt.Sprintf(`,"i":%d}`, i)...))}}
		if rapid.Bool().Draw(t, "failed") {
			r.Kind, r.Error = rapid.StringN(1, 5, -1).Draw(t, "kind"), rapid.StringN(1, 20, -1).Draw(t, "error")
		} else {
			names := rapid.SliceOfNDistinct(rapid.String(), 1, 5, rapid.ID[string]).Draw(t, "names")
			slices.Sort(names)
			for _, n := range names {
				r.Metrics = append(r.Metrics, Metric{n, value.Draw(t, "value")})
			}
		}
		out = append(out, r)
	}
	return out
}

// However rows are spread over shards, repeated and ordered, the export is the same.
func TestMergeProperty(t *testing.T) {
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		one, many := filepath.Join(root, fmt.Sprint(n, "one")), filepath.Join(root, fmt.Sprint(n, "many"))
		records := rows(rt)
		write(t, one, 0, 1, records...)
		for i := range 3 {
			var part []Record
			for _, r := range rapid.Permutation(records).Draw(rt, "order") {
				if rapid.Bool().Draw(rt, "here") || i == 2 {
					part = append(part, r)
				}
			}
			// A store of its own: the shard must not rely on what others wrote.
			lone := filepath.Join(root, fmt.Sprint(n, "lone", i))
			write(t, lone, i, 3, part...)
			if err := os.MkdirAll(many, 0o755); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("results-%dof3.jsonl", i)
			if err := os.Rename(filepath.Join(lone, name), filepath.Join(many, name)); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := export(t, one), export(t, many); a != b {
			rt.Fatalf("one writer:\n%s\nthree writers:\n%s", a, b)
		}
		s := mustOpen(t, many)
		for _, want := range records {
			got, ok := s.Get(want.Key())
			if !ok || got.Cell != want.Cell || !got.same(&want.Row) {
				rt.Fatalf("got %v %v, want %v", got, ok, want.Row)
			}
		}
	})
}
