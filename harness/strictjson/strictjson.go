// Package strictjson reads JSON and refuses everything that is not exactly what the caller asked for: unknown and
// duplicate members, members whose names differ in case, values of another type, null, invalid UTF-8, and text after
// the end. An error names the line and the value.
//
// [Unmarshal] and [Complete] fill Go values. A caller that finds a mistake in them later names its place by a [Fault].
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
	"miglab/harness/wholefile"
)

// Error says where a text is wrong and what would be right.
type Error struct {
	Line int    // counts from 1; 0 if the line is not known
	Path string // the value concerned, for example placements[3].size; empty for the whole text
	Err  error  // says what is wrong
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
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if err := json.UnmarshalDecode(d, v, json.RejectUnknownMembers(true), noNull); err != nil {
		return explain(text, d, err)
	}
	_, err := d.ReadToken()
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	at := d.InputOffset()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntax.ByteOffset
	}
	return &Error{Line: lineAt(text, at), Err: fmt.Errorf("there is more text after the end, at byte %d", at)}
}

// Line is [Unmarshal] for a text that is a line of something larger: its error has no line.
func Line(text []byte, v any) error {
	err := Unmarshal(text, v)
	if at, ok := errors.AsType[*Error](err); ok {
		at.Line = 0
	}
	return err
}

// Complete is [Unmarshal] for a text that must have all members, except those whose fields have the tag omitempty or
// omitzero.
func Complete(text []byte, v any) error {
	if err := Unmarshal(text, v); err != nil {
		return err
	}
	d := jsontext.NewDecoder(bytes.NewReader(text))
	return findMissing(text, d, reflect.TypeOf(v).Elem(), map[reflect.Type][]member{})
}

// MaxBytes is the length of the longest text of [Read].
const MaxBytes = 256 << 20

// Read reads a text and completes v as [Complete] does. It passes on the errors of the reader, with the name of the
// text.
func Read(r io.Reader, name string, v any) (text []byte, err error) {
	if text, err = wholefile.ReadAll(r, name, MaxBytes); err != nil {
		return nil, err
	}
	return text, Complete(text, v)
}

// A Fault says what is wrong with a value that was read, by its place in the text. [Locate] adds the line.
type Fault struct {
	At  jsontext.Pointer
	Err error
}

func (f *Fault) Error() string { return string(f.At) + ": " + f.Err.Error() }

func (f *Fault) Unwrap() error { return f.Err }

// Locate turns a [*Fault] of the value at a place of the text into an [*Error] of the text. It returns other errors and
// nil as they are.
func Locate(text []byte, at jsontext.Pointer, err error) error {
	fault, ok := errors.AsType[*Fault](err)
	if !ok {
		return err
	}
	at += fault.At
	d, _ := find(text, at)
	return &Error{Line: lineAt(text, d.InputOffset()), Path: path(d, at), Err: fault.Err}
}

// find reads a text up to the first token of the value at a place, or up to the first mistake.
func find(text []byte, at jsontext.Pointer) (*jsontext.Decoder, jsontext.Token) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.ReadToken()
		kind, tokens := d.StackIndex(d.StackDepth())
		isName := kind == '{' && tokens%2 == 1
		if err != nil || d.StackPointer() == at && !isName {
			return d, t
		}
	}
}

// lineAt returns the line of an offset, from 1.
func lineAt(text []byte, offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// A member is a member that a struct has in JSON.
type member struct {
	name     string
	of       reflect.Type
	optional bool
}

// membersOf returns the members of a struct, also those of embedded structs.
func membersOf(t reflect.Type) (out []member) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			out = append(out, membersOf(f.Type)...)
		case f.IsExported() && name != "-":
			out = append(out, member{
				name: cmp.Or(name, f.Name), of: f.Type, optional: strings.HasPrefix(options, "omit"),
			})
		}
	}
	return out
}

