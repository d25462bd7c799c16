// Package strictcsv reads CSV files with a known header into structs. It refuses unknown,
// duplicate and missing columns, lines with too many or too few fields, and text that is
// not text. It keeps the line of every row, so that later checks can name it.
//
// [Float] and [Int] are the one way in which numbers are read: plain decimals only.
package strictcsv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gocarina/gocsv"

	"miglab/harness/wholefile"
)

// Error says where a file is wrong and what would be right.
type Error struct {
	File string
	// Line counts from 1.
	Line int
	// Column is the column's name in the header. It is empty where the whole line is meant.
	Column string
	// Err says what is wrong.
	Err error
}

func (e *Error) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	column := e.Column
	if strings.ContainsFunc(column, unicode.IsControl) {
		column = strconv.Quote(column) // a quoted field may hold line breaks
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, column, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// A Format says what a kind of file looks like. The file may begin with a UTF-8 byte order
// mark, lines may end in CRLF, and empty lines are skipped.
type Format struct {
	// Columns are the columns of the header. All must be there.
	Columns []string
	// Optional columns may be missing: rows then have their zero values. An exact format has none.
	Optional []string
	// Header names the header in errors, for example "the header of a jobs file".
	Header string
	// Empty is the error for a file that has only a header.
	Empty string
	// Exact is for files that a program wrote: the columns must be in their order, and the
	// fields are taken as they are. Fields of plain types are checked: a whole number or a
	// text must have the form in which it is written. In other files the columns may be in
	// any order and spaces around fields are dropped.
	Exact bool
	// MayBeEmpty lists the columns of an exact format whose texts may be empty.
	MayBeEmpty []string
}

// A Table is what a file holds.
type Table[Row any] struct {
	Rows []Row
	// Lines holds the line of each row.
	Lines []int
	file  string
}

// Fail returns the error about a row. The column is empty for the whole row.
func (t *Table[Row]) Fail(row int, column string, err error) error {
	return &Error{File: t.file, Line: t.Lines[row], Column: column, Err: err}
}

// Read reads a file of at least one row. Row is a struct that gocsv can fill; its tags name
// the columns. The file's name is only used in errors. What is wrong with the text is an
// [*Error]; other errors are those of r.
func Read[Row any](r io.Reader, file string, f Format) (*Table[Row], error) {
	in := newReader(r, file, f)
	if f.Exact {
		in.plain = plainColumns[Row]()
	}
	t := &Table[Row]{file: file}
	err := gocsv.UnmarshalCSV(in, &t.Rows)
	// A field that gocsv could not convert: it counts records, not lines.
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return nil, in.fail(at.Line-1, in.header[at.Column-1], at.Err)
	}
	if err != nil {
		return nil, err
	}
	t.Lines = in.lines[1:]
	return t, nil
}

// A reader hands the records of a file to gocsv after it has checked their shape.
type reader struct {
	*csv.Reader
	Format
	file   string
	header []string
	// plain holds the checks of the columns of plain types.
	plain map[string]check
	// lines holds the line on which each record begins. Record 0 is the header.
	lines []int
}

var byteOrderMark = []byte("\ufeff")

func newReader(r io.Reader, file string, f Format) *reader {
	buffered := bufio.NewReader(&limiter{in: r, file: file, line: 1})
	if mark, _ := buffered.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		buffered.Discard(len(byteOrderMark)) // cannot fail: the bytes are in the buffer
	}
	in := &reader{Reader: csv.NewReader(buffered), Format: f, file: file}
	in.TrimLeadingSpace = !f.Exact
	in.FieldsPerRecord = -1 // shape reports wrong numbers of fields
	return in
}

// fail returns the error about a record.
func (r *reader) fail(record int, column string, err error) error {
	return &Error{File: r.file, Line: r.lines[record], Column: column, Err: err}
}

