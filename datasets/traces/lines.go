package traces

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"miglab/harness/strictcsv"
)

// A table describes a file with a row in each line.
type table struct {
	// The file must have the required columns and one column of each choice. It may have the optional ones.
	required, optional []string
	choices            [][]string
	// header has the columns of a format without a header; nil if the first line has them.
	header []string
	// comment begins the lines that are skipped; "" skips none.
	comment string
	// split returns the fields of a line.
	split func(line string) ([]string, error)
}

// readLines reads a file line by line. It converts the fields of a line to a job with row, and passes the job or the
// row's error to each. A row cannot hold a line break, so that an unclosed quote spoils only one line.
func readLines(r io.Reader, file string, t table, each jobFunc, row func(*fields) Job) error {
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	in.Buffer(nil, strictcsv.MaxLine)
	f := fields{header: t.header}
	line := 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if text == "" || t.comment != "" && strings.HasPrefix(text, t.comment) {
			continue
		}
		values, err := t.split(text)
		if f.header == nil {
			if err = cmp.Or(err, t.check(values)); err != nil {
				return fmt.Errorf("%s:%d: %w", file, line, err)
			}
			f.header = values
			continue
		}
		if err == nil && len(values) != len(f.header) {
			err = fmt.Errorf("the line has %d fields, the header %d", len(values), len(f.header))
		}
		var j Job
		if err == nil {
			f.values, f.err = values, nil
			j, err = row(&f), f.err
		}
		each(line, j, err)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s after line %d: %w", file, line, err)
	}
	if f.header == nil {
		return fmt.Errorf("%s:1: the file is empty; begin with a header that has %s", file,
			strings.Join(t.columns(), ","))
	}
	return nil
}

// splitLine returns the fields of a line without the spaces around them.
func splitLine(line string) ([]string, error) {
	values := strings.Split(line, ",")
	if strings.Contains(line, `"`) {
		in := csv.NewReader(strings.NewReader(line))
		in.TrimLeadingSpace = true
		var err error
		if values, err = in.Read(); err != nil {
			return nil, errors.New("the quotes are not closed or not doubled; a line holds one row")
		}
	}
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return values, nil
}

// columns returns the required columns, with the names of each choice as one.
func (t *table) columns() []string {
	out := slices.Clone(t.required)
	for _, names := range t.choices {
		out = append(out, strings.Join(names, " or "))
	}
	return out
}

// check returns an error unless a header has the columns of the table, each once.
func (t *table) check(header []string) error {
	missing := func(name string) bool { return !slices.Contains(header, name) }
	for _, name := range t.required {
		if missing(name) {
			return fmt.Errorf("%s: %w; the header is %s", name, errMissingColumn, strings.Join(header, ","))
		}
	}
	for _, names := range t.choices {
		if !slices.ContainsFunc(names, func(name string) bool { return !missing(name) }) {
			return fmt.Errorf("%s: %w; the header is %s", strings.Join(names, " or "), errMissingColumn,
				strings.Join(header, ","))
		}
	}
	for _, name := range slices.Concat(t.required, t.optional, slices.Concat(t.choices...)) {
		at := slices.Index(header, name)
		if at >= 0 && slices.Contains(header[at+1:], name) {
			return fmt.Errorf("%s: the column is there twice; the header is %s", name, strings.Join(header, ","))
		}
	}
	return nil
}
