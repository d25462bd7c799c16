package traces

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// A table describes a file with a row in each line.
type table struct {
	// A file must have one column of each choice. It may have the optional columns.
	choices  [][]string
	optional []string
	// separators are the characters that may stand between the columns. The first with which the header has its columns
	// separates the fields of all lines.
	separators []string
	quoted     bool // fields may be in quotes
}

// readLines reads a file line by line. It converts the fields of a line to a job with row, and passes the job or the
// row's error to each. A row cannot hold a line break, so that an unclosed quote spoils only one line. A line that
// begins with # is a comment, but a header may begin with it, and then its rows may.
func readLines(r io.Reader, file string, t table, each jobFunc, row func(*fields) Job) error {
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	in.Buffer(nil, strictcsv.MaxLine)
	var f fields
	line := 0
	for in.Scan() {
		line++
		text := strings.Trim(in.Text(), " \r") // a tab at an end is beside an empty field
		comment := strings.HasPrefix(text, "#")
		if strings.TrimSpace(text) == "" || comment && f.header != nil && !strings.HasPrefix(f.header[0], "#") {
			continue
		}
		if f.header == nil && strings.HasPrefix(text, "{") {
			return fmt.Errorf("%s:%d: this looks like JSON; --format pods reads what kubectl get pods -A -o json "+
				"prints", file, line)
		}
		if f.header == nil {
			if err := t.readHeader(&f, text); err != nil && !comment {
				return fmt.Errorf("%s:%d: %w", file, line, err)
			}
			continue
		}
		values, err := t.split(text, f.separator)
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
		columns := nearest.Names(t.choices, func(names []string) string { return strings.Join(names, " or ") })
		return fmt.Errorf("%s:1: the file is empty; begin with a header that has %s", file,
			strings.Join(columns, ","))
	}
	return nil
}

