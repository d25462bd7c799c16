package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A cell is a row and the file that has it.
type cell struct {
	Row
	where string
}

// cleanText replaces what SQLite's functions would not take as text.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// outcome returns the file and the content of the cell, for messages.
func (c *cell) outcome() string {
	return fmt.Sprintf("%s has %s", c.where, cmp.Or(c.Metrics.String(), c.Kind+": "+c.Error))
}

// Series returns the series that the filter selects and that have results, ordered by their fields.
func (db *DB) Series(filter Filter) ([]Series, error) {
	var out []Series
	for _, f := range db.all() {
		all, err := f.present()
		if err != nil {
			return nil, err
		}
		for s := range all {
			if filter.selects(s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, Series.compare)
	return slices.Compact(out), nil
}

// Rows returns the rows of the instances first to end-1 of a series, as many as there are, by
// instance. It reads and checks all of the series. It returns a [*ConflictError], a [*Damage] or an error of the file
// system.
func (db *DB) Rows(s Series, first, end int) ([]Row, error) {
	cells, err := db.cells(s, first, end)
	out := make([]Row, len(cells))
	for i := range cells {
		out[i] = cells[i].Row
	}
	return out, err
}

// cells returns cells of a series by instance. A cell that several files have comes once.
func (db *DB) cells(s Series, first, end int) (all []cell, err error) {
	for i, f := range db.all() {
		series, err := f.present()
		if err != nil {
			return nil, err
		}
		e := series[s]
		if e == nil {
			continue
		}
		cells, err := f.read(e, first, end)
		if all = append(all, cells...); err == nil && i > 0 {
			all, err = uniteCells(s, all)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// uniteCells orders the cells of several files by instance and keeps one of each.
func uniteCells(s Series, all []cell) ([]cell, error) {
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(a.Instance, b.Instance) })
	out := all[:0]
	for _, c := range all {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Instance != c.Instance:
			out = append(out, c)
		case c.Kind == KindTimeout || c.Kind == out[last].Kind && c.Error == out[last].Error &&
			c.Metrics == out[last].Metrics:
		case out[last].Kind == KindTimeout:
			out[last] = c
		default:
			return nil, &ConflictError{s, c.Instance, out[last].outcome(), c.outcome()}
		}
	}
	return out, nil
}

// column calls add for a column of the cells of a series that a condition selects, in each file. It does not check
// the cells.
func (db *DB) column(s Series, column, condition string, add func(f *file, value int64) error, args ...any) error {
	query := "SELECT " + column + " FROM cell WHERE series = ?" + condition
	for _, f := range db.all() {
		all, err := f.present()
		if err != nil {
			return err
		}
		if e := all[s]; e != nil {
			err = f.query(query, append([]any{e.id}, args...), func(v []any) error {
				return add(f, columnOr[int64](v[0]))
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// metricNames returns the names of the metrics that cells of the series that the filter selects
// have, in ascending order.
func (db *DB) metricNames(filter Filter) ([]string, error) {
	all, err := db.Series(filter)
	type key struct {
		*file
		list int64
	}
	lists := map[key]bool{}
	for i := 0; err == nil && i < len(all); i++ {
		err = db.column(all[i], "DISTINCT names", "", func(f *file, list int64) error {
			lists[key{f, list}] = true
			return nil
		})
	}
	var out []string
	for k := range lists {
		list, failed := k.file.list(k.list)
		err = cmp.Or(err, failed)
		for names := strings.Trim(list, "[]"); names != ""; {
			name, after := unquoteFirst(names)
			out, names = append(out, name), strings.TrimPrefix(after, ",")
		}
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// Finished calls add for the instances of a series that need no more work: that have a
// result other than [KindTimeout]. It may do so more than once.
func (db *DB) Finished(s Series, add func(instance int)) error {
	return db.column(s, "instance", " AND kind <> '"+KindTimeout+"'", func(_ *file, instance int64) error {
		add(int(instance))
		return nil
	})
}

// Instances returns the instances of a series from first on that have a result of any kind, in
// ascending order. It reads no results, so that damage in them is not seen.
func (db *DB) Instances(s Series, first int) ([]int, error) {
	var out []int
	err := db.column(s, "instance", " AND instance >= ?", func(_ *file, instance int64) error {
		out = append(out, int(instance))
		return nil
	}, first)
	slices.Sort(out)
	return slices.Compact(out), err
}

// ByAge returns the series in the order in which a cell of theirs was last written. Of several
// databases, those whose files' names come later count as written later.
func (db *DB) ByAge(of []Series) ([]Series, error) {
	written := map[Series][]int64{}
	for i, f := range db.all() {
		all, err := f.present()
		if err != nil {
			return nil, err
		}
		for _, s := range of {
			if e := all[s]; e != nil {
				written[s] = []int64{int64(i), e.written}
			}
		}
	}
	return slices.SortedStableFunc(slices.Values(of), func(a, b Series) int {
		return slices.Compare(written[a], written[b])
	}), nil
}
