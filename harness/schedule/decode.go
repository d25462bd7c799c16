package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// Decode reads what [Encode] writes as an answer to the problem. It is strict: a
// field that is unknown, missing, given twice or of the wrong type, a task or GPU
// that is not the problem's, an instance that the GPU cannot hold, a makespan_s
// that is not the end of the last task (to 1e-9 of it), and text after the end are
// each a [*FormatError]; it wraps a [*nearest.UnknownError] for unknown names and a
// [*mig.PlacementError] for impossible instances. Other errors are those of r.
// Whether the schedule is valid is for [Check] to say.
func Decode(r io.Reader, p Problem) (Schedule, error) {
	if p.GPU == nil {
		return Schedule{}, errors.New("schedule: the problem has no GPU model")
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule: %w", err)
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text, p: &p, tasks: taskNames(&p)}
	d.UseNumber()
	s, err := d.schedule()
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

// A decoder reads the tokens of a file and knows where it is.
type decoder struct {
	*json.Decoder
	text  []byte
	p     *Problem
	tasks map[string]int
	// at is the offset in bytes at which the last token begins.
	at int64
}

// A field is a member of a JSON object.
type field struct {
	name     string
	optional bool
	read     func(path string) error
}

// into makes a field's read of a function that reads a value.
func into[T any](to *T, read func(path string) (T, error)) func(path string) error {
	return func(path string) (err error) {
		*to, err = read(path)
		return err
	}
}

// line is the line of the last token, from 1.
func (d *decoder) line() int { return 1 + bytes.Count(d.text[:d.at], []byte{'\n'}) }

func (d *decoder) fail(path, format string, args ...any) error {
	return &FormatError{Line: d.line(), Path: path, Err: fmt.Errorf(format, args...)}
}

// token returns the next token.
func (d *decoder) token() (json.Token, error) {
	d.at = d.InputOffset()
	for d.at < int64(len(d.text)) && strings.IndexByte(" \t\r\n,:", d.text[d.at]) >= 0 {
		d.at++
	}
	t, err := d.Token()
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, d.fail("", "the text ends at byte %d, before the schedule does", len(d.text))
	case err != nil:
		return nil, d.fail("", "this is not JSON at byte %d: %w", d.at, err)
	}
	return t, nil
}

// delim reads a bracket.
func (d *decoder) delim(path string, want json.Delim, what string) error {
	t, err := d.token()
	if err != nil {
		return err
	}
	if t != want {
		return d.fail(path, "%s is not %s", show(t), what)
	}
	return nil
}

// show words a token for an error.
func show(t json.Token) string {
	switch t := t.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(t)
	case json.Delim:
		if t == '{' {
			return "an object"
		}
		return "a list"
	}
	return fmt.Sprint(t)
}

// join appends a member's name to a path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// object reads an object with exactly these fields, in any order.
func (d *decoder) object(path string, fields []field) error {
	if err := d.delim(path, '{', "an object"); err != nil {
		return err
	}
	var seen [8]bool
	for d.More() {
		t, err := d.token()
		if err != nil {
			return err
		}
		name := t.(string) // of a key, Token returns nothing else
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if i < 0 {
			var known []string
			for _, f := range fields {
				known = append(known, f.name)
			}
			return d.fail(path, "%w", nearest.Unknown("field", name, known))
		}
		if seen[i] {
			return d.fail(join(path, name), "the field is there twice")
		}
		seen[i] = true
		if err := fields[i].read(join(path, name)); err != nil {
			return err
		}
	}
	if _, err := d.token(); err != nil {
		return err
	}
	for i, f := range fields {
		if !f.optional && !seen[i] {
			return d.fail(join(path, f.name), "the field is missing")
		}
	}
	return nil
}

