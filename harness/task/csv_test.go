package task_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

var (
	a100 = mig.MustLookup("A100")
	a30  = mig.MustLookup("A30")
	inf  = mig.Seconds(math.Inf(1))
)

const good = `task,t1,t2,t3,t4,t7
lud,inf,8.5,6,4.25,2
"a, b",1,1,1,1,1
`

func read(text string) (task.Batch, error) {
	return task.ReadCSV(strings.NewReader(text), "tasks.csv", a100)
}

func TestReadCSV(t *testing.T) {
	want := task.Batch{
		task.New("lud", map[mig.Slices]mig.Seconds{1: inf, 2: 8.5, 3: 6, 4: 4.25, 7: 2}),
		task.New("a, b", map[mig.Slices]mig.Seconds{1: 1, 2: 1, 3: 1, 4: 1, 7: 1}),
	}
	for name, text := range map[string]string{
		"plain":           good,
		"CRLF":            strings.ReplaceAll(good, "\n", "\r\n"),
		"byte order mark": "\ufeff" + good,
		"BOM and CRLF":    "\ufeff" + strings.ReplaceAll(good, "\n", "\r\n"),
		"spaces":          " task , t1,t2\t,t3,t4 ,  t7 \n lud , inf , 8.5 ,6 , 4.25,2 \n \"a, b\",1 ,1,1,1,1\n",
		"empty lines":     "\n" + strings.ReplaceAll(good, "\n", "\n\n"),
		"no line end":     strings.TrimSuffix(good, "\n"),
		"other order":     "t7,t4,t3,t2,task,t1\n2,4.25,6,8.5,lud,inf\n1,1,1,1,\"a, b\",1\n",
	} {
		got, err := read(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestReadCSVSaysWhereAndWhatWouldBeRight(t *testing.T) {
	const duration = " is not a duration; write a positive number of seconds, or inf"
	const columns = "the header for A100 (sizes [1 2 3 4 7]) is task,t1,t2,t3,t4,t7"
	for _, c := range []struct{ name, old, new, want string }{
		{"negative", "4.25", "-1", `tasks.csv:2: t4: "-1"` + duration},
		{"NaN", "8.5", "NaN", `tasks.csv:2: t2: "NaN"` + duration},
		{"zero", "8.5", "0", `tasks.csv:2: t2: "0"` + duration},
		{"minus infinity", "inf", "-inf", `tasks.csv:2: t1: "-inf"` + duration},
		{"too small", "8.5", "1e-400", `tasks.csv:2: t2: "1e-400"` + duration},
		{"other infinity", "inf", "+Inf", `tasks.csv:2: t1: "+Inf"` + duration},
		{"under a microsecond", "8.5", "9e-7", `tasks.csv:2: t2: "9e-7" is too small for a duration; the shortest is 1e-06 s`},
		{"over the limit", "8.5", "1.1e12", `tasks.csv:2: t2: "1.1e12" is too large for a duration, at most 1e+12 s; write inf where the task does not fit`},
		{"long name", "lud", strings.Repeat("x", 201), "tasks.csv:2: task: the name is longer than 200 bytes; write one that identifies the task"},
		{"words", "8.5", "8.5 s", `tasks.csv:2: t2: "8.5 s"` + duration},
		{"empty cell", "8.5", "", `tasks.csv:2: t2: ""` + duration},
		{"too large", "8.5", "1e400", `tasks.csv:2: t2: "1e400" is too large for a duration; write inf where the task does not fit`},
		{"missing column", good, "task,t1,t2,t3,t7\na,1,1,1,1\n", "tasks.csv:1: t4: the column is missing; " + columns},
		{"unknown size", good, "task,t1,t2,t3,t4,t5,t7\na,1,1,1,1,1,1\n", "tasks.csv:1: t5: unknown column; " + columns},
		{"no header", good, "lud,1,1,1,1,1\n", "tasks.csv:1: lud: unknown column; " + columns},
		{"name twice", "\"a, b\"", "\nlud", `tasks.csv:4: task: "lud" is the name of the task on line 2, too; names must differ`},
		{"no name", "lud", " ", "tasks.csv:2: task: the name is empty; write one that identifies the task"},
		{"name on two lines", "a, b", "a\nb", "tasks.csv:3: task: the name holds a line break or another control character; write one that identifies the task"},
		{"name in another coding", "a, b", "\xff", "tasks.csv:3: task: the name is not UTF-8; write one that identifies the task"},
		{"field missing", ",1\n", "\n", "tasks.csv:3: the line has 5 fields, the header 6 (task,t1,t2,t3,t4,t7)"},
		{"open quote", "b\"", "b", "tasks.csv:3: extraneous or missing \" in quoted-field; close every quote, and double those inside a quoted field"},
		{"fits nothing", "8.5,6,4.25,2", "inf,inf,inf,inf", `tasks.csv:2: task "lud" fits no instance of A100 (sizes [1 2 3 4 7]); write its seconds for at least one`},
		{"cell below empty lines", "\"a, b\",1", "\n\n\"a, b\",x", `tasks.csv:5: t1: "x"` + duration},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatal("the edit changes nothing")
			}
			b, err := read(text)
			parse, ok := errors.AsType[*task.ParseError](err)
			if !ok || err.Error() != c.want || b != nil {
				t.Fatalf("got %v, %v\nwant %s", b, err, c.want)
			}
			if parse.File != "tasks.csv" || !strings.HasPrefix(c.want, fmt.Sprintf("tasks.csv:%d: %s", parse.Line, parse.Column)) {
				t.Errorf("%+v", parse)
			}
		})
	}
}

