package task

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gocarina/gocsv"
)

// ParseError says where a file is wrong and what would be right.
type ParseError struct {
	File string
	// Line counts from 1.
	Line int
	// Column is the column's name in the header; empty where the whole line is meant.
	Column string
	// Err says what is wrong.
	Err error
}

func (e *ParseError) Error() string {
	if e.Column == "" {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	column := e.Column
	if strings.ContainsFunc(column, unicode.IsControl) {
		column = strconv.Quote(column) // a quoted field may hold line breaks
	}
	return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, column, e.Err)
}

// Unwrap returns what is wrong.
func (e *ParseError) Unwrap() error { return e.Err }

// records hands the lines of a file to gocsv, once their shape is known to be
// right, and remembers where they stood.
type records struct {
	*csv.Reader
	file string
	// known are the columns, whose says what has them, and nothing what is wrong with a
	// file that has a header alone.
	known          []string
	whose, nothing string

	header []string
	// lines holds the line on which each record begins; the header is record 0.
	lines []int
}

func newRecords(r io.Reader, file string, known []string) *records {
	buffered := bufio.NewReader(r)
	if mark, _ := buffered.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		buffered.Discard(len(byteOrderMark)) // cannot fail: the bytes are in the buffer
	}
	in := &records{Reader: csv.NewReader(buffered), file: file, known: known}
	in.TrimLeadingSpace = true
	in.FieldsPerRecord = -1 // records says itself what is missing
	return in
}

var byteOrderMark = []byte("\ufeff")

// unmarshal fills a slice of rows.
func (r *records) unmarshal(rows any) error {
	err := gocsv.UnmarshalCSV(r, rows)
	// A cell that gocsv could not convert: it counts records, not lines.
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		return r.fail(at.Line-1, r.header[at.Column-1], at.Err)
	}
	return err
}

// fail returns the error about a record.
func (r *records) fail(record int, column string, err error) error {
	return &ParseError{File: r.file, Line: r.lines[record], Column: column, Err: err}
}

// ReadAll returns the header and the records, without the spaces around fields.
func (r *records) ReadAll() ([][]string, error) {
	var all [][]string
	for {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if at, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, &ParseError{File: r.file, Line: at.StartLine, Err: fmt.Errorf("%w; close every quote, and double those inside a quoted field", at.Err)}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.file, err)
		}
		line, _ := r.FieldPos(0)
		r.lines = append(r.lines, line)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if r.header == nil {
			r.header = fields
			if err := r.checkHeader(); err != nil {
				return nil, err
			}
		}
		if len(fields) != len(r.header) {
			return nil, r.fail(len(all), "", fmt.Errorf("the line has %d fields, the header %d (%s)", len(fields), len(r.header), strings.Join(r.header, ",")))
		}
		all = append(all, fields)
	}
	if len(all) == 0 {
		return nil, &ParseError{File: r.file, Line: 1, Err: fmt.Errorf("the file is empty; begin with the header %s", strings.Join(r.known, ","))}
	}
	if len(all) == 1 {
		return nil, r.fail(0, "", errors.New(r.nothing))
	}
	return all, nil
}

func (r *records) checkHeader() error {
	whole := fmt.Sprintf("%s is %s", r.whose, strings.Join(r.known, ","))
	for i, name := range r.header {
		if !slices.Contains(r.known, name) {
			return r.fail(0, name, fmt.Errorf("unknown column; %s", whole))
		}
		if slices.Contains(r.header[:i], name) {
			return r.fail(0, name, fmt.Errorf("the column is there twice; %s", whole))
		}
	}
	for _, name := range r.known {
		if !slices.Contains(r.header, name) {
			return r.fail(0, name, fmt.Errorf("the column is missing; %s", whole))
		}
	}
	return nil
}
