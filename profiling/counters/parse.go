package counters

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"miglab/datasets"
	"miglab/harness/task"
)

// Parse reads what ncu --csv --page raw --print-units base wrote to its log file and
// makes one value of the launches. Messages before, after and between the lines of the
// table are passed over. The table has to have the twelve metrics; others are ignored.
//
// The file's name serves for errors only. What is wrong with the text is a
// [*task.ParseError]; other errors are those of r.
func Parse(r io.Reader, file string) (datasets.Counters, error) {
	p := parser{file: file}
	if err := p.read(r); err != nil {
		return datasets.Counters{}, err
	}
	launches, err := p.launches()
	if err != nil {
		return datasets.Counters{}, err
	}
	return aggregate(launches), nil
}

// A parser has the lines of a table.
type parser struct {
	file   string
	header []string
	// rows are launches, and lines where they stand.
	rows  [][]string
	lines []int
}

func (p *parser) fail(line int, column, format string, args ...any) error {
	return &task.ParseError{File: p.file, Line: line, Column: column, Err: fmt.Errorf(format, args...)}
}

// idColumn is the first column. It is empty in the line of units below the header.
const idColumn = "ID"

// read finds the table in the text.
func (p *parser) read(r io.Reader) error {
	text, err := tableOf(r)
	if err != nil {
		return fmt.Errorf("%s: %w", p.file, err)
	}
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord = -1 // said below, with the numbers
	for {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		if at, ok := errors.AsType[*csv.ParseError](err); ok {
			return p.fail(at.StartLine, "", "%w", at.Err)
		}
		line, _ := in.FieldPos(0)
		switch {
		case fields[0] == idColumn:
			err = p.startTable(line, fields)
		case len(fields) != len(p.header):
			err = p.fail(line, "", "the line has %d fields, the header %d; the file may be cut off", len(fields), len(p.header))
		case fields[0] == "":
			err = p.checkUnits(line, fields)
		default:
			p.rows, p.lines = append(p.rows, fields), append(p.lines, line)
		}
		if err != nil {
			return err
		}
	}
	if p.header == nil {
		return p.fail(1, "", "there is no table: no line begins with %q", idColumn)
	}
	if len(p.rows) == 0 {
		return p.fail(1, "", "there are no launches below the header")
	}
	return nil
}

// tableOf returns a text in which the lines that are not of the table are empty, so
// that the others keep their numbers.
func tableOf(r io.Reader) (string, error) {
	var b strings.Builder
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20) // kernel names of C++ templates are long
	begun := false
	for in.Scan() {
		line := in.Text()
		begun = begun || strings.HasPrefix(line, `"`+idColumn+`"`)
		if begun && !strings.HasPrefix(line, "==") {
			b.WriteString(line)
		}
		b.WriteByte('\n')
	}
	return b.String(), in.Err()
}

// startTable checks a header.
func (p *parser) startTable(line int, fields []string) error {
	if p.header != nil && !slices.Equal(p.header, fields) {
		return p.fail(line, "", "a second table has other columns than the first")
	}
	p.header = fields
	for _, c := range table {
		if !slices.Contains(fields, c.metric) {
			return p.fail(line, c.metric, "the column is missing; ask for it with --metrics")
		}
	}
	return nil
}

// checkUnits checks that base units were asked for.
func (p *parser) checkUnits(line int, fields []string) error {
	if unit := fields[slices.Index(p.header, duration)]; unit != "ns" && unit != "nsecond" {
		return p.fail(line, duration, "the unit is %q; it has to be ns, with --print-units base", unit)
	}
	return nil
}

// launches turns rows into numbers.
func (p *parser) launches() ([]datasets.Counters, error) {
	numbers, err := p.numbers()
	if err != nil {
		return nil, err
	}
	out := make([]datasets.Counters, len(p.rows))
	for i, row := range p.rows {
		for _, c := range table {
			v, ok := numbers.parse(row[slices.Index(p.header, c.metric)])
			if !ok {
				return nil, p.fail(p.lines[i], c.metric, "%q is not a number", row[slices.Index(p.header, c.metric)])
			}
			*c.of(&out[i]) = v
		}
		if !(out[i].Duration > 0) {
			return nil, p.fail(p.lines[i], duration, "%q is not the duration of a launch", row[slices.Index(p.header, duration)])
		}
		out[i].Duration *= 1e-9
	}
	return out, nil
}

// A notation says what separates groups of three digits, and the digits after the
// decimal sign.
type notation struct {
	group, decimal string
	number         *regexp.Regexp
}

// The notations of English and of many other languages: Nsight Compute follows the
// user's.
var (
	point = notation{",", ".", regexp.MustCompile(`^([1-9]\d{0,2}(,\d{3})+(\.\d+)?|\d+(\.\d+)?(e[+-]?\d+)?)$`)}
	comma = notation{".", ",", regexp.MustCompile(`^([1-9]\d{0,2}(\.\d{3})+(,\d+)?|\d+(,\d+)?(e[+-]?\d+)?)$`)}
)

// numbers finds out in which notation the numbers are. 1,234 could be either, but a
// table has others that can not; if it has none, it is English.
func (p *parser) numbers() (notation, error) {
	found, line := point, 0
	for i, row := range p.rows {
		for _, c := range table {
			cell := row[slices.Index(p.header, c.metric)]
			english, other := point.number.MatchString(cell), comma.number.MatchString(cell)
			if english == other {
				continue // either, or no number at all
			}
			is := point
			if other {
				is = comma
			}
			if line > 0 && is != found {
				return found, p.fail(p.lines[i], c.metric, "%q is written otherwise than the numbers on line %d", cell, line)
			}
			found, line = is, p.lines[i]
		}
	}
	return found, nil
}

// largest is more than any counter of a run can be, and keeps sums finite.
const largest = 1e18

// parse reads a number, or NaN where there is none.
func (n notation) parse(cell string) (float64, bool) {
	// Nsight Compute marks with (!) what it could not read.
	switch strings.ToLower(strings.TrimSpace(strings.TrimPrefix(cell, "(!)"))) {
	case "", "n/a", "nan", "-nan":
		return math.NaN(), true
	}
	if !n.number.MatchString(cell) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.Replace(strings.ReplaceAll(cell, n.group, ""), n.decimal, ".", 1), 64)
	return v, err == nil && v < largest
}