func TestReadCSVKnowsTheSizesOfTheGPU(t *testing.T) {
	b, err := task.ReadCSV(strings.NewReader("task,t1,t2,t4\na,4,2,1\n"), "f", a30)
	if want := (task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 4, 2: 2, 4: 1})}); err != nil || !reflect.DeepEqual(b, want) {
		t.Errorf("%v, %v", b, err)
	}
	_, err = task.ReadCSV(strings.NewReader(good), "f", a30)
	if want := "f:1: t3: unknown column; the header for A30 (sizes [1 2 4]) is task,t1,t2,t4"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestReadCSVPassesOnErrorsOfTheReader(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := task.ReadCSV(iotest.ErrReader(broken), "f", a100)
	if _, ok := errors.AsType[*task.ParseError](err); ok || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestWriteStream(t *testing.T) {
	var w bytes.Buffer
	b := task.Batch{
		task.New("a, \"b\"", map[mig.Slices]mig.Seconds{2: 0.1, 4: 1e-6, 7: 1e21}),
		task.New("c", map[mig.Slices]mig.Seconds{1: 1. / 3, 3: 9}),
	}
	if err := task.WriteStream(&w, a30, task.OneBatch(b)); err != nil {
		t.Fatal(err)
	}
	if want := "task,t1,t2,t4\n\"a, \"\"b\"\"\",inf,0.1,1e-06\nc,0.3333333333333333,inf,inf\n"; w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
}

func TestWriteCSVRefusesWhatCannotBeReadBack(t *testing.T) {
	one := map[mig.Slices]mig.Seconds{1: 1}
	for _, b := range []task.Batch{
		{task.New("", one)},
		{task.New(" a", one)},
		{task.New("a\nb", one)},
		{task.New("\xff", one)},
		{task.New("a", one), task.New("a", one)},
		{task.New("a", map[mig.Slices]mig.Seconds{3: 1})},
		{task.New("a", map[mig.Slices]mig.Seconds{1: mig.Seconds(math.NaN())})},
	} {
		var w bytes.Buffer
		err := task.WriteStream(&w, a30, task.OneBatch(b))
		if err == nil || !strings.HasPrefix(err.Error(), "task ") || w.Len() > 0 {
			t.Errorf("%v: %v, wrote %q", b, err, &w)
		}
	}
}

func TestWriteCSVPassesOnErrorsOfTheWriter(t *testing.T) {
	broken := errors.New("disk full")
	err := task.WriteStream(writer(func([]byte) (int, error) { return 0, broken }), a30, task.OneBatch(task.Batch{task.New("a", map[mig.Slices]mig.Seconds{1: 1})}))
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// drawBatch draws a batch that fits the GPU, with every finite duration that is allowed.
func drawBatch(t *rapid.T, g *mig.GPU) task.Batch {
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z,"#;=\\.]([ a-zäß,"'#]*[a-z"])?`), 1, 8, rapid.ID).Draw(t, "names")
	b := make(task.Batch, len(names))
	for i, name := range names {
		b[i].Name = name
		fits := rapid.SampledFrom(g.Sizes()).Draw(t, "fits")
		for _, s := range g.Sizes() {
			d := inf
			if s == fits || rapid.Bool().Draw(t, "finite") {
				d = mig.Seconds(rapid.Float64Range(task.MinSeconds, task.MaxSeconds).Draw(t, "seconds"))
			}
			b[i].Set(s, d)
		}
	}
	return b
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		b := drawBatch(t, g)
		var w bytes.Buffer
		if err := task.WriteStream(&w, g, task.OneBatch(b)); err != nil {
			t.Fatal(err)
		}
		text := w.String()
		back, err := task.ReadCSV(&w, "f", g)
		if err != nil {
			t.Fatalf("cannot read %q: %v", text, err)
		}
		if back.Hash() != b.Hash() {
			t.Fatalf("%v became %v", b, back)
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	f.Add(good)
	f.Add("\ufeff" + strings.ReplaceAll(good, "\n", "\r\n"))
	f.Add("task,t1,t2,t3,t4,t7\n\"a")
	f.Add("task,t1,t2,t3,t4,t7,arrival_s\na,1,1,1,1,1,0\nb,2,2,2,2,2,3.5\n")
	f.Add("task,t1,t2,t3,t4,t7,batch\na,1,1,1,1,1,1\nb,2,2,2,2,2,2\nc,3,3,3,3,3,2\n")
	f.Add("task,t1,t2,t3,t4,t7\n a ,1e400,0x1p-2,NaN,1,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := task.ReadStream(strings.NewReader(text), "tasks.csv", a100)
		if err != nil {
			if e, ok := errors.AsType[*task.ParseError](err); !ok || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if err := b.Tasks.Validate(a100); err != nil {
			t.Fatal(err)
		}
		var w bytes.Buffer
		if err := task.WriteStream(&w, a100, b); err != nil {
			t.Fatal(err)
		}
		back, err := task.ReadStream(bytes.NewReader(w.Bytes()), "tasks.csv", a100)
		if err != nil || back.Tasks.Hash() != b.Tasks.Hash() || !slices.Equal(back.Lengths, b.Lengths) || !slices.Equal(back.Arrivals, b.Arrivals) {
			t.Fatalf("%v: wrote %q", err, &w)
		}
	})
}

func TestStreamsKeepTheirBatches(t *testing.T) {
	const text = "task,t1,t2,t3,t4,t7,batch\na,1,1,1,1,1,1\nb,2,2,2,2,2,2\nc,3,3,3,3,3,2\n"
	g := a100
	stream, err := task.ReadStream(strings.NewReader(text), "f", g)
	if err != nil || !slices.Equal(stream.Lengths, []int{1, 2}) {
		t.Fatalf("lengths %v, %v", stream.Lengths, err)
	}
	var again strings.Builder
	if err := stream.WriteCSV(&again, g); err != nil || again.String() != text {
		t.Errorf("written as %q, %v", again.String(), err)
	}
	if _, err := task.ReadCSV(strings.NewReader(text), "f", g); err == nil || !strings.Contains(err.Error(), "f:1: batch: the tasks are divided into 2 batches") {
		t.Errorf("ReadCSV of a stream: %v", err)
	}
	if b, err := task.ReadCSV(strings.NewReader("batch,task,t1,t2,t3,t4,t7\n1,a,1,1,1,1,1\n"), "f", g); err != nil || len(b) != 1 {
		t.Errorf("a stream of one batch: %v, %v", b, err)
	}
	for lines, want := range map[string]string{
		"a,1,1,1,1,1,2\n":                               "f:2: batch: 2 cannot stand here; batches are numbered in the order of their tasks, so write 1",
		"a,1,1,1,1,1,1\nb,1,1,1,1,1,3\n":                "f:3: batch: 3 cannot stand here; batches are numbered in the order of their tasks, so write 1 or 2",
		"a,1,1,1,1,1,1\nb,1,1,1,1,1,\n":                 `f:3: batch: "" is not the number of a batch; write a whole number from 1`,
		"a,1,1,1,1,1,\nb,1,1,1,1,1,1\n":                 `f:2: batch: "" is not the number of a batch; write a whole number from 1`,
		"a,1,1,1,1,1,0\n":                               `f:2: batch: "0" is not the number of a batch; write a whole number from 1`,
		"a,1,1,1,1,1,1.5\n":                             `f:2: batch: "1.5" is not the number of a batch; write a whole number from 1`,
		"a,1,1,1,1,1,1\nb,1,1,1,1,1,2\nc,1,1,1,1,1,1\n": "f:4: batch: 1 cannot stand here; batches are numbered in the order of their tasks, so write 2 or 3",
	} {
		_, err := task.ReadStream(strings.NewReader("task,t1,t2,t3,t4,t7,batch\n"+lines), "f", g)
		if _, ok := errors.AsType[*task.ParseError](err); !ok || err.Error() != want {
			t.Errorf("%q: %v, want %s", lines, err, want)
		}
	}
}

func TestStreamsKeepTheirArrivals(t *testing.T) {
	const text = "task,t1,t2,t3,t4,t7,batch,arrival_s\na,1,1,1,1,1,1,0\nb,2,2,2,2,2,1,0.25\nc,3,3,3,3,3,2,1e+06\n"
	stream, err := task.ReadStream(strings.NewReader(text), "f", a100)
	if err != nil || !slices.Equal(stream.Arrivals, []mig.Seconds{0, 0.25, 1e6}) {
		t.Fatalf("arrivals %v, %v", stream.Arrivals, err)
	}
	if got := stream.Releases(); !slices.Equal(got, []mig.Seconds{0.25, 0.25, 1e6}) {
		t.Errorf("releases %v: a batch waits for its last task", got)
	}
	var again strings.Builder
	if err := stream.WriteCSV(&again, a100); err != nil || again.String() != text {
		t.Errorf("written as %q, %v", again.String(), err)
	}
	with, without := task.NewDigest(), task.NewDigest()
	stream.AddTo(with)
	stream.Arrivals = nil
	stream.AddTo(without)
	if with.String() == without.String() {
		t.Error("arrivals are not part of the digest")
	}
	if _, err := task.ReadCSV(strings.NewReader("task,t1,t2,t3,t4,t7,arrival_s\na,1,1,1,1,1,5\n"), "f", a100); err == nil || !strings.Contains(err.Error(), "f:1: arrival_s: the tasks arrive one after the other") {
		t.Errorf("ReadCSV of a stream: %v", err)
	}
	for lines, want := range map[string]string{
		"a,1,1,1,1,1,-1\n":               `f:2: arrival_s: "-1" is not an instant; write seconds from 0 to 1e+12`,
		"a,1,1,1,1,1,inf\n":              `f:2: arrival_s: "inf" is not an instant; write seconds from 0 to 1e+12`,
		"a,1,1,1,1,1,\n":                 `f:2: arrival_s: "" is not an instant; write seconds from 0 to 1e+12`,
		"a,1,1,1,1,1,5\nb,1,1,1,1,1,\n":  `f:3: arrival_s: "" is not an instant; write seconds from 0 to 1e+12`,
		"a,1,1,1,1,1,5\nb,1,1,1,1,1,4\n": "f:3: arrival_s: 4 s is before 5 s of the line above; write the tasks in the order in which they arrive",
	} {
		_, err := task.ReadStream(strings.NewReader("task,t1,t2,t3,t4,t7,arrival_s\n"+lines), "f", a100)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", lines, err, want)
		}
	}
}
