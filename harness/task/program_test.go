package task_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

const goodPrograms = `name,class,solo_s,serial,compute,memory,parallelism
lavaMD,CI,3.5,0,0.58,0,0.58
"a, b",US,20,0.5,0,0.5,1
lavaMD,CI,3.5,0,0.58,0,0.58
`

func readPrograms(text string) ([]task.Program, error) {
	return task.ReadPrograms(strings.NewReader(text), "programs.csv")
}

func TestReadPrograms(t *testing.T) {
	lava := task.Program{Name: "lavaMD", Class: task.ComputeIntensive, Solo: 3.5, Compute: 0.58, Parallelism: 0.58}
	want := []task.Program{lava, {Name: "a, b", Class: task.Unscalable, Solo: 20, Serial: 0.5, Memory: 0.5, Parallelism: 1}, lava}
	for name, text := range map[string]string{
		"plain":       goodPrograms,
		"CRLF":        strings.ReplaceAll(goodPrograms, "\n", "\r\n"),
		"other unit":  strings.ReplaceAll(goodPrograms, "20,0.5,0,0.5", "20,2,0,2"),
		"other order": "solo_s,name,class,parallelism,memory,compute,serial\n3.5,lavaMD,CI,.58,0,.58,-0\n20,\"a, b\",US,1,4,0,4\n3.5, lavaMD , CI,.58,0,.58,0\n",
	} {
		got, err := readPrograms(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestReadProgramsErrors(t *testing.T) {
	const header = "name,class,solo_s,serial,compute,memory,parallelism\n"
	for text, want := range map[string]string{
		"":                                  "programs.csv:1: the file is empty",
		header:                              "programs.csv:1: there are no programs",
		"name,class\na,CI\n":                "programs.csv:1: solo_s: the column is missing; the header of a file of programs is name,class,solo_s",
		header + "a,CI,1,1,1,1\n":           "programs.csv:2: the line has 6 fields, the header 7",
		header + ",CI,1,1,1,1,1\n":          "programs.csv:2: name: the name is empty",
		header + "a,C,1,1,1,1,1\n":          `programs.csv:2: class: unknown class "C"; did you mean "CI"?`,
		header + "a,CI,0,1,1,1,1\n":         `programs.csv:2: solo_s: "0" is not a solo time`,
		header + "a,CI,inf,1,1,1,1\n":       `programs.csv:2: solo_s: "inf" is not a solo time`,
		header + "a,CI,1,-1,1,1,1\n":        `programs.csv:2: serial: "-1" is not a part of a program`,
		header + "a,CI,1,1,NaN,1,1\n":       `programs.csv:2: compute: "NaN" is not a part`,
		header + "a,CI,1,1,1,1,0\n":         `programs.csv:2: parallelism: "0" is not a share`,
		header + "a,CI,1,1,1,1,1.1\n":       `programs.csv:2: parallelism: "1.1" is not a share`,
		header + "a,CI,1,0,0,0,1\n":         "programs.csv:2: serial, compute and memory take 0 on the whole GPU",
		header + "a,CI,1,0,1e-200,0,1\n":    "programs.csv:2: serial, compute and memory take 0 on",
		header + "a,CI,1,0,1e12,0,1e-300\n": "programs.csv:2: serial, compute and memory take +Inf on",

		header + "a,CI,1,1,1,1,1\nb,MI,1,1,1,x,1\n": `programs.csv:3: memory: "x" is not a part`,
	} {
		_, err := readPrograms(text)
		var at *task.ParseError
		if !errors.As(err, &at) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestValidateProgram(t *testing.T) {
	good := task.Program{Name: "p", Class: task.MemoryIntensive, Solo: 3, Serial: 0.25, Memory: 0.75, Parallelism: 0.5}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*task.Program){
		"has no name":                    func(p *task.Program) { p.Name = "" },
		"is of class \"XX\"":             func(p *task.Program) { p.Class = "XX" },
		"takes 0 s alone":                func(p *task.Program) { p.Solo = 0 },
		"takes +Inf s alone":             func(p *task.Program) { p.Solo = mig.Seconds(math.Inf(1)) },
		"has parallelism 0;":             func(p *task.Program) { p.Parallelism = 0 },
		"has parallelism NaN;":           func(p *task.Program) { p.Parallelism = math.NaN() },
		"has parts -0.25 (serial)":       func(p *task.Program) { p.Serial = -0.25 },
		"has parts 0.25 (serial), NaN":   func(p *task.Program) { p.Compute = math.NaN() },
		"takes 1.25 times its solo time": func(p *task.Program) { p.Memory = 1 },
	} {
		p := good
		spoil(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestRelative(t *testing.T) {
	p := task.Program{Serial: 0.2, Compute: 0.3, Parallelism: 0.5, Memory: 0.4}
	for _, c := range []struct{ compute, bandwidth, want float64 }{
		{1, 1, 0.2 + math.Pow(math.Pow(0.6, 4)+math.Pow(0.4, 4), 0.25)},
		{0.5, 1, 0.2 + math.Pow(math.Pow(0.6, 4)+math.Pow(0.4, 4), 0.25)}, // more does not help
		{0.25, 0.5, 0.2 + math.Pow(math.Pow(1.2, 4)+math.Pow(0.8, 4), 0.25)},
		{1, 0.01, 0.2 + math.Pow(math.Pow(0.6, 4)+math.Pow(40, 4), 0.25)},
	} {
		if got := p.Relative(c.compute, c.bandwidth); math.Abs(got-c.want) > 1e-12*c.want {
			t.Errorf("Relative(%v, %v) = %v, want %v", c.compute, c.bandwidth, got, c.want)
		}
	}
	if got, want := p.Contended(1, 1, 2), 0.2+math.Pow(math.Pow(1.2, 4)+math.Pow(0.4, 4), 0.25); math.Abs(got-want) > 1e-12 {
		t.Errorf("with twice the compute work %v, want %v", got, want)
	}
}

func TestByRule(t *testing.T) {
	for _, c := range []struct {
		program task.Program
		want    task.Class
	}{
		{task.Program{Serial: 0.9, Compute: 0.01, Memory: 0.01, Parallelism: 0.1}, task.Unscalable},
		{task.Program{Serial: 0.9, Compute: 0.1, Memory: 0.01, Parallelism: 1}, task.ComputeIntensive},
		{task.Program{Compute: 0.41, Memory: 1, Parallelism: 0.5}, task.ComputeIntensive},
		{task.Program{Compute: 0.39, Memory: 1, Parallelism: 0.5}, task.MemoryIntensive},
		{task.Program{Compute: 0.39, Memory: 1, Parallelism: 0.4}, task.ComputeIntensive},
	} {
		if got := c.program.ByRule(); got != c.want {
			t.Errorf("%+v is %s, want %s", c.program, got, c.want)
		}
	}
}

func programs() *rapid.Generator[[]task.Program] {
	part := rapid.Float64Range(0, 1000)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) task.Program {
		p := task.Program{
			Name: rapid.SampledFrom([]string{"a", "b c", `"`, "é,"}).Draw(t, "name"), Class: rapid.SampledFrom(task.Classes()).Draw(t, "class"),
			Solo: mig.Seconds(rapid.Float64Range(1e-9, 1e12).Draw(t, "solo")), Parallelism: rapid.Float64Range(1e-6, 1).Draw(t, "parallelism"),
			Serial: part.Draw(t, "serial"), Compute: part.Draw(t, "compute"), Memory: rapid.Float64Range(1e-6, 1000).Draw(t, "memory"),
		}
		whole := p.Relative(1, 1)
		p.Serial /= whole
		p.Compute /= whole
		p.Memory /= whole
		return p
	}), 1, 5)
}

func TestProgramsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := programs().Draw(t, "programs")
		var b bytes.Buffer
		if err := task.WritePrograms(&b, want); err != nil {
			t.Fatal(err)
		}
		if got, err := readPrograms(b.String()); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v is read back as %v, %v", want, got, err)
		}
	})
}