// findMissing reads a value that was read into a Go value of type t. It returns an error for an object in it that lacks
// a member. known has the members of the structs that occurred so far.
func findMissing(text []byte, d *jsontext.Decoder, t reflect.Type, known map[reflect.Type][]member) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isObject := d.PeekKind() == '{' && t.Kind() == reflect.Struct
	isList := d.PeekKind() == '[' && t.Kind() == reflect.Slice
	if !isObject && !isList {
		return d.SkipValue()
	}
	if isObject && known[t] == nil {
		known[t] = membersOf(t)
	}
	_, _ = d.ReadToken() // Unmarshal has read the text without an error.
	at := d.StackPointer()
	var seen []string
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		of := t
		if isList {
			of = t.Elem()
		} else {
			token, _ := d.ReadToken()
			name := token.String()
			seen = append(seen, name)
			of = known[t][slices.IndexFunc(known[t], func(m member) bool { return m.name == name })].of
		}
		if err := findMissing(text, d, of, known); err != nil {
			return err
		}
	}
	_, _ = d.ReadToken()
	for _, m := range known[t] {
		if !m.optional && !slices.Contains(seen, m.name) {
			return &Error{
				Line: lineAt(text, d.InputOffset()), Path: joinPath(path(d, at), m.name),
				Err: errors.New("the field is missing"),
			}
		}
	}
	return nil
}

// path writes a JSON pointer as programs do, for example a.b[3]. Below the decoder's stack it does not know which
// tokens are names; it takes numbers for indices there.
func path(d *jsontext.Decoder, p jsontext.Pointer) string {
	path, level := "", 0
	for name := range p.Tokens() {
		level++
		_, err := strconv.ParseUint(name, 10, 63)
		isIndex := err == nil
		if level <= d.StackDepth() {
			kind, _ := d.StackIndex(level)
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

// explain turns an error of the JSON library into one that says where it is.
func explain(text []byte, d *jsontext.Decoder, err error) error {
	end := int64(len(text))
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{Line: lineAt(text, end), Err: fmt.Errorf("the text is incomplete; it ends at byte %d", end)}
	}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e := &Error{Line: lineAt(text, at.ByteOffset), Path: path(d, at.JSONPointer)}
		e.Err = fmt.Errorf("this is not JSON at byte %d: %w", at.ByteOffset, at.Err)
		if errors.Is(err, jsontext.ErrDuplicateName) {
			e.Err = errors.New("the field is there twice")
		}
		return e
	}
	at, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return err
	}
	if errors.Is(err, json.ErrUnknownName) {
		names := nearest.Names(membersOf(at.GoType), func(m member) string { return m.name })
		unknown := nearest.Unknown("field", shorten(at.JSONPointer.LastToken()), names)
		return &Error{Line: lineAt(text, at.ByteOffset), Path: path(d, at.JSONPointer.Parent()), Err: unknown}
	}
	found, token := find(text, at.JSONPointer)
	return &Error{
		Line: lineAt(text, found.InputOffset()), Path: path(found, at.JSONPointer), Err: misfit(at, token),
	}
}

// misfit says why a value, which begins with a token, does not fit the Go value that it is read into.
func misfit(e *json.SemanticError, token jsontext.Token) error {
	value := shorten(token.String())
	switch token.Kind() {
	case '{':
		value = "an object"
	case '[':
		value = "a list"
	case '"':
		value = strconv.Quote(value)
	}
	want := "valid"
	if e.GoType != nil {
		want = goKind(e.GoType)
	}
	if unknown, ok := errors.AsType[*nearest.UnknownError](e.Err); ok {
		return unknown
	}
	switch {
	case errors.Is(e.Err, strconv.ErrRange):
		return fmt.Errorf("%s is too large for %s", value, want)
	case e.Err != nil && !errors.Is(e.Err, strconv.ErrSyntax):
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

// maxShown is the largest number of bytes of a value that an error quotes.
const maxShown = 100

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "..."
}

// noNull refuses null, which the JSON library reads as a zero value. Types that decode themselves may accept null.
var noNull = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, to any) error {
	if _, ok := to.(json.Unmarshaler); ok || d.PeekKind() != 'n' {
		return errors.ErrUnsupported // the value is read as usual
	}
	return &json.SemanticError{JSONKind: 'n', GoType: reflect.TypeOf(to)}
}))
