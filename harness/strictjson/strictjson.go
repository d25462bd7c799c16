// Package strictjson reads JSON and refuses everything that is not exactly what the caller asked for: unknown and
// duplicate members, members whose names differ in case, values of another type, null, invalid UTF-8, and text after
// the end. An error names the line and the value.
//
// [Unmarshal] fills a struct. A [Decoder] reads token by token, for formats whose checks
// need to name the place of a value.
package strictjson

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"miglab/harness/nearest"
)

// Error says where a text is wrong and what would be right.
type Error struct {
	// Line counts from 1. It is 0 if the line is not known.
	Line int
	// Path is the value concerned, for example placements[3].size. It is empty for the whole text.
	Path string
	// Err says what is wrong.
	Err error
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Unmarshal reads one JSON value into the value that v points to. Members that the text
// lacks leave their fields as they are. The error is an [*Error].
func Unmarshal(text []byte, v any) error {
	d := NewDecoder(bytes.NewReader(text))
	if err := d.Value(v); err != nil {
		return err
	}
	return d.End()
}

// Line is [Unmarshal] for a text that is a line of something larger: its error has no line.
func Line(text []byte, v any) error {
	err := Unmarshal(text, v)
	if at, ok := errors.AsType[*Error](err); ok {
		at.Line = 0
	}
	return err
}

// A Decoder reads JSON token by token. After the first error it must not be used again.
// A wrong text is an [*Error]; a Decoder passes on the errors of the reader.
type Decoder struct {
	in *jsontext.Decoder
	// lines counts the lines of the text as it is read.
	lines LineCounter
}

// MaxBytes is the length of the longest text.
const MaxBytes = 256 << 20

var errTooLong = fmt.Errorf("the text is longer than %d MiB", MaxBytes>>20)

// NewDecoder returns a decoder of a text.
func NewDecoder(r io.Reader) *Decoder {
	d := &Decoder{lines: LineCounter{Reader: r, Most: MaxBytes}}
	d.in = jsontext.NewDecoder(&d.lines)
	return d
}

// A LineCounter notes where lines end while a text is read, so that the line of an offset is found without reading
// twice.
type LineCounter struct {
	io.Reader
	// Most is the number of bytes that may be read; 0 means any number.
	Most int64
	// read is the number of bytes that were read.
	read int64
	// passed is the number of lines that end before the last offset given to At, and ends holds the offsets of later
	// line ends.
	passed int
	ends   []int64
}

// Read implements [io.Reader], and notes where lines end.
func (l *LineCounter) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(b[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		l.ends = append(l.ends, l.read+int64(i))
	}
	l.read += int64(n)
	if l.Most > 0 && l.read > l.Most {
		return 0, errTooLong
	}
	return n, err
}

// At returns the line of an offset, from 1. Offsets must not decrease from call to call.
func (l *LineCounter) At(offset int64) int {
	for len(l.ends) > 0 && l.ends[0] < offset {
		l.ends = l.ends[1:]
		l.passed++
	}
	return l.passed + 1
}

// Line returns the line of the token that was read last.
func (d *Decoder) Line() int { return d.lines.At(d.in.InputOffset()) }

// Fail returns the error about the value that was read last.
func (d *Decoder) Fail(format string, args ...any) error {
	return d.FailAt(d.Line(), "", fmt.Errorf(format, args...))
}

// FailAt returns the error about a member, at a line, of the object that was read last. The
// member is empty for an error about the object itself.
func (d *Decoder) FailAt(line int, member string, err error) error {
	return &Error{Line: line, Path: joinPath(d.path(d.in.StackPointer()), member), Err: err}
}

// path writes a JSON pointer as programs do, for example a.b[3]. Below the decoder's stack it does not know which
// tokens are names; it takes numbers for indices there.
func (d *Decoder) path(p jsontext.Pointer) string {
	path, level := "", 0
	for name := range p.Tokens() {
		level++
		_, err := strconv.ParseUint(name, 10, 63)
		isIndex := err == nil
		if level <= d.in.StackDepth() {
			kind, _ := d.in.StackIndex(level)
			isIndex = kind == '['
		}
		if isIndex {
			path += "[" + name + "]"
		} else {
			path = joinPath(path, shorten(name))
		}
	}
	return shorten(path)
}

// joinPath adds a member to a path. Either may be empty.
func joinPath(path, member string) string {
	if path == "" || member == "" {
		return path + member
	}
	return path + "." + member
}

// wrap turns an error of the JSON library into one that says where it is.
func (d *Decoder) wrap(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{
			Line: d.lines.At(d.lines.read),
			Err:  fmt.Errorf("the text is incomplete; it ends at byte %d", d.lines.read),
		}
	}
	if errors.Is(err, errTooLong) {
		return &Error{Line: d.lines.At(d.lines.read), Err: errTooLong}
	}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e := &Error{Line: d.lines.At(at.ByteOffset), Path: d.path(at.JSONPointer)}
		e.Err = fmt.Errorf("this is not JSON at byte %d: %w", at.ByteOffset, at.Err)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			e.Err = errors.New("the field is there twice")
		}
		return e
	}
	if at, ok := errors.AsType[*json.SemanticError](err); ok {
		e := &Error{Line: d.lines.At(at.ByteOffset), Path: d.path(at.JSONPointer), Err: misfit(at)}
		if errors.Is(err, json.ErrUnknownName) {
			e.Path = d.path(at.JSONPointer.Parent())
			e.Err = nearest.Unknown("field", shorten(at.JSONPointer.LastToken()), fieldNames(at.GoType))
		}
		return e
	}
	return err
}

