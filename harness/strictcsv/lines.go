package strictcsv

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Lines reads a large CSV file line by line, for those who go on after a line that is wrong. A
// field cannot hold a line break: a quote that is never closed spoils one line and not the rest
// of the file.
type Lines struct {
	in   *bufio.Scanner
	file string
	// header is the number of fields, and at has the place of each column that is wanted; -1
	// where an optional one is missing.
	header int
	at     []int
	line   int
	row    []string
}

// NewLines reads the header. All columns must be there; the optional ones and others may be. What
// is wrong with it is an [*Error].
func NewLines(r io.Reader, file string, columns, optional []string) (*Lines, error) {
	l := &Lines{in: bufio.NewScanner(&limiter{in: r, file: file, line: 1}), file: file}
	l.in.Buffer(nil, MaxLine)
	header, ok, err := l.next()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &Error{
			File: file, Line: 1,
			Err: fmt.Errorf("the file is empty; begin with a header that has %s", strings.Join(columns, ",")),
		}
	}
	header = slices.Clone(header)
	header[0] = strings.TrimPrefix(header[0], string(byteOrderMark))
	l.header = len(header)
	for i, name := range slices.Concat(columns, optional) {
		at := slices.Index(header, name)
		if at < 0 && i < len(columns) {
			return nil, l.fail(name, fmt.Errorf("the column is missing; the header is %s", strings.Join(header, ",")))
		}
		if at >= 0 && slices.Contains(header[at+1:], name) {
			return nil, l.fail(name, fmt.Errorf("the column is there twice; the header is %s", strings.Join(header, ",")))
		}
		l.at = append(l.at, at)
	}
	return l, nil
}

// Next returns the fields of the next line that is not empty, first those of the columns and then
// those of the optional ones, "" where such a column is missing. They are valid until the next
// call. A line that is wrong is an [*Error], after which Next goes on. [io.EOF] is the end; after
// any other error there is nothing more to read.
func (l *Lines) Next() ([]string, error) {
	fields, ok, err := l.next()
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, io.EOF
	}
	if len(fields) != l.header {
		return nil, l.fail("", fmt.Errorf("the line has %d fields, the header %d", len(fields), l.header))
	}
	l.row = l.row[:0]
	for _, at := range l.at {
		field := ""
		if at >= 0 {
			field = fields[at]
		}
		l.row = append(l.row, field)
	}
	return l.row, nil
}

// Line returns the number of the line that was read last, from 1.
func (l *Lines) Line() int { return l.line }

// next returns the fields of the next line that is not empty; false at the end of the file.
func (l *Lines) next() ([]string, bool, error) {
	for l.in.Scan() {
		l.line++
		text := bytes.TrimSuffix(l.in.Bytes(), []byte("\r"))
		if len(text) == 0 {
			continue
		}
		fields := strings.Split(string(text), ",")
		if bytes.IndexByte(text, '"') >= 0 {
			r := csv.NewReader(bytes.NewReader(text))
			r.TrimLeadingSpace = true
			quoted, err := r.Read()
			if err != nil {
				return nil, false, l.fail("", fmt.Errorf("the quotes are not closed or not doubled; a line holds one row"))
			}
			fields = quoted
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		return fields, true, nil
	}
	if err := l.in.Err(); err != nil {
		return nil, false, fmt.Errorf("%s after line %d: %w", l.file, l.line, err)
	}
	return nil, false, nil
}

func (l *Lines) fail(column string, err error) error {
	return &Error{File: l.file, Line: l.line, Column: column, Err: err}
}
