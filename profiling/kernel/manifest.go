package kernel

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/wholefile"
	"miglab/profiling"
)

// ParseError says where a manifest is wrong and what would be right.
type ParseError struct {
	File string
	// Line and Column count from 1. If the text is not valid YAML, Column is 0 and Line is
	// approximate.
	Line, Column int
	// Err says what is wrong.
	Err error
}

func (e *ParseError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

// Unwrap returns what is wrong.
func (e *ParseError) Unwrap() error { return e.Err }

// Read parses a manifest. set replaces values of parameters. The file's name is used only
// in errors. An error in the text or in set is a [*ParseError], which wraps a
// [*nearest.UnknownError] if a name is unknown; other errors are those of r.
func Read(r io.Reader, file string, set map[string]string) ([]Kernel, error) {
	text, err := wholefile.ReadAll(r, file, maxManifest)
	if err != nil {
		return nil, err
	}
	d := decoder{file: file}
	kernels := d.manifest(d.parse(text), set)
	return kernels, d.err
}

// maxManifest is how many bytes a manifest may have.
const maxManifest = 1 << 20

// The defaults of a manifest.
const (
	defaultTimeout     = 10 * time.Minute
	defaultRepetitions = 10 // as in FAR's measured tables
)

// csvPlace is the placeholder in argv for the path of Altis's CSV.
const csvPlace = "${csv}"

var (
	kernelName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)
	parameterName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// The fields of a kernel: those that defaults may set, and those that they may not.
var (
	sharedFields = []string{
		"size_class", "workdir", "timeout", "warmup", "repetitions", "min_mem_mb", "expect", "window", "pinned", "time",
	}
	ownFields = []string{"name", "argv", "data", "result"}
)

// A decoder reads the nodes of a manifest. It keeps the first error; after it, its methods
// return zero values.
type decoder struct {
	file       string
	parameters map[string]*parameter
	err        error
}

type parameter struct {
	at    *yaml.Node
	value string
	used  bool
}

func (d *decoder) fail(at *yaml.Node, err error) {
	if d.err == nil {
		d.err = &ParseError{File: d.file, Line: at.Line, Column: at.Column, Err: err}
	}
}

func (d *decoder) failf(at *yaml.Node, format string, args ...any) {
	d.fail(at, fmt.Errorf(format, args...))
}

// yamlLine matches the line number in the errors of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse returns the text's only document.
func (d *decoder) parse(text []byte) *yaml.Node {
	in := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, next yaml.Node
	err := in.Decode(&document)
	if err == nil {
		err = in.Decode(&next)
	} else if err == io.EOF {
		err = errors.New("the manifest is empty; begin with version: 1")
	}
	switch {
	case err == io.EOF:
		return document.Content[0]
	case err == nil:
		d.failf(&next, "a second document begins here; a manifest has only one")
	default:
		line := 1
		message := err.Error()
		if m := yamlLine.FindStringSubmatch(message); m != nil {
			message = message[len(m[0]):]
			if m[1] != "" {
				line, _ = strconv.Atoi(m[1]) // digits
			}
		}
		d.err = &ParseError{File: d.file, Line: line, Err: errors.New(message)}
	}
	return &yaml.Node{}
}

// mapping returns the values of a mapping by their keys, which must be known and unique, and have those
// that are required. what names the mapping in errors.
func (d *decoder) mapping(n *yaml.Node, what string, known []string, required ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for key, value := range d.pairs(n, what) {
		if !slices.Contains(known, key.Value) {
			d.fail(key, nearest.Unknown("field of "+what, key.Value, known))
		}
		values[key.Value] = value
	}
	for _, name := range required {
		if values[name] == nil {
			d.failf(n, "%s has no %s", what, name)
		}
	}
	return values
}

// pairs yields the keys and values of a mapping in their order. Keys are unique text.
func (d *decoder) pairs(n *yaml.Node, what string) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(key, value *yaml.Node) bool) {
		if d.err == nil && n.Kind != yaml.MappingNode {
			d.failf(n, "%s must be a mapping of names to values", what)
		}
		lines := map[string]int{}
		for i := 0; d.err == nil && i < len(n.Content); i += 2 {
			key := n.Content[i]
			name := d.text(key)
			if line, twice := lines[name]; twice {
				d.failf(key, "%q is given twice, first on line %d", name, line)
			}
			lines[name] = key.Line
			if d.err != nil || !yield(key, n.Content[i+1]) {
				return
			}
		}
	}
}

