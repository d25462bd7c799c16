package launch

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"miglab/harness/nearest"
)

const whole = `# a manifest that says everything
kernels:
  - name: NW
    argv: [./needle, "${size}", 10, 0.50, "$HOME", "${csv}.old"]
    size_class: large-${size}
    workdir: ${rodinia}/cuda/nw
    own_folder: true
    data:
      - path: ${rodinia}/data/x
        sha256: E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855
      - path: y
    timeout: 1m30s
    warmup: 500ms
    repetitions: 3
    min_mem_mb: 4000
    expect: {regexp: done, device: true}
    time: {source: altis_csv, row: "a, b"}
    result: {file: "result-${size}.txt"}
  - name: plain
    argv: [true]
    result: {pattern: 'sum (\d+)'}
  - name: c
    argv: [./c]
    expect: {}
    time: {source: regexp, pattern: 't=(\d+)', unit: us}
defaults:
  size_class: small
  workdir: /
  timeout: 20s
  warmup: 1s
  repetitions: 5
  min_mem_mb: 10
  expect: {regexp: ok}
  time: {source: regexp, pattern: '(\d+) ms', unit: ms}
parameters:
  rodinia:
  size: 2048
suite: s
version: 1
`

func TestRead(t *testing.T) {
	m, err := Read(strings.NewReader(whole), "m.yaml", map[string]string{"rodinia": "/opt/${size}"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Kernel{
		{
			Name: "NW", Suite: "s", SizeClass: "large-2048",
			Argv: []string{"./needle", "2048", "10", "0.50", "$HOME", "${csv}.old"},
			Dir:  "/opt/${size}/cuda/nw", OwnFolder: true,
			Data: []Data{
				{"/opt/${size}/data/x", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
				{"y", ""},
			},
			Timeout: 90 * time.Second, Warmup: 500 * time.Millisecond, Repetitions: 3, MinMemoryMB: 4000,
			Expect: regexp.MustCompile("done"), PrintsDevice: true,
			Time: TimeSource{Kind: AltisCSV, Row: "a, b"}, Result: ResultSource{File: "result-2048.txt"}, File: "m.yaml", Line: 3,
		},
		{
			Name: "plain", Suite: "s", SizeClass: "small", Argv: []string{"true"}, Dir: "/",
			Timeout: 20 * time.Second, Warmup: time.Second, Repetitions: 5, MinMemoryMB: 10,
			Expect: regexp.MustCompile("ok"),
			Time:   TimeSource{Kind: Regexp, Pattern: regexp.MustCompile(`(\d+) ms`), Unit: 1e-3}, Result: ResultSource{Pattern: regexp.MustCompile(`sum (\d+)`)}, File: "m.yaml", Line: 19,
		},
		{
			Name: "c", Suite: "s", SizeClass: "small", Argv: []string{"./c"}, Dir: "/",
			Timeout: 20 * time.Second, Warmup: time.Second, Repetitions: 5, MinMemoryMB: 10,
			Time: TimeSource{Kind: Regexp, Pattern: regexp.MustCompile(`t=(\d+)`), Unit: 1e-6}, File: "m.yaml", Line: 22,
		},
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("read\n%+v\nwant\n%+v", m, want)
	}
}

func TestReadDefaults(t *testing.T) {
	m, err := Read(strings.NewReader("{version: 1, suite: s, kernels: [{name: a, argv: [b]}]}"), "m.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Kernel{
		Name: "a", Suite: "s", Argv: []string{"b"}, Timeout: 10 * time.Minute,
		Time: TimeSource{Kind: Wall}, File: "m.yaml", Line: 1,
	}
	if !reflect.DeepEqual(m, []Kernel{want}) {
		t.Errorf("read\n%+v\nwant\n%+v", m, want)
	}
}

func TestOutOfMemory(t *testing.T) {
	for _, text := range []string{
		"GPUassert: out of memory main.cu 12", "Out of memory", "cudaErrorMemoryAllocation",
		"error code 2(CUDA_ERROR_OUT_OF_MEMORY)", "CUBLAS_STATUS_ALLOC_FAILED",
	} {
		if !outOfMemory.MatchString(text) {
			t.Errorf("%q", text)
		}
	}
	for _, text := range []string{"", "memory: 40 GB", "an illegal memory access was encountered"} {
		if outOfMemory.MatchString(text) {
			t.Errorf("%q", text)
		}
	}
}

// wrong is a manifest in which each case replaces a line, or adds it before kernels.
const wrong = `version: 1
suite: s
parameters:
  dir: /opt
kernels:
  - name: A
    argv: [./a, "${dir}"]
  - name: B
    argv: [./b]
`

func TestReadErrors(t *testing.T) {
	for _, c := range []struct {
		old, new string
		want     string
	}{
		// The whole.
		{wrong, "", " the manifest is empty; begin with version: 1"},
		{wrong, "# nothing\n", " the manifest is empty; begin with version: 1"},
		{wrong, "null\n", "1:1: the manifest must be a mapping of names to values"},
		{wrong, "- version: 1\n", "1:1: the manifest must be a mapping of names to values"},
		{wrong, wrong + "---\nversion: 1\n", "10:1: a second document begins here; a manifest has only one"},
		{"version: 1\n", "version: 2\n", `1:10: unknown version "2"; did you mean "1"? (known: 1)`},
		{"version: 1\n", "version: one\n", `1:10: unknown version "one" (known: 1)`},
		{"version: 1\n", "version: [1]\n", "1:10: want one value here, not a mapping, a list or an alias"},
		{"version: 1\n", "", "1:1: the manifest has no version"},
		{"suite: s\n", "", "1:1: the manifest has no suite"},
		{"suite: s\n", "suite:\n", "2:7: the value is missing"},
		{"suite: s\n", "suite: ''\n", "2:8: the value is missing"},
		{"suite: s\n", "suite: ~\n", "2:8: the value is missing"},
		{"suite: s\n", "suite: &s s\ndefaults: {workdir: *s}\n", "3:21: want one value here, not a mapping, a list or an alias"},
		{"suite: s\n", "suite: s\nsuite: t\n", `3:1: "suite" is given twice, first on line 2`},
		{"suite: s\n", "suit: s\n", `2:1: unknown field of the manifest "suit"; did you mean "suite"? (known: defaults, kernels, parameters, suite, version)`},
		{"suite: s\n", "? [a]\n: b\n", "2:3: want one value here, not a mapping, a list or an alias"},
		{"suite: s\n", "suite: 's\n", " yaml: line 2: found unexpected end of stream"},
		{"suite: s\n", "\tsuite: s\n", " yaml: line 2: found a tab character that violates indentation"},

		// Parameters.
		{"  dir: /opt\n", "  dir:\n", `4:3: the parameter "dir" has no value; set it with --set dir=VALUE`},
		{"  dir: /opt\n", "  dir: ''\n", `4:3: the parameter "dir" has no value; set it with --set dir=VALUE`},
		{"  dir: /opt\n", "  dir: [a]\n", "4:8: want one value here, not a mapping, a list or an alias"},
		{"  dir: /opt\n", "  dir: /opt\n  size: 1\n", `5:3: the parameter "size" is not used`},
		{"  dir: /opt\n", "  dir: /opt\n  dir: /opt\n", `5:3: "dir" is given twice, first on line 4`},
		{"  dir: /opt\n", "  dir: /opt\n  Dir: /opt\n", `5:3: a parameter cannot be named "Dir"; use small letters, digits and _, but not csv, which is the path of Altis's CSV`},
		{"  dir: /opt\n", "  dir: /opt\n  csv: x\n", `5:3: a parameter cannot be named "csv"; use small letters, digits and _, but not csv, which is the path of Altis's CSV`},
		{"parameters:\n  dir: /opt\n", "parameters: dir\n", "3:13: parameters must be a mapping of names to values"},
		{`"${dir}"`, `"${dri}"`, `7:17: unknown parameter "dri"; did you mean "dir"? (known: dir)`},
		{`"${dir}"`, `"${dir"`, `7:17: ${dir has no closing brace`},
		{`"${dir}"`, `"${}"`, `7:17: unknown parameter "" (known: dir)`},
		{`"${dir}"`, `"${dir}${csv}"`, `7:11: ${csv} is only for kernels with time: {source: altis_csv}`},
		{"argv: [./b]", "argv: [./b]\n    workdir: ${csv}", `10:14: unknown parameter "csv" (known: dir)`},

		// Defaults.
		{"suite: s\n", "suite: s\ndefaults: {name: x}\n", `3:12: unknown field of defaults "name" (known: expect, min_mem_mb, own_folder, repetitions, size_class, time, timeout, warmup, workdir)`},
		{"suite: s\n", "suite: s\ndefaults: []\n", "3:11: defaults must be a mapping of names to values"},
		{"suite: s\n", "suite: s\ndefaults: {timeout: 0s}\n", `3:21: "0s" is too short; write at least 1ms`},

		// Kernels.
		{wrong[strings.Index(wrong, "kernels"):], "", "1:1: the manifest has no kernels"},
		{wrong[strings.Index(wrong, "kernels"):], "kernels:\n", "5:9: kernels must be a list"},
		{wrong[strings.Index(wrong, "kernels"):], "kernels: []\n", "5:10: kernels is empty"},
		{wrong[strings.Index(wrong, "kernels"):], "kernels: [a]\n", "5:11: a kernel must be a mapping of names to values"},
		{"  - name: A\n", "  - nmae: A\n", `6:5: unknown field of a kernel "nmae"; did you mean "name"? (known: argv, data, expect, min_mem_mb, name, own_folder, repetitions, result, size_class, time, timeout, warmup, workdir)`},
		{"  - name: A\n", "  - timeout: 1s\n", "6:5: a kernel has no name"},
		{"  - name: A\n", "  - name: two words\n", `6:11: a kernel cannot be named "two words"; use letters, digits and, after the first, any of _.+-`},
		{"  - name: A\n", "  - name: B\n", `8:5: the kernel on line 6 is also named "B"; names must differ`},
		{"argv: [./b]", "timeout: 1s", "8:5: a kernel has no argv"},
		{"argv: [./b]", "argv: ./b", "9:11: argv must be a list"},
		{"argv: [./b]", "argv: []", "9:11: argv is empty"},
		{"argv: [./b]", "argv: [/usr/bin/env, A=1, ./b]", "9:11: env hides the program: set the variables for miglab, or in a script"},
		{"argv: [./b]", "argv: [./b, [c]]", "9:17: want one value here, not a mapping, a list or an alias"},
		{"argv: [./b]", "argv: [./b, '']", "9:17: the value is missing"},
		{"argv: [./b]", "argv: [./b]\n    timeout: 30", `10:14: "30" is not a duration; write a number with its unit, for example 30s or 2m`},
		{"argv: [./b]", "argv: [./b]\n    timeout: -1s", `10:14: "-1s" is too short; write at least 1ms`},
		{"argv: [./b]", "argv: [./b]\n    warmup: -1ns", `10:13: "-1ns" is too short; write at least 0s`},
		{"argv: [./b]", "argv: [./b]\n    repetitions: 0", `10:18: "0" is not a whole number from 1 to 1000000`},
		{"argv: [./b]", "argv: [./b]\n    repetitions: ten", `10:18: "ten" is not a whole number from 1 to 1000000`},
		{"argv: [./b]", "argv: [./b]\n    min_mem_mb: -1", `10:17: "-1" is not a whole number from 0 to 1000000000`},
		{"argv: [./b]", "argv: [./b]\n    expect: ok", "10:13: expect must be a mapping of names to values"},
		{"argv: [./b]", "argv: [./b]\n    expect: {regexp: '*'}", "10:22: \"*\" is not a regular expression: error parsing regexp: missing argument to repetition operator: `*`"},
		{"argv: [./b]", "argv: [./b]\n    expect: {regex: a}", `10:14: unknown field of expect "regex"; did you mean "regexp"? (known: device, regexp)`},
		{"argv: [./b]", "argv: [./b]\n    data: {path: a}", "10:11: data must be a list"},
		{"argv: [./b]", "argv: [./b]\n    data: [{}]", "10:12: data has no path"},
		{"argv: [./b]", "argv: [./b]\n    data: [{path: a, sha256: ab}]", `10:30: "ab" is not a SHA-256; write its 64 hexadecimal digits, as sha256sum prints them`},
		{"argv: [./b]", "argv: [./b]\n    data: [{path: a, md5: ab}]", `10:22: unknown field of data "md5" (known: path, sha256)`},

		// Result.
		{"argv: [./b]", "argv: [./b]\n    result: out.txt", "10:13: result must be a mapping of names to values"},
		{"argv: [./b]", "argv: [./b]\n    result: {}", "10:13: a result has either a file or a pattern"},
		{"argv: [./b]", "argv: [./b]\n    result: {file: a, pattern: b}", "10:13: a result has either a file or a pattern"},
		{"argv: [./b]", "argv: [./b]\n    result: {pattern: (a)(b)}", "10:23: the pattern has 2 groups; put at most one part in parentheses"},

		// Time.
		{"argv: [./b]", "argv: [./b]\n    time: wall", "10:11: time must be a mapping of names to values"},
		{"argv: [./b]", "argv: [./b]\n    time: {unit: s}", "10:11: time has no source"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: clock}", `10:20: unknown time source "clock" (known: altis_csv, regexp, wall)`},
		{"argv: [./b]", "argv: [./b]\n    time: {source: wall, unit: s}", "10:32: time with source wall has no field unit"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, unit: s}", "10:11: time with source regexp has no pattern"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, pattern: (a)}", "10:11: time with source regexp has no unit"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, pattern: a, unit: s}", "10:37: the pattern has 0 groups; put only the number in parentheses"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, pattern: (a)(b), unit: s}", "10:37: the pattern has 2 groups; put only the number in parentheses"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, pattern: (a), unit: min}", `10:48: unknown unit of time "min" (known: ms, s, us)`},
		{"argv: [./b]", "argv: [./b]\n    time: {source: regexp, pattern: (a), unit: s, row: a}", "10:56: time with source regexp has no field row"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: altis_csv}", "10:11: time with source altis_csv has no row"},
		{"argv: [./b]", "argv: [./b]\n    time: {source: altis_csv, row: a}", "9:11: the program must write the CSV that its time is read from; give it the path with -m and ${csv}"},
	} {
		text := strings.Replace(wrong, c.old, c.new, 1)
		if text == wrong {
			t.Errorf("%q changes nothing", c.new)
		}
		_, err := Read(strings.NewReader(text), "m.yaml", nil)
		if _, ok := errors.AsType[*ParseError](err); !ok || err.Error() != "m.yaml:"+c.want {
			t.Errorf("%q:\n%v\nwant\nm.yaml:%s", c.new, err, c.want)
		}
	}
}

func TestReadUnknownParameterSet(t *testing.T) {
	_, err := Read(strings.NewReader(wrong), "m.yaml", map[string]string{"dir": "/x", "dri": "/y"})
	unknown, ok := errors.AsType[*nearest.UnknownError](err)
	if !ok || unknown.Nearest != "dir" || !strings.HasPrefix(err.Error(), `m.yaml:4:3: unknown parameter "dri"`) {
		t.Errorf("%v", err)
	}
	_, err = Read(strings.NewReader(wrong), "m.yaml", map[string]string{"dir": ""})
	if err == nil || err.Error() != `m.yaml:4:3: the parameter "dir" has no value; set it with --set dir=VALUE` {
		t.Errorf("%v", err)
	}
	_, err = Read(strings.NewReader("{version: 1, suite: s, kernels: [{name: a, argv: [b]}]}"), "m.yaml", map[string]string{"dir": "/x"})
	if err == nil || err.Error() != `m.yaml:1:1: unknown parameter "dir"` {
		t.Errorf("%v", err)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := Read(iotest.ErrReader(broken), "m.yaml", nil)
	if _, ok := errors.AsType[*ParseError](err); ok || !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "m.yaml: ") {
		t.Errorf("%v", err)
	}
}

// invalid says what is wrong with a manifest that was read, apart from Read.
func invalid(m []Kernel) string {
	if len(m) == 0 {
		return "no kernels"
	}
	names := map[string]bool{}
	for _, k := range m {
		problems := map[string]bool{
			"name twice":      names[k.Name],
			"name":            k.Name == "" || strings.ContainsAny(k.Name, " :@,\"\n/"),
			"suite":           k.Suite == "",
			"argv":            len(k.Argv) == 0 || slices.Contains(k.Argv, ""),
			"data":            slices.ContainsFunc(k.Data, func(d Data) bool { return d.Path == "" || d.SHA256 != "" && len(d.SHA256) != 64 }),
			"timeout":         k.Timeout <= 0,
			"warmup":          k.Warmup < 0,
			"repetitions":     k.Repetitions < 0,
			"memory":          k.MinMemoryMB < 0,
			"time by wall":    k.Time.Kind == Wall && k.Time != TimeSource{Kind: Wall},
			"time by pattern": k.Time.Kind == Regexp && (k.Time.Pattern == nil || k.Time.Pattern.NumSubexp() != 1 || k.Time.Unit <= 0 || k.Time.Row != ""),
			"time by CSV":     k.Time.Kind == AltisCSV && (k.Time.Row == "" || k.Time.Pattern != nil || !strings.Contains(strings.Join(k.Argv, "\n"), "${csv}")),
			"line":            k.Line < 1,
		}
		for _, problem := range slices.Sorted(maps.Keys(problems)) {
			if problems[problem] {
				return fmt.Sprintf("kernel %q: %s", k.Name, problem)
			}
		}
		names[k.Name] = true
	}
	return ""
}

func FuzzRead(f *testing.F) {
	f.Add(whole, "/opt")
	f.Add(wrong, "")
	f.Add("version: 1\nsuite: &s s\nkernels: [*s]\n---\n", "")
	for _, name := range shipped {
		text, err := manifests.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "/opt")
	}
	f.Fuzz(func(t *testing.T, text, rodinia string) {
		given := map[string]string{}
		if strings.Contains(text, "rodinia") {
			given["rodinia"] = rodinia
		}
		m, err := Read(strings.NewReader(text), "m.yaml", given)
		if err != nil {
			e, ok := errors.AsType[*ParseError](err)
			if !ok || e.Line < 0 || e.Line > 2+strings.Count(text, "\n")+strings.Count(text, "\r") || e.Err.Error() == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if problem := invalid(m); problem != "" {
			t.Fatal(problem)
		}
		again, err := Read(strings.NewReader(text), "m.yaml", given)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("read again: %+v, %v", again, err)
		}
	})
}

// An endless file is refused before it fills the memory.
func TestReadHasALimit(t *testing.T) {
	in := &io.LimitedReader{R: blanks{}, N: 10 * maxManifest}
	_, err := Read(in, "m.yaml", nil)
	if err == nil || err.Error() != "m.yaml is too large; at most 1 MiB are read" || in.N < 8*maxManifest {
		t.Errorf("%v after %d bytes", err, 10*maxManifest-in.N)
	}
}

type blanks struct{}

func (blanks) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}