// list reads a list.
func (d *decoder) list(path string, read func(path string) error) error {
	if err := d.delim(path, '[', "a list"); err != nil {
		return err
	}
	for i := 0; d.More(); i++ {
		if err := read(fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := d.token()
	return err
}

func (d *decoder) str(path string) (string, error) {
	t, err := d.token()
	if err != nil {
		return "", err
	}
	s, ok := t.(string)
	if !ok {
		return "", d.fail(path, "%s is not a string", show(t))
	}
	return s, nil
}

func (d *decoder) seconds(path string) (mig.Seconds, error) {
	t, err := d.token()
	if err != nil {
		return 0, err
	}
	n, ok := t.(json.Number)
	if !ok {
		return 0, d.fail(path, "%s is not a number of seconds", show(t))
	}
	f, err := n.Float64()
	if err != nil {
		return 0, d.fail(path, "%s is too large for a number of seconds", n)
	}
	return mig.Seconds(f), nil
}

func (d *decoder) integer(path string) (int, error) {
	t, err := d.token()
	if err != nil {
		return 0, err
	}
	n, ok := t.(json.Number)
	if !ok {
		return 0, d.fail(path, "%s is not a whole number", show(t))
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return 0, d.fail(path, "%s is not a whole number", n)
	}
	return i, nil
}

func (d *decoder) schedule() (Schedule, error) {
	s := Schedule{GPU: d.p.GPU}
	var makespan mig.Seconds
	var makespanLine int
	err := d.object("", []field{
		{name: "gpu", read: d.gpu},
		{name: "algorithm", read: into(&s.Algorithm, d.str)},
		{name: "reconfiguration", read: into(&s.Model, d.reconfiguration)},
		{name: "makespan_s", read: func(path string) (err error) {
			makespan, err = d.seconds(path)
			makespanLine = d.line()
			return err
		}},
		{name: "placements", read: func(path string) error {
			return d.list(path, func(path string) error {
				pl, err := d.placement(path)
				s.Placements = append(s.Placements, pl)
				return err
			})
		}},
		{name: "reconfigurations", read: func(path string) error {
			return d.list(path, func(path string) error {
				o, err := d.operation(path)
				s.Operations = append(s.Operations, o)
				return err
			})
		}},
		{name: "counters", optional: true, read: into(&s.Counters, d.counters)},
	})
	if err != nil {
		return s, err
	}
	last := s.Makespan()
	if tolerance := 1e-9 * max(1, last); makespan > last+tolerance || makespan < last-tolerance {
		return s, &FormatError{Line: makespanLine, Path: "makespan_s", Err: fmt.Errorf("%v is not the end of the last task, which is %v", makespan, last)}
	}
	return s, d.end()
}

// end reads what may follow the schedule: nothing.
func (d *decoder) end() error {
	rest := bytes.TrimLeft(d.text[d.InputOffset():], " \t\r\n")
	if len(rest) == 0 {
		return nil
	}
	d.at = int64(len(d.text) - len(rest))
	return d.fail("", "there is more text after the schedule, at byte %d", d.at)
}

// gpu reads the name of the problem's GPU.
func (d *decoder) gpu(path string) error {
	name, err := d.str(path)
	if err != nil {
		return err
	}
	g := d.p.GPU
	for _, known := range append([]string{g.Name}, g.Aliases...) {
		if strings.EqualFold(known, name) {
			return nil
		}
	}
	if _, err := mig.Lookup(name); err != nil {
		return d.fail(path, "%w", err)
	}
	return d.fail(path, "the schedule is for %s, the problem for %s", name, g)
}

func (d *decoder) reconfiguration(path string) (mig.Reconfiguration, error) {
	name, err := d.str(path)
	if err != nil {
		return 0, err
	}
	m, err := mig.ParseReconfiguration(name)
	if err != nil {
		return 0, d.fail(path, "%w", err)
	}
	return m, nil
}

func (d *decoder) placement(path string) (Placement, error) {
	var pl Placement
	use, err := d.use(path, field{name: "task", read: into(&pl.Task, d.task)})
	pl.GPU, pl.Instance, pl.Start, pl.End = use.GPU, use.Instance, use.Start, use.End
	return pl, err
}

func (d *decoder) operation(path string) (Operation, error) {
	var op Op
	use, err := d.use(path, field{name: "op", read: into(&op, d.op)})
	use.Op = op
	return use, err
}

// use reads what placements and operations share, besides the given field: the
// GPU, the instance and the interval.
func (d *decoder) use(path string, first field) (Operation, error) {
	var use Operation
	var size, slice, sizeLine int
	err := d.object(path, []field{
		first,
		{name: "gpu", read: into(&use.GPU, d.integer)},
		{name: "size", read: func(path string) (err error) {
			size, err = d.integer(path)
			sizeLine = d.line()
			return err
		}},
		{name: "slice", read: into(&slice, d.integer)},
		{name: "start_s", read: into(&use.Start, d.seconds)},
		{name: "end_s", read: into(&use.End, d.seconds)},
	})
	if err != nil {
		return use, err
	}
	if use.Instance, err = d.p.GPU.Instance(mig.Slices(size), mig.Slices(slice)); err != nil {
		return use, &FormatError{Line: sizeLine, Path: join(path, "size"), Err: err}
	}
	return use, nil
}

// task reads the name of a task and returns its index.
func (d *decoder) task(path string) (int, error) {
	name, err := d.str(path)
	if err != nil {
		return 0, err
	}
	i, ok := d.tasks[name]
	if !ok {
		known := make([]string, len(d.p.Tasks))
		for i := range known {
			known[i] = d.p.Tasks[i].Name
		}
		return 0, d.fail(path, "%w", nearest.Unknown("task", name, known))
	}
	return i, nil
}

func (d *decoder) op(path string) (Op, error) {
	name, err := d.str(path)
	if err != nil {
		return 0, err
	}
	for _, op := range []Op{Create, Destroy} {
		if op.String() == name {
			return op, nil
		}
	}
	return 0, d.fail(path, "%w", nearest.Unknown("operation", name, []string{Create.String(), Destroy.String()}))
}

// counters reads an object of whole numbers; nil for an empty one.
func (d *decoder) counters(path string) (map[string]int, error) {
	if err := d.delim(path, '{', "an object"); err != nil {
		return nil, err
	}
	var counters map[string]int
	for d.More() {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		name := t.(string)
		if _, ok := counters[name]; ok {
			return nil, d.fail(join(path, name), "the counter is there twice")
		}
		n, err := d.integer(join(path, name))
		if err != nil {
			return nil, err
		}
		if counters == nil {
			counters = map[string]int{}
		}
		counters[name] = n
	}
	_, err := d.token()
	return counters, err
}