// ReadAll returns the header and the records.
func (r *reader) ReadAll() ([][]string, error) {
	var all [][]string
	for {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, r.wrap(err)
		}
		line, _ := r.FieldPos(0)
		r.lines = append(r.lines, line)
		if !r.Exact {
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
		}
		if err := r.shape(len(all), fields); err != nil {
			return nil, err
		}
		all = append(all, fields)
	}
	switch len(all) {
	case 0:
		return nil, &Error{
			File: r.file, Line: 1,
			Err: fmt.Errorf("the file is empty; begin with the header %s", strings.Join(r.Columns, ",")),
		}
	case 1:
		return nil, r.fail(0, "", errors.New(r.Empty))
	}
	return all, nil
}

// wrap adds the place to an error of the CSV reader.
func (r *reader) wrap(err error) error {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return &Error{
			File: r.file, Line: at.StartLine,
			Err: fmt.Errorf("%w; close every quote, and double those inside a quoted field", at.Err),
		}
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", r.file, err)
}

// shape checks the fields of a record.
func (r *reader) shape(record int, fields []string) error {
	if record == 0 {
		r.header = fields
		return r.checkHeader()
	}
	if len(fields) != len(r.header) {
		return r.fail(record, "", fmt.Errorf("the line has %d fields, the header %d (%s)", len(fields), len(r.header),
			strings.Join(r.header, ",")))
	}
	for i, name := range r.header {
		check := r.plain[name]
		if check == nil || fields[i] == "" && slices.Contains(r.MayBeEmpty, name) {
			continue
		}
		if err := check(fields[i]); err != nil {
			return r.fail(record, name, err)
		}
	}
	return nil
}

func (r *reader) checkHeader() error {
	if r.Exact {
		if !slices.Equal(r.header, r.Columns) {
			return r.fail(0, "",
				fmt.Errorf("the header is %q; it must be %q", strings.Join(r.header, ","), strings.Join(r.Columns, ",")))
		}
		return nil
	}
	whole := fmt.Sprintf("%s is %s", r.Header, strings.Join(r.Columns, ","))
	for i, name := range r.header {
		if !slices.Contains(r.Columns, name) && !slices.Contains(r.Optional, name) {
			return r.fail(0, name, fmt.Errorf("unknown column; %s", whole))
		}
		if slices.Contains(r.header[:i], name) {
			return r.fail(0, name, fmt.Errorf("the column is there twice; %s", whole))
		}
	}
	for _, name := range r.Columns {
		if !slices.Contains(r.header, name) {
			return r.fail(0, name, fmt.Errorf("the column is missing; %s", whole))
		}
	}
	return nil
}

// The limits of what is read, so that a wrong file is refused before it fills the memory.
const (
	// MaxBytes is the size of the largest file.
	MaxBytes = 256 << 20
	// MaxLine is the length of the longest line.
	MaxLine = 1 << 20
)

// A limiter reads text within the limits. NUL bytes show that something is not text.
type limiter struct {
	in   io.Reader
	file string
	// line is the current line and length the number of its bytes so far.
	line, length int
	total        int64
	// err is why the text was refused.
	err error
}

func (l *limiter) Read(b []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.in.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		here := rest
		if end >= 0 {
			here = rest[:end]
		}
		l.length += len(here)
		if bytes.IndexByte(here, 0) >= 0 {
			return 0, l.fail("there is a NUL byte; this is not a text file")
		}
		if l.length > MaxLine {
			return 0, l.fail("the line is longer than %d bytes", MaxLine)
		}
		if end < 0 {
			break
		}
		l.line++
		l.length = 0
		rest = rest[end+1:]
	}
	if l.total += int64(n); l.total > MaxBytes {
		return 0, l.fail("the file is larger than %d MiB", MaxBytes>>20)
	}
	return n, err
}

func (l *limiter) fail(format string, args ...any) error {
	l.err = &Error{File: l.file, Line: l.line, Err: fmt.Errorf(format, args...)}
	return l.err
}

// Open opens a file that is to be read as a whole and perhaps again. It refuses what is not
// a regular file, such as a device or a pipe, and files over [MaxBytes].
func Open(path string) (*os.File, error) { return wholefile.Open(path, MaxBytes) }