// fieldNames returns the names that the fields of a struct have in JSON, also those of embedded structs.
func fieldNames(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			names = append(names, fieldNames(f.Type)...)
		case f.IsExported() && name != "-":
			names = append(names, cmp.Or(name, f.Name))
		}
	}
	return names
}

// misfit says why a value does not fit the Go value that it is read into.
func misfit(e *json.SemanticError) error {
	value := kindName(e.JSONKind)
	if e.JSONValue != nil {
		value = shorten(string(e.JSONValue))
	}
	want := "valid"
	if e.GoType != nil {
		want = goKind(e.GoType)
	}
	if unknown, ok := errors.AsType[*nearest.UnknownError](e.Err); ok {
		return unknown
	}
	if e.Err != nil && !errors.Is(e.Err, strconv.ErrSyntax) {
		return fmt.Errorf("%s is not %s: %w", value, want, e.Err)
	}
	return fmt.Errorf("%s is not %s", value, want)
}

// goKind names in errors the values that fit a Go type.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return goKind(t.Elem())
	}
	return "a " + t.String()
}

// kindName names in errors a kind of JSON token.
func kindName(k jsontext.Kind) string {
	switch k {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 0:
		return "the value"
	}
	return k.String()
}

// maxShown is the largest number of bytes of a value that an error quotes.
const maxShown = 100

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

// noNull refuses null, which the JSON library reads as a zero value. Types that decode themselves may take it.
var noNull = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, to any) error {
	if _, ok := to.(json.Unmarshaler); ok || d.PeekKind() != 'n' {
		return errors.ErrUnsupported // the value is read as usual
	}
	return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to)}
}))

// Value reads the next value into what v points to, as [Unmarshal] does.
func (d *Decoder) Value(v any) error {
	if err := json.UnmarshalDecode(d.in, v, json.RejectUnknownMembers(true), noNull); err != nil {
		return d.wrap(err)
	}
	return nil
}

// End checks that only white space is left.
func (d *Decoder) End() error {
	_, err := d.in.ReadToken()
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	at := d.in.InputOffset()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntax.ByteOffset
	} else if err != nil {
		return d.wrap(err)
	}
	return &Error{
		Line: d.lines.At(at),
		Err:  fmt.Errorf("there is more text after the end, at byte %d", at),
	}
}

// open reads the token that begins an object or a list. Another token is an error, which says that it is not want.
func (d *Decoder) open(kind jsontext.Kind, want string) error {
	t, err := d.in.ReadToken()
	if err != nil {
		return d.wrap(err)
	}
	value := shorten(t.String())
	switch t.Kind() {
	case kind:
		return nil
	case '{', '[':
		value = kindName(t.Kind())
	case '"':
		value = strconv.Quote(value)
	}
	return d.Fail("%s is not %s", value, want)
}

// A Member is a member of an object.
type Member struct {
	Name string
	// Optional members may be missing.
	Optional bool
	// Read reads the value with the decoder's methods.
	Read func() error
}

// Into makes a [Member.Read] of a pointer to a string, a number or a bool.
func (d *Decoder) Into(to any) func() error {
	want := goKind(reflect.TypeOf(to).Elem())
	return func() error {
		if kind := d.in.PeekKind(); kind == '{' || kind == '[' || kind == 'n' {
			return d.open(0, want) // No token has the kind 0, so this is the error about the value.
		}
		value, err := d.in.ReadValue()
		if err != nil {
			return d.wrap(err)
		}
		err = json.Unmarshal(value, to)
		if errors.Is(err, strconv.ErrRange) {
			return d.Fail("%s is too large for %s", shorten(string(value)), want)
		}
		if err != nil {
			return d.Fail("%s is not %s", shorten(string(value)), want)
		}
		return nil
	}
}

// Object reads an object with the members in any order. An unknown name gives an error that wraps a
// [*nearest.UnknownError].
func (d *Decoder) Object(members []Member) error {
	var seen []string
	err := d.Each(func(name string) error {
		m, err := nearest.Find("field", name, members, func(m Member) string { return m.Name })
		if err != nil {
			return &Error{Line: d.Line(), Path: d.path(d.in.StackPointer().Parent()), Err: err}
		}
		seen = append(seen, name)
		return m.Read()
	})
	if err != nil {
		return err
	}
	for _, m := range members {
		if !m.Optional && !slices.Contains(seen, m.Name) {
			return d.FailAt(d.Line(), m.Name, errors.New("the field is missing"))
		}
	}
	return nil
}

// Each reads an object with any members: read is called with each name and must read the value.
func (d *Decoder) Each(read func(name string) error) error {
	if err := d.open('{', kindName('{')); err != nil {
		return err
	}
	for {
		t, err := d.in.ReadToken()
		if err != nil {
			return d.wrap(err)
		}
		if t.Kind() == '}' {
			return nil
		}
		if err := read(t.String()); err != nil {
			return err
		}
	}
}

// List reads a list: read is called for each value and must read it.
func (d *Decoder) List(read func() error) error {
	if err := d.open('[', kindName('[')); err != nil {
		return err
	}
	for d.in.PeekKind() != ']' {
		if err := read(); err != nil {
			return err
		}
	}
	if _, err := d.in.ReadToken(); err != nil {
		return d.wrap(err)
	}
	return nil
}