func setField[T any](d *decoder, to *T, values map[string]*yaml.Node, name string, read func(*yaml.Node) T) {
	if n := values[name]; n != nil && d.err == nil {
		*to = read(n)
	}
}

// text returns a scalar as it is written: 0.50 is "0.50".
func (d *decoder) text(n *yaml.Node) string {
	switch {
	case d.err != nil:
	case n.Kind == yaml.AliasNode:
		d.failf(n, "aliases are not allowed; write the value out")
	case n.Kind != yaml.ScalarNode:
		d.failf(n, "want one value here, not a mapping or a list")
	case n.Style&yaml.TaggedStyle != 0:
		d.failf(n, "tags are not allowed; remove %s", n.Tag)
	case n.Value == "" || n.Tag == "!!null":
		d.failf(n, "the value is missing")
	case strings.ContainsRune(n.Value, 0):
		d.failf(n, "a value cannot hold a NUL character")
	default:
		return n.Value
	}
	return ""
}

func readList[T any](d *decoder, n *yaml.Node, what string, read func(*yaml.Node) T) []T {
	if d.err == nil && n.Kind != yaml.SequenceNode {
		d.failf(n, "%s must be a list", what)
	}
	if d.err == nil && len(n.Content) == 0 {
		d.failf(n, "%s is empty", what)
	}
	var all []T
	for _, e := range n.Content {
		if d.err != nil {
			return nil
		}
		all = append(all, read(e))
	}
	return all
}

// whole returns a function that reads a whole number from low to high.
func (d *decoder) whole(low, high int) func(*yaml.Node) int {
	return func(n *yaml.Node) int {
		text := d.text(n)
		v, err := strconv.Atoi(text)
		if d.err == nil && (err != nil || v < low || v > high) {
			d.failf(n, "%q is not a whole number from %d to %d", text, low, high)
		}
		return v
	}
}

// duration returns a function that reads a duration of at least low.
func (d *decoder) duration(low time.Duration) func(*yaml.Node) time.Duration {
	return func(n *yaml.Node) time.Duration {
		text := d.text(n)
		v, err := time.ParseDuration(text)
		switch {
		case d.err != nil:
		case err != nil:
			d.failf(n, "%q is not a duration; write a number with its unit, for example 30s or 2m", text)
		case v < low:
			d.failf(n, "%q is too short; write at least %v", text, low)
		}
		return v
	}
}

