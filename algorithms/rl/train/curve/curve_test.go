package curve

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"miglab/harness/strictcsv"
)

var (
	nan  = math.NaN()
	good = []Point{
		{Steps: 128, Score: 12.5, Return: -3.25, Length: 14, Entropy: 1, PolicyLoss: -0.01, ValueLoss: 2, ExplainedVariance: -1, LearningRate: 3e-4, Exploration: 0.1},
		{Steps: 256, Score: 1. / 3, Return: nan, Length: nan, Entropy: 1e-300},
	}
)

const goodText = `steps,score,mean_return,mean_length,entropy,policy_loss,value_loss,explained_variance,learning_rate,exploration
128,12.5,-3.25,14,1,-0.01,2,-1,0.0003,0.1
256,0.333333,,,1e-300,0,0,0,0,0
`

var header, _, _ = strings.Cut(goodText, "\n")

// Points are read as they are written, rounded.
func TestWriteAndRead(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, good); err != nil || b.String() != goodText {
		t.Fatalf("%v:\n%s, want\n%s", err, b.String(), goodText)
	}
	got, err := Read(&b, "c.csv")
	want := slices.Clone(good)
	want[1].Round()
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || got[1].Score != 0.333333 {
		t.Errorf("%v, %+v, want %+v", err, got, want)
	}
}

func TestWriteRefusesWhatReadDoes(t *testing.T) {
	for i := range columns[1:] {
		for _, x := range []float64{nan, math.Inf(1), math.Inf(-1)} {
			p := Point{Steps: 1}
			*p.values()[i] = x
			err := Write(new(bytes.Buffer), []Point{p})
			if allowed := math.IsNaN(x) && (i == 1 || i == 2); (err == nil) != allowed {
				t.Errorf("%s %v: %v", columns[1+i], x, err)
			}
		}
	}
}

func TestReadNamesWhatIsWrong(t *testing.T) {
	line := func(fields string) string { return goodText + fields + "\n" }
	for _, c := range []struct{ text, want string }{
		{"", "c.csv:1: the file is empty"},
		{header + "\n", "c.csv:1: there are no points"},
		{strings.Replace(goodText, "score", "scor", 1), "c.csv:1: scor: unknown column; the header of a learning curve is steps,score,"},
		{line("300,1,1"), "c.csv:4: the line has 3 fields"},
		{line(`300,"1`), "c.csv:"},
		{line("300.5,1,1,1,1,1,1,1,1,1"), `c.csv:4: steps: "300.5"`},
		{line("0,1,1,1,1,1,1,1,1,1"), "c.csv:4: steps: 0 is not more than 256"},
		{line("256,1,1,1,1,1,1,1,1,1"), "c.csv:4: steps: 256 is not more than 256"},
		{line("300,,1,1,1,1,1,1,1,1"), `c.csv:4: score: ""`},
		{line("300,Inf,1,1,1,1,1,1,1,1"), `c.csv:4: score: "Inf"`},
		{line("300,1e999,1,1,1,1,1,1,1,1"), `c.csv:4: score: "1e999"`},
		{line("300,1,NaN,1,1,1,1,1,1,1"), `c.csv:4: mean_return: "NaN"`},
		{line("300,1,1,-inf,1,1,1,1,1,1"), `c.csv:4: mean_length: "-inf"`},
		{line("300,0x1p3,1,1,1,1,1,1,1,1"), `c.csv:4: score: "0x1p3"`},
		{line("1_000,1,1,1,1,1,1,1,1,1"), `c.csv:4: steps: "1_000"`},
		{line("300,1,1,1,,1,1,1,1,1"), `c.csv:4: entropy: ""`},
		{line("\n\n300,1,1,1,1,1,1,1,1,x"), `c.csv:6: exploration: "x"`},
	} {
		_, err := Read(strings.NewReader(c.text), "c.csv")
		var parse *strictcsv.Error
		if !errors.As(err, &parse) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := Read(iotest.ErrReader(fs.ErrClosed), "c.csv"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("an error of the reader becomes %v", err)
	}
}

// A curve that is accepted can be written and read back.
func FuzzReadCurve(f *testing.F) {
	for _, s := range []string{
		goodText, "", "\n\n" + goodText, header, header + "\n1,2\n", header + "\n1,\"2\n\",3,4,5,6,7,8,9,10\n",
		"\xff", goodText + "300,NaN,1,1,1,1,1,1,1,1\n", goodText + "300,+Inf,,1,1,1,1,1,1,1\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		points, err := Read(strings.NewReader(text), "c.csv")
		if err != nil {
			if parse := new(strictcsv.Error); !errors.As(err, &parse) || parse.Line < 1 || !strings.HasPrefix(err.Error(), "c.csv:") {
				t.Fatalf("%v does not name the file and the line", err)
			}
			return
		}
		for i := range points {
			points[i].Round()
			if points[i].Steps < 1 || i > 0 && points[i].Steps <= points[i-1].Steps {
				t.Fatalf("steps do not ascend: %v", points)
			}
		}
		var written bytes.Buffer
		if err := Write(&written, points); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&written, "c.csv")
		if err != nil || fmt.Sprint(again) != fmt.Sprint(points) {
			t.Fatalf("%v comes back as %v, %v", points, again, err)
		}
	})
}
