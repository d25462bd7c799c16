package launch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/wholefile"
)

// A ParseError says where a manifest is wrong and how to correct it.
type ParseError struct {
	File string
	// Line and Column count from 1. They are 0 if the text is not valid YAML; then Err has the line.
	Line, Column int
	// Err says what is wrong.
	Err error
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

// Unwrap returns what is wrong.
func (e *ParseError) Unwrap() error { return e.Err }

// Read parses a manifest. set replaces values of parameters. The file's name is used only in errors. An error in the
// text or in set is a [*ParseError], which wraps a [*nearest.UnknownError] if a name is unknown; other errors come from
// r.
func Read(r io.Reader, file string, set map[string]string) ([]Kernel, error) {
	text, err := wholefile.ReadAll(r, file, maxManifest)
	if err != nil {
		return nil, err
	}
	d := decoder{file: file}
	kernels := d.manifest(d.parse(text), set)
	if d.err != nil {
		return nil, d.err
	}
	return kernels, nil
}

// maxManifest is how many bytes a manifest may have.
const maxManifest = 1 << 20

// defaultTimeout is the timeout of a kernel whose manifest gives none.
const defaultTimeout = 10 * time.Minute

// csvPlace is the placeholder in argv for the path of Altis's CSV.
const csvPlace = "${csv}"

var (
	kernelName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*$`)
	parameterName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// A decoder reads the nodes of a manifest. It keeps the first error; after it, its methods return zero values.
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
		d.err = &ParseError{File: d.file, Err: err}
	}
	return &yaml.Node{}
}

// fields are those that a mapping can have, with the functions that read them.
type fields map[string]func(*yaml.Node)

// into returns a function that reads a field into a variable.
func into[T any](to *T, read func(*yaml.Node) T) func(*yaml.Node) {
	return func(n *yaml.Node) { *to = read(n) }
}

// mapping reads the fields of a mapping in their order and returns their values. what names the mapping in errors.
func (d *decoder) mapping(n *yaml.Node, what string, known fields, required ...string) map[string]*yaml.Node {
	given := map[string]*yaml.Node{}
	for key, value := range d.pairs(n, what) {
		read := known[key.Value]
		if read == nil {
			d.fail(key, nearest.Unknown("field of "+what, key.Value, slices.Collect(maps.Keys(known))))
			break
		}
		given[key.Value] = value
		read(value)
	}
	for _, name := range required {
		if given[name] == nil {
			d.failf(n, "%s has no %s", what, name)
		}
	}
	return given
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

// text returns a scalar as it is written: 0.50 is "0.50".
func (d *decoder) text(n *yaml.Node) string {
	switch {
	case d.err != nil:
	case n.Kind != yaml.ScalarNode:
		d.failf(n, "want one value here, not a mapping, a list or an alias")
	case n.Value == "" || n.Tag == "!!null":
		d.failf(n, "the value is missing")
	default:
		return n.Value
	}
	return ""
}

// list returns a function that reads a list.
func list[T any](d *decoder, what string, read func(*yaml.Node) T) func(*yaml.Node) []T {
	return func(n *yaml.Node) (all []T) {
		if n.Kind != yaml.SequenceNode {
			d.failf(n, "%s must be a list", what)
		} else if len(n.Content) == 0 {
			d.failf(n, "%s is empty", what)
		}
		for _, e := range n.Content {
			if d.err != nil {
				return nil
			}
			all = append(all, read(e))
		}
		return all
	}
}

// oneOf returns a function that reads one of some words. kind says in errors what they are.
func oneOf[T any](d *decoder, kind string, words map[string]T) func(*yaml.Node) T {
	return func(n *yaml.Node) T {
		word := d.text(n)
		v, known := words[word]
		if !known {
			d.fail(n, nearest.Unknown(kind, word, slices.Collect(maps.Keys(words))))
		}
		return v
	}
}

// integer returns a function that reads a whole number from low to high.
func (d *decoder) integer(low, high int) func(*yaml.Node) int {
	return func(n *yaml.Node) int {
		text := d.text(n)
		v, err := strconv.Atoi(text)
		if err != nil || v < low || v > high {
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
		if err != nil {
			d.failf(n, "%q is not a duration; write a number with its unit, for example 30s or 2m", text)
		} else if v < low {
			d.failf(n, "%q is too short; write at least %v", text, low)
		}
		return v
	}
}

// regexp returns a function that reads a regular expression with least to most groups. put says in errors what a group
// encloses.
func (d *decoder) regexp(least, most int, put string) func(*yaml.Node) *regexp.Regexp {
	return func(n *yaml.Node) *regexp.Regexp {
		text := d.text(n)
		re, err := regexp.Compile(text)
		if err != nil {
			d.failf(n, "%q is not a regular expression: %v", text, err)
		} else if groups := re.NumSubexp(); groups < least || groups > most {
			d.failf(n, "the pattern has %d groups; put %s in parentheses", groups, put)
		}
		return re
	}
}

var placeholder = regexp.MustCompile(`\$\{[^}]*\}?`)

// expand returns a function that reads text and replaces the parameters in it. It keeps the placeholders in places.
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
	base := Kernel{Timeout: defaultTimeout, Time: TimeSource{Kind: Wall}, File: d.file}
	later := func(*yaml.Node) {} // they may use others that are below them
	top := d.mapping(n, "the manifest", fields{
		"version": into(new(int), oneOf(d, "version", map[string]int{"1": 1})), "suite": into(&base.Suite, d.text),
		"parameters": later, "defaults": later, "kernels": later,
	}, "version", "suite", "kernels")
	if d.err != nil {
		return nil
	}
	d.readParameters(n, top["parameters"], given)
	if defaults := top["defaults"]; defaults != nil {
		d.mapping(defaults, "defaults", d.defaults(&base))
	}
	lines := map[string]int{}
	all := list(d, "kernels", func(n *yaml.Node) Kernel {
		k := d.kernel(base, n)
		if line, twice := lines[k.Name]; twice {
			d.failf(n, "the kernel on line %d is also named %q; names must differ", line, k.Name)
		}
		lines[k.Name] = k.Line
		return k
	})(top["kernels"])
	for _, name := range slices.Sorted(maps.Keys(d.parameters)) {
		if p := d.parameters[name]; !p.used {
			d.failf(p.at, "the parameter %q is not used", name)
		}
	}
	return all
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
			d.failf(key,
				"a parameter cannot be named %q; use small letters, digits and _, but not csv, which is the path of "+
					"Altis's CSV", name)
		}
		if g, ok := given[name]; ok {
			value = &yaml.Node{Kind: yaml.ScalarNode, Value: g, Line: key.Line, Column: key.Column}
		}
		if value.Tag == "!!null" || value.Kind == yaml.ScalarNode && value.Value == "" {
			d.failf(key, "the parameter %q has no value; set it with --set %s=VALUE", name, name)
		}
		d.parameters[name] = &parameter{at: key, value: d.text(value)}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if d.parameters[name] == nil {
			d.fail(n, nearest.Unknown("parameter", name, slices.Collect(maps.Keys(d.parameters))))
		}
	}
}

// kernel reads a kernel. base has the values of the fields that it omits.
func (d *decoder) kernel(base Kernel, n *yaml.Node) Kernel {
	k := base
	k.Line = n.Line
	known := d.defaults(&k)
	known["name"] = func(n *yaml.Node) {
		if k.Name = d.text(n); !kernelName.MatchString(k.Name) {
			d.failf(n, "a kernel cannot be named %q; use letters, digits and, after the first, any of _.+-", k.Name)
		}
	}
	known["argv"] = into(&k.Argv, list(d, "argv", d.expand(csvPlace)))
	known["data"] = into(&k.Data, list(d, "data", d.data))
	known["result"] = into(&k.Result, d.result)
	argv := d.mapping(n, "a kernel", known, "name", "argv")["argv"]
	if d.err != nil {
		return Kernel{}
	}
	if filepath.Base(k.Argv[0]) == "env" {
		d.failf(argv, "env hides the program: set the variables for miglab, or in a script")
	}
	writes := slices.ContainsFunc(k.Argv, func(a string) bool { return strings.Contains(a, csvPlace) })
	switch {
	case writes && k.Time.Kind != AltisCSV:
		d.failf(argv, "%s is only for kernels with time: {source: %s}", csvPlace, AltisCSV)
	case !writes && k.Time.Kind == AltisCSV:
		d.failf(argv,
			"the program must write the CSV that its time is read from; give it the path with -m and %s", csvPlace)
	}
	return k
}

// defaults returns the fields that defaults may set.
func (d *decoder) defaults(k *Kernel) fields {
	yes := oneOf(d, "boolean", map[string]bool{"true": true, "false": false})
	return fields{
		"size_class":  into(&k.SizeClass, d.expand()),
		"workdir":     into(&k.Dir, d.expand()),
		"own_folder":  into(&k.OwnFolder, yes),
		"timeout":     into(&k.Timeout, d.duration(time.Millisecond)),
		"warmup":      into(&k.Warmup, d.duration(0)),
		"repetitions": into(&k.Repetitions, d.integer(1, 1e6)),
		"min_mem_mb":  into(&k.MinMemoryMB, d.integer(0, 1e9)),
		"time":        into(&k.Time, d.time),
		"expect": func(n *yaml.Node) {
			k.Expect, k.PrintsDevice = nil, false
			d.mapping(n, "expect", fields{
				"regexp": into(&k.Expect, d.regexp(0, math.MaxInt, "")), "device": into(&k.PrintsDevice, yes),
			})
		},
	}
}

func (d *decoder) data(n *yaml.Node) (file Data) {
	d.mapping(n, "data", fields{"path": into(&file.Path, d.expand()), "sha256": func(n *yaml.Node) {
		file.SHA256 = strings.ToLower(d.text(n))
		if sum, err := hex.DecodeString(file.SHA256); err != nil || len(sum) != 32 {
			d.failf(n, "%q is not a SHA-256; write its 64 hexadecimal digits, as sha256sum prints them", n.Value)
		}
	}}, "path")
	return file
}

func (d *decoder) result(n *yaml.Node) (r ResultSource) {
	d.mapping(n, "result", fields{
		"file": into(&r.File, d.expand()), "pattern": into(&r.Pattern, d.regexp(0, 1, "at most one part")),
	})
	if (r.File == "") == (r.Pattern == nil) {
		d.failf(n, "a result has either a file or a pattern")
	}
	return r
}

func (d *decoder) time(n *yaml.Node) (t TimeSource) {
	sources := map[string]TimeKind{"wall": Wall, "regexp": Regexp, "altis_csv": AltisCSV}
	f := d.mapping(n, "time", fields{
		"source":  into(&t.Kind, oneOf(d, "time source", sources)),
		"pattern": into(&t.Pattern, d.regexp(1, 1, "only the number")),
		"unit":    into(&t.Unit, oneOf(d, "unit of time", map[string]mig.Seconds{"s": 1, "ms": 1e-3, "us": 1e-6})),
		"row":     into(&t.Row, d.text),
	}, "source")
	wanted := map[TimeKind][]string{Regexp: {"pattern", "unit"}, AltisCSV: {"row"}}[t.Kind]
	for _, name := range []string{"pattern", "unit", "row"} {
		switch has, wants := f[name] != nil, slices.Contains(wanted, name); {
		case wants && !has:
			d.failf(n, "time with source %s has no %s", t.Kind, name)
		case has && !wants:
			d.failf(f[name], "time with source %s has no field %s", t.Kind, name)
		}
	}
	return t
}