// readHeader finds the separator of a file and sets its header. Its error is that of the first separator.
func (t *table) readHeader(f *fields, text string) (first error) {
	for _, separator := range t.separators {
		values, err := t.split(text, separator)
		err = cmp.Or(err, t.check(values, text))
		if err == nil {
			f.header, f.separator = values, separator
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// split returns the fields of a line without the spaces around them.
func (t *table) split(line, separator string) ([]string, error) {
	values := strings.Split(line, separator)
	if t.quoted && strings.Contains(line, `"`) {
		in := csv.NewReader(strings.NewReader(line))
		in.Comma = rune(separator[0])
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

// check returns an error unless a header has the columns of the table, each once. The error has the header's text.
func (t *table) check(header []string, text string) error {
	for _, names := range t.choices {
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(header, name) }) {
			return &missingColumnError{names, text}
		}
	}
	for _, name := range slices.Concat(slices.Concat(t.choices...), t.optional) {
		at := slices.Index(header, name)
		if at >= 0 && slices.Contains(header[at+1:], name) {
			return fmt.Errorf("%s: the column is there twice; the header is %s", name, text)
		}
	}
	return nil
}

// A missingColumnError says that a header has none of some columns.
type missingColumnError struct {
	columns []string
	header  string
}

func (e *missingColumnError) Error() string {
	return fmt.Sprintf("%s: the column is missing; the header is %s", strings.Join(e.columns, " or "), e.header)
}

// fields reads the fields of a file, row by row.
type fields struct {
	// header has the names of the columns, and values are the fields of the current row.
	header, values []string
	separator      string // the separator of the file's columns
	err            error  // the first error of the current row
	instants       string // the kind of the file's times, [number] or [timestamp]; "" before the first
}

// has reports whether the file has a column.
func (f *fields) has(column string) bool { return slices.Contains(f.header, column) }

// text returns the field of a column; "" if there is no such column.
func (f *fields) text(column string) string {
	i := slices.Index(f.header, column)
	if i < 0 {
		return ""
	}
	return f.values[i]
}

// fail records that a field must be written in another way, unless the row has an error already.
func (f *fields) fail(column, value, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is %q; write %s", column, value, want)
	}
}

// whole reads a whole number, which may end with .0 as programs write it for numbers with missing values.
func (f *fields) whole(column string) int {
	text, part, _ := strings.Cut(f.text(column), ".")
	n, err := strictcsv.Int(text)
	if err != nil || strings.Trim(part, "0") != "" {
		f.fail(column, f.text(column), "a whole number")
	}
	return n
}

// number reads a number.
func (f *fields) number(column string) float64 {
	v, err := strictcsv.Float(f.text(column))
	if err != nil {
		f.fail(column, f.text(column), "a number")
	}
	return v
}

// The kinds of times, as errors name them.
const (
	number    = "a number"
	timestamp = "an instant since 2000 such as 2020-06-09T18:41:01Z"
)

// instants are the layouts of a day with a time, and perhaps with a time zone.
var instants = []string{
	"2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02 15:04:05Z07",
	"2006-01-02 15:04", "2006-01-02 15:04Z07:00", "2006-01-02 15:04Z0700", "2006-01-02 15:04Z07",
}

// instant returns the seconds from 1970 to a timestamp, with T or a space after the date. Philly and Slurm
// write timestamps without a time zone, so that the hours of summer time are not known; they are read as UTC.
func (f *fields) instant(column, value string) float64 {
	day, clock, _ := strings.Cut(strings.Replace(value, "T", " ", 1), " ")
	clock = strings.Replace(clock, " ", "", 1) // before the zone
	for _, layout := range instants {
		t, err := time.Parse(layout, day+" "+clock)
		if err == nil && t.Year() >= 2000 { // an earlier one was never set
			return float64(t.Unix()) + float64(t.Nanosecond())/1e9
		}
	}
	f.fail(column, value, timestamp)
	return 0
}

// seconds reads a time, which is a number of units or a timestamp, and returns it in seconds. A file must not mix the
// two kinds, because numbers count from any origin.
func (f *fields) seconds(column string, unit float64) float64 {
	value := f.text(column)
	v, err := strictcsv.Float(value)
	kind := number
	if err != nil {
		var alone fields
		if v = alone.instant(column, value); alone.err != nil {
			f.fail(column, value, number+" or "+timestamp)
			return 0
		}
		kind, unit = timestamp, 1
	}
	f.instants = cmp.Or(f.instants, kind)
	if f.instants != kind {
		f.fail(column, value, f.instants+", as the times before it")
	}
	return v * unit
}

// share reads a job's share of each GPU in a unit; "" means thousandths. In a file without a column for GPUs, the
// shares of several whole GPUs are multiples of a whole one.
func (f *fields) share(j *Job, column, unit string) {
	whole := float64(WholeGPU)
	want := "a whole number of thousandths; for 0.5 or 50, say --share-unit fraction or percent"
	switch unit {
	case Percent:
		whole, want = 100, "percent of a GPU, from 0 to 100"
	case Fraction:
		whole, want = 1, "a part of a GPU, from 0 to 1"
	default:
		j.thousandths = true
	}
	value := f.text(column)
	v, err := strictcsv.Float(value)
	if err != nil || j.thousandths && v != math.Trunc(v) {
		f.fail(column, value, want)
		return
	}
	gpus := v / whole
	switch {
	case j.shareCountsGPUs && gpus > 1 && gpus <= mostGPUs && gpus == math.Trunc(gpus):
		j.GPUs, gpus = int(gpus), 1
	case j.shareCountsGPUs && gpus > 1:
		f.fail(column, value, want+", or a multiple for whole GPUs")
	case gpus < 0 || gpus > 1:
		f.fail(column, value, want)
	}
	const rounding = 1e-6 // 2.9 / 100 * 1000 is less than 29
	j.Milli = int(float64(min(max(gpus, 0), 1)*WholeGPU) + rounding)
	if v > 0 {
		j.Milli = max(j.Milli, 1)
	}
}

// couldBePercent reports whether shares that were read as thousandths could be percent: some are at most 100, and no
// other share contradicts it. In a file whose shares also count GPUs, 200 to 900 could be percent of whole GPUs.
func couldBePercent(jobs []Job) bool {
	small := false
	for i := range jobs {
		j := &jobs[i]
		switch {
		case !j.thousandths || j.GPUs > 1 && !j.shareCountsGPUs: // shows nothing
		case j.Milli <= 100:
			small = true
		case j.shareCountsGPUs && j.Milli < WholeGPU && j.Milli%100 == 0: // could be percent, too
		default:
			return false
		}
	}
	return small
}
