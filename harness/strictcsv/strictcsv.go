// Package strictcsv reads CSV files with a known header. It refuses unknown, duplicate and missing
// columns, lines with too many or too few fields, and text that is not text. It keeps the line of
// every row, so that later checks can name it.
//
// [Float] and [Int] read all numbers, which must be plain decimals.
package strictcsv

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"miglab/harness/spec"
	"miglab/harness/wholefile"
)

// Error says where a file is wrong and what would be right.
type Error struct {
	File   string
	Line   int    // counts from 1
	Column string // the column's name in the header; empty where the whole line is meant
	Err    error  // says what is wrong
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

// A Format describes a kind of file that people write. The file may begin with a UTF-8 byte order mark, the
// columns may be in any order, lines may end in CRLF, empty lines are skipped and spaces around fields are dropped.
type Format struct {
	// Columns are the columns of the header. All must be there.
	Columns  []string
	Optional []string // columns that may be missing
	// Or are the Columns and Optional of other kinds of files. A file is of the first kind of which its header has a
	// column that Columns and Optional lack.
	Or     []Format
	Header string // names the header in errors, for example "the header of a jobs file"
	Empty  string // the error for a file that has only a header
	// Comments skips lines that begin with #. It is for files in which no first field can begin with it.
	Comments bool
	// exact is for files that a program wrote: the columns must be in their order, and the fields
	// are taken as they are.
	exact bool
}

// A Sheet holds the fields of a file.
type Sheet struct {
	Lines []int // the line of each row
	Err   error // the first error of [Sheet.Number] and [Sheet.Whole]

	file   string
	header []string
	rows   [][]string
}

// ReadSheet reads a file of at least one row. The file's name is only used in errors. A wrong
// text is an [*Error]; ReadSheet passes on the errors of r.
func ReadSheet(r io.Reader, file string, f Format) (*Sheet, error) {
	in := csv.NewReader(Limit(r, file))
	in.TrimLeadingSpace = !f.exact
	in.FieldsPerRecord = -1 // This function checks the number.
	if f.Comments {
		in.Comment = '#'
	}
	s := &Sheet{file: file}
	headerLine := 1
	for {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, wrap(file, err)
		}
		line, _ := in.FieldPos(0)
		if !f.exact {
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
		}
		if s.header == nil {
			s.header, headerLine = fields, line
			if column, err := f.checkHeader(fields); err != nil {
				return nil, &Error{File: file, Line: line, Column: column, Err: err}
			}
			continue
		}
		if len(fields) != len(s.header) {
			return nil, &Error{File: file, Line: line, Err: fmt.Errorf("the line has %d fields, the header %d (%s)",
				len(fields), len(s.header), strings.Join(s.header, ","))}
		}
		s.rows = append(s.rows, fields)
		s.Lines = append(s.Lines, line)
	}
	switch {
	case s.header == nil:
		err := fmt.Errorf("the file is empty; begin with the header %s", strings.Join(f.Columns, ","))
		return nil, &Error{File: file, Line: 1, Err: err}
	case s.rows == nil:
		return nil, &Error{File: file, Line: headerLine, Err: errors.New(f.Empty)}
	}
	return s, nil
}

// wrap adds the place to an error of the CSV reader.
func wrap(file string, err error) error {
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		err = fmt.Errorf("%w; close every quote, and double those inside a quoted field", at.Err)
		return &Error{File: file, Line: at.StartLine, Err: err}
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", file, err)
}

// checkHeader returns an error about a header and the wrong column, "" for the whole header. If the header is of the
// kind Or, f becomes that kind.
func (f *Format) checkHeader(header []string) (column string, err error) {
	if f.exact {
		if !slices.Equal(header, f.Columns) {
			err = fmt.Errorf("the header is %q; it must be %q", strings.Join(header, ","), strings.Join(f.Columns, ","))
		}
		return "", err
	}
	for _, other := range f.Or {
		if slices.ContainsFunc(header, func(name string) bool {
			return slices.Contains(other.Columns, name) && !f.has(name)
		}) {
			f.Columns, f.Optional = other.Columns, other.Optional
			break
		}
	}
	whole := fmt.Sprintf("%s is %s", f.Header, strings.Join(f.Columns, ","))
	for i, name := range header {
		if !f.has(name) {
			return name, fmt.Errorf("unknown column; %s", whole)
		}
		if slices.Contains(header[:i], name) {
			return name, fmt.Errorf("the column is there twice; %s", whole)
		}
	}
	for _, name := range f.Columns {
		if !slices.Contains(header, name) {
			return name, fmt.Errorf("the column is missing; %s", whole)
		}
	}
	return "", nil
}

func (f *Format) has(column string) bool {
	return slices.Contains(f.Columns, column) || slices.Contains(f.Optional, column)
}

// Len returns the number of rows.
func (s *Sheet) Len() int { return len(s.rows) }

// Has reports whether the file has a column.
func (s *Sheet) Has(column string) bool { return slices.Contains(s.header, column) }

// Text returns a field; "" if the file lacks the column.
func (s *Sheet) Text(row int, column string) string {
	i := slices.Index(s.header, column)
	if i < 0 {
		return ""
	}
	return s.rows[row][i]
}

// A Range says which numbers a field may hold: from Least to Most.
type Range struct {
	Least, Most float64
	// What completes the error "... is not", for example "a share; write a number from 0 to 1".
	What string
}