func (d *decoder) regexp(n *yaml.Node) *regexp.Regexp {
	text := d.text(n)
	re, err := regexp.Compile(text)
	if d.err == nil && err != nil {
		d.failf(n, "%q is not a regular expression: %v", text, err)
	}
	return re
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// expand returns a function that reads text and replaces the parameters in it. It keeps
// the placeholders in places.
func (d *decoder) expand(places ...string) func(*yaml.Node) string {
	return func(n *yaml.Node) string {
		return placeholder.ReplaceAllStringFunc(d.text(n), func(at string) string {
			name, closed := strings.CutSuffix(at[2:], "}")
			p := d.parameters[name]
			switch {
			case !closed:
				d.failf(n, "%s has no closing brace", at)
			case slices.Contains(places, at):
				return at
			case p == nil:
				d.fail(n, nearest.Unknown("parameter", name, slices.Collect(maps.Keys(d.parameters))))
			default:
				p.used = true
				return p.value
			}
			return ""
		})
	}
}

func (d *decoder) manifest(n *yaml.Node, given map[string]string) []Kernel {
	top := d.mapping(n, "the manifest", []string{"version", "suite", "parameters", "defaults", "kernels"},
		"version", "suite", "kernels")
	if d.err != nil {
		return nil
	}
	if v := top["version"]; d.text(v) != "1" {
		d.failf(v, "version %s is unknown; this program reads version 1", v.Value)
	}
	d.readParameters(n, top["parameters"], given)

	base := Kernel{
		Suite:       d.text(top["suite"]),
		Timeout:     defaultTimeout,
		Repetitions: defaultRepetitions,
		Time:        TimeSource{Kind: Wall},
		File:        d.file,
	}
	if defaults := top["defaults"]; defaults != nil {
		d.shared(&base, d.mapping(defaults, "defaults", sharedFields))
	}
	lines := map[string]int{}
	kernels := readList(d, top["kernels"], "kernels", func(n *yaml.Node) Kernel {
		k := d.kernel(base, n)
		if line, twice := lines[k.Name]; twice {
			d.failf(n, "the kernel on line %d is also named %q; names must differ", line, k.Name)
		}
		lines[k.Name] = k.Line
		return k
	})
	for _, name := range slices.Sorted(maps.Keys(d.parameters)) {
		if p := d.parameters[name]; !p.used {
			d.failf(p.at, "the parameter %q is not used", name)
		}
	}
	return kernels
}

// readParameters reads the parameters and replaces the given values.
func (d *decoder) readParameters(whole, n *yaml.Node, given map[string]string) {
	d.parameters = map[string]*parameter{}
	if n == nil {
		n = &yaml.Node{Kind: yaml.MappingNode, Line: whole.Line, Column: whole.Column}
	}
	for key, value := range d.pairs(n, "parameters") {
		name := key.Value
		if !parameterName.MatchString(name) || "${"+name+"}" == csvPlace {
			d.failf(key, "a parameter cannot be named %q; use small letters, digits and _, but not csv, which is the path of "+
				"Altis's CSV", name)
		}
		p := &parameter{at: key}
		if g, ok := given[name]; ok {
			p.value = g
		} else if value.Tag != "!!null" {
			p.value = d.text(value)
		}
		switch {
		case d.err != nil:
		case p.value == "":
			d.failf(key, "the parameter %q has no value; set it with --set %s=VALUE", name, name)
		case strings.ContainsRune(p.value, 0):
			d.failf(key, "the parameter %q cannot hold a NUL character", name)
		}
		d.parameters[name] = p
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if d.err == nil && d.parameters[name] == nil {
			d.fail(n, nearest.Unknown("parameter", name, slices.Collect(maps.Keys(d.parameters))))
		}
	}
}

// kernel reads a kernel. base has the values of the fields that it omits.
func (d *decoder) kernel(base Kernel, n *yaml.Node) Kernel {
	k := base
	k.Line = n.Line
	f := d.mapping(n, "a kernel", slices.Concat(ownFields, sharedFields), "name", "argv")
	setField(d, &k.Name, f, "name", d.text)
	if d.err == nil && !kernelName.MatchString(k.Name) {
		d.failf(f["name"], "a kernel cannot be named %q; use letters, digits and, after the first, any of _.+-", k.Name)
	}
	d.shared(&k, f)
	setField(d, &k.Argv, f, "argv", func(n *yaml.Node) []string {
		return readList(d, n, "argv", d.expand(csvPlace))
	})
	setField(d, &k.Data, f, "data", func(n *yaml.Node) []Data {
		return readList(d, n, "data", d.data)
	})
	setField(d, &k.Result, f, "result", d.result)
	if d.err != nil {
		return Kernel{}
	}
	for _, variable := range variables(k.Argv) {
		if name, _, _ := strings.Cut(variable, "="); profiling.ChoosesGPU(name) {
			d.failf(f["argv"], "%s is set by the instance that the kernel runs on", name)
		}
	}
	writes := slices.ContainsFunc(k.Argv, func(a string) bool { return strings.Contains(a, csvPlace) })
	switch {
	case writes && k.Time.Kind != AltisCSV:
		d.failf(f["argv"], "%s is only for kernels with time: {source: %s}", csvPlace, AltisCSV)
	case !writes && k.Time.Kind == AltisCSV:
		d.failf(f["argv"],
			"the program must write the CSV that its time is read from; give it the path with -m and %s", csvPlace)
	}
	return k
}

func (d *decoder) shared(k *Kernel, f map[string]*yaml.Node) {
	setField(d, &k.SizeClass, f, "size_class", d.expand())
	setField(d, &k.Dir, f, "workdir", d.expand())
	setField(d, &k.Timeout, f, "timeout", d.duration(time.Millisecond))
	setField(d, &k.Warmup, f, "warmup", d.duration(0))
	setField(d, &k.Repetitions, f, "repetitions", d.whole(1, 1e6))
	setField(d, &k.MinMemoryMB, f, "min_mem_mb", d.whole(0, 1e9))
	setField(d, &k.Window, f, "window", d.yes)
	setField(d, &k.Pinned, f, "pinned", d.yes)
	if n := f["expect"]; n != nil {
		k.Expect, k.PrintsDevice = nil, false
		e := d.mapping(n, "expect", []string{"regexp", "device"})
		setField(d, &k.Expect, e, "regexp", d.regexp)
		setField(d, &k.PrintsDevice, e, "device", d.yes)
	}
	setField(d, &k.Time, f, "time", d.time)
}

// yes returns true or false.
func (d *decoder) yes(n *yaml.Node) bool {
	text := d.text(n)
	if d.err == nil && text != "true" && text != "false" {
		d.failf(n, "%q is neither true nor false", text)
	}
	return text == "true"
}

func (d *decoder) data(n *yaml.Node) Data {
	var file Data
	f := d.mapping(n, "data", []string{"path", "sha256"}, "path")
	setField(d, &file.Path, f, "path", d.expand())
	setField(d, &file.SHA256, f, "sha256", func(n *yaml.Node) string {
		text := strings.ToLower(d.text(n))
		if sum, err := hex.DecodeString(text); d.err == nil && (err != nil || len(sum) != 32) {
			d.failf(n, "%q is not a SHA-256; write its 64 hexadecimal digits, as sha256sum prints them", n.Value)
		}
		return text
	})
	return file
}

func (d *decoder) result(n *yaml.Node) ResultSource {
	var r ResultSource
	f := d.mapping(n, "result", []string{"file", "pattern"})
	if d.err == nil && len(f) != 1 {
		d.failf(n, "a result has either a file or a pattern")
	}
	setField(d, &r.File, f, "file", d.expand())
	setField(d, &r.Pattern, f, "pattern", d.regexp)
	if d.err == nil && r.Pattern != nil && r.Pattern.NumSubexp() > 1 {
		d.failf(f["pattern"], "the pattern has %d groups; put at most one part in parentheses", r.Pattern.NumSubexp())
	}
	return r
}

// timeFields are the fields of a time source in addition to source.
var timeFields = map[TimeKind][]string{
	Wall:     {},
	Regexp:   {"pattern", "unit"},
	AltisCSV: {"row"},
}

var timeUnits = map[string]mig.Seconds{"s": 1, "ms": 1e-3, "us": 1e-6}

func (d *decoder) time(n *yaml.Node) TimeSource {
	f := d.mapping(n, "time", []string{"source", "pattern", "unit", "row"}, "source")
	var t TimeSource
	setField(d, &t.Kind, f, "source", func(n *yaml.Node) TimeKind { return TimeKind(d.text(n)) })
	if d.err != nil {
		return TimeSource{}
	}
	fields, known := timeFields[t.Kind]
	if !known {
		d.fail(f["source"],
			nearest.Unknown("time source", string(t.Kind), []string{string(Wall), string(Regexp), string(AltisCSV)}))
	}
	for _, name := range []string{"pattern", "unit", "row"} {
		switch has, wants := f[name] != nil, slices.Contains(fields, name); {
		case wants && !has:
			d.failf(n, "time with source %s has no %s", t.Kind, name)
		case has && !wants:
			d.failf(f[name], "time with source %s has no field %s", t.Kind, name)
		}
	}
	setField(d, &t.Pattern, f, "pattern", d.regexp)
	if d.err == nil && t.Pattern != nil && t.Pattern.NumSubexp() != 1 {
		d.failf(f["pattern"], "the pattern has %d groups; put only the number in parentheses", t.Pattern.NumSubexp())
	}
	setField(d, &t.Unit, f, "unit", func(n *yaml.Node) mig.Seconds {
		text := d.text(n)
		unit, known := timeUnits[text]
		if d.err == nil && !known {
			d.failf(n, "%q is not a unit of time; write s, ms or us", text)
		}
		return unit
	})
	setField(d, &t.Row, f, "row", d.text)
	return t
}
