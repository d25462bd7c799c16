package counters

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// A Row is what was read of one kernel.
type Row struct {
	datasets.Provenance
	// Kernel is its name in the manifest.
	Kernel string
	Counters
}

// notAvailable is NaN in a file.
const notAvailable = "n/a"

// header are the columns of a file: provenance, kernel, launches and Table III.
func header() []string {
	names := []string{"gpu", "gpu_name", "driver", "source", "date", "kernel", "launches"}
	for _, c := range table {
		names = append(names, c.column)
	}
	return names
}

// WriteCSV writes what [ReadCSV] reads: reading it back gives the same rows, to the
// last bit. It checks nothing, so that nothing that was measured is lost; errors are
// those of w.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	lines := [][]string{header()}
	for _, r := range rows {
		line := []string{r.GPU, r.Name, r.Driver, r.Source, r.Date, r.Kernel, strconv.Itoa(r.Launches)}
		for _, c := range table {
			cell := notAvailable
			if v := *c.of(&r.Counters); !math.IsNaN(v) {
				cell = strconv.FormatFloat(v, 'f', -1, 64)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	return out.WriteAll(lines)
}

// ReadCSV reads one line a kernel, with the header gpu, gpu_name, driver, source, date,
// kernel, launches and the twelve counters of Table III in its order, all in their
// place. Counters are numbers from 0 or n/a.
//
// The file's name serves for errors only. What is wrong with the text is a
// [*task.ParseError]; other errors are those of r.
func ReadCSV(r io.Reader, file string) ([]Row, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1 // said below, with what is missing
	columns := header()
	var rows []Row
	for first := true; ; first = false {
		fields, err := in.Read()
		if err == io.EOF {
			break
		}
		if at, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, &task.ParseError{File: file, Line: at.StartLine, Err: at.Err}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := in.FieldPos(0)
		switch {
		case first && !slices.Equal(fields, columns):
			return nil, &task.ParseError{File: file, Line: line, Err: fmt.Errorf("the header is %s; it must be %s", strings.Join(fields, ","), strings.Join(columns, ","))}
		case first:
			continue
		case len(fields) != len(columns):
			return nil, &task.ParseError{File: file, Line: line, Err: fmt.Errorf("there are %d fields; there must be %d", len(fields), len(columns))}
		}
		row, column, err := parseRow(fields)
		if err == nil && slices.ContainsFunc(rows, func(r Row) bool { return r.Kernel == row.Kernel && r.Provenance == row.Provenance }) {
			column, err = "kernel", fmt.Errorf("%q is there twice", row.Kernel)
		}
		if err != nil {
			return nil, &task.ParseError{File: file, Line: line, Column: column, Err: err}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, &task.ParseError{File: file, Line: 1, Err: errors.New("there are no kernels; write one line a kernel below the header " + strings.Join(columns, ","))}
	}
	return rows, nil
}

// parseRow reads a line with as many fields as there are columns, and says in which of
// them an error is.
func parseRow(fields []string) (r Row, column string, err error) {
	columns := header()
	for i, f := range fields {
		if f == "" || f != strings.TrimSpace(f) {
			return r, columns[i], fmt.Errorf("%q must not be empty nor have spaces around it", f)
		}
	}
	r.Provenance = datasets.Provenance{GPU: fields[0], Name: fields[1], Driver: fields[2], Source: fields[3], Date: fields[4]}
	r.Kernel = fields[5]
	if g, err := mig.Lookup(r.GPU); err != nil {
		return r, "gpu", err
	} else if g.Name != r.GPU {
		return r, "gpu", fmt.Errorf("%q; write %s", r.GPU, g)
	}
	if sources := []string{datasets.SourceMIG, datasets.SourceMPS}; !slices.Contains(sources, r.Source) {
		return r, "source", nearest.Unknown("source", r.Source, sources)
	}
	if _, err := time.Parse(time.DateOnly, r.Date); err != nil {
		return r, "date", fmt.Errorf("%q must be a day such as 2026-11-21", r.Date)
	}
	if r.Launches, err = strconv.Atoi(fields[6]); err != nil || r.Launches < 1 {
		return r, "launches", fmt.Errorf("%q must be a whole number from 1", fields[6])
	}
	for i, c := range table {
		cell := fields[len(fields)-len(table)+i]
		v, err := strconv.ParseFloat(cell, 64)
		switch {
		case cell == notAvailable && c.metric != duration:
			v = math.NaN()
		case err != nil || !(v >= 0) || math.IsInf(v, 1):
			return r, c.column, fmt.Errorf("%q must be a number from 0 or %s", cell, notAvailable)
		case c.metric == duration && v == 0:
			return r, c.column, errors.New("launches must have a duration")
		}
		*c.of(&r.Counters) = v
	}
	return r, "", nil
}