// Has reports whether a number is in the range.
func (r *Range) Has(v float64) bool { return v >= r.Least && v <= r.Most }

// Number reads a number of a range. If the field holds anything else, it sets Err.
func (s *Sheet) Number(row int, column string, allowed Range) float64 {
	text := s.Text(row, column)
	v, err := Float(text)
	if err != nil || !allowed.Has(v) {
		s.wrong(row, column, fmt.Errorf("%q is not %s", text, allowed.What))
	}
	return v + 0 // -0 becomes 0
}

// Whole reads a whole number of a range. If the field holds anything else, it sets Err.
func (s *Sheet) Whole(row int, column string, allowed Range) int {
	text := s.Text(row, column)
	n, err := Int(text)
	if err != nil || !allowed.Has(float64(n)) {
		s.wrong(row, column, fmt.Errorf("%q is not %s", text, allowed.What))
	}
	return n
}

// wrong sets Err unless it is set.
func (s *Sheet) wrong(row int, column string, err error) {
	if s.Err == nil {
		s.Err = s.Fail(row, column, err)
	}
}

// Fail returns the error about a row. The column is empty for the whole row.
func (s *Sheet) Fail(row int, column string, err error) error {
	return &Error{File: s.file, Line: s.Lines[row], Column: column, Err: err}
}

// A Table is a file that a program wrote: the columns are in the order of the fields of Row, and
// every field has the form in which its type is written.
type Table[Row any] struct {
	Sheet
	Rows []Row
}

// Read reads a file of at least one row; empty is the error for a file without. Row is a struct of
// whole numbers, floats, truth values and texts whose tags name the columns. The columns that mayBeEmpty lists may have
// empty fields, which are read as zero values. Otherwise Read is as [ReadSheet].
func Read[Row any](r io.Reader, file, empty string, mayBeEmpty ...string) (*Table[Row], error) {
	columns := Columns[Row]()
	s, err := ReadSheet(r, file, Format{Columns: columns, Empty: empty, exact: true})
	if err != nil {
		return nil, err
	}
	t := &Table[Row]{Sheet: *s, Rows: make([]Row, s.Len())}
	fields := fieldsOf[Row]()
	for i, texts := range s.rows {
		row := reflect.ValueOf(&t.Rows[i]).Elem()
		for k, text := range texts {
			if text == "" && slices.Contains(mayBeEmpty, columns[k]) {
				continue
			}
			if err := set(row.FieldByIndex(fields[k].Index), text); err != nil {
				return nil, s.Fail(i, columns[k], err)
			}
		}
	}
	return t, nil
}

// Embedded returns the rows of a file that is part of the program, as [Read] does. An invalid file is a mistake in the
// program: it panics.
func Embedded[Row any](from embed.FS, path string, mayBeEmpty ...string) []Row {
	text := spec.Must(from.ReadFile(path))
	return spec.Must(Read[Row](bytes.NewReader(text), path, "there are no rows", mayBeEmpty...)).Rows
}

// Write writes a header and rows as CSV. It passes on the errors of w.
func Write(w io.Writer, header []string, rows int, fields func(row int) []string) error {
	out := csv.NewWriter(w)
	_ = out.Write(header) // Error returns the first error of all writes.
	for i := range rows {
		_ = out.Write(fields(i))
	}
	out.Flush()
	return out.Error()
}

// The limits of a file, so that a wrong file is refused before it fills the memory.
const (
	MaxBytes = 256 << 20 // the size of the largest file
	MaxLine  = 1 << 20   // the length of the longest line
)

var byteOrderMark = []byte("\ufeff")

// Limit returns a reader of a text without its UTF-8 byte order mark. A NUL byte, or a text over the limits, is an
// [*Error].
func Limit(r io.Reader, file string) *bufio.Reader {
	text := bufio.NewReader(&limiter{in: r, file: file, line: 1})
	if mark, _ := text.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		text.Discard(len(byteOrderMark)) // cannot fail: the bytes are in the buffer
	}
	return text
}

// A limiter reads a text and refuses one over the limits, or with a NUL byte, which text does not have.
type limiter struct {
	in   io.Reader
	file string
	// line is the current line, length is the number of its bytes so far, and total is the number of all bytes so far.
	line, length int
	total        int64
	err          error // the error with which the text was refused; nil so far
}

func (l *limiter) Read(b []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.in.Read(b)
	for line := range bytes.Lines(b[:n]) {
		text, ends := bytes.CutSuffix(line, []byte("\n"))
		l.length += len(text)
		switch {
		case bytes.IndexByte(text, 0) >= 0:
			return 0, l.fail("there is a NUL byte; this is not a text file")
		case l.length > MaxLine:
			return 0, l.fail("the line is longer than %d bytes", MaxLine)
		case ends:
			l.line, l.length = l.line+1, 0
		}
	}
	l.total += int64(n)
	if l.total > MaxBytes {
		return 0, l.fail("the file is larger than %d MiB", MaxBytes>>20)
	}
	return n, err
}

// fail refuses the text at the current line.
func (l *limiter) fail(format string, args ...any) error {
	l.err = &Error{File: l.file, Line: l.line, Err: fmt.Errorf(format, args...)}
	return l.err
}

// Open opens a regular file of at most [MaxBytes]. It refuses others, such as a device or a pipe.
func Open(path string) (*os.File, error) { return wholefile.Open(path, MaxBytes) }