func TestWriteProgramsErrors(t *testing.T) {
	good := task.Program{Name: "p", Class: task.MemoryIntensive, Solo: 3, Memory: 1, Parallelism: 0.5}
	long, slow := good, good
	long.Name = "p\nq"
	slow.Solo = 0
	for want, p := range map[string]task.Program{"job 1 has a name that holds a line break": long, `job 1, program "p", takes 0 s alone`: slow} {
		if err := task.WritePrograms(&bytes.Buffer{}, []task.Program{good, p}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzReadPrograms(f *testing.F) {
	f.Add(goodPrograms)
	f.Add("name,class,solo_s,serial,compute,memory,parallelism\na,CI,1e-300,1e12,1e-300,0,1e-300\n")
	f.Add("\ufeffparallelism,name,class,solo_s,serial,compute,memory\n 1 ,\"x\"\"\",MI,+1,0x1p-3,1_0,0\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readPrograms(text)
		if err != nil {
			var at *task.ParseError
			if !errors.As(err, &at) || at.Line < 1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		var b bytes.Buffer
		if err := task.WritePrograms(&b, got); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again, err := readPrograms(b.String()); err != nil || !slices.Equal(again, got) {
			t.Fatalf("%q: %v is read back as %v, %v", text, got, again, err)
		}
	})
}
