package store

import "slices"

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

// Rows returns the rows that a series has of the instances first to end-1, by instance. It checks the checksums of
// these instances and their neighbours. It returns a [*ConflictError], a [*Damage], or an error of SQLite or of the
// file system.
func (db *DB) Rows(s Series, first, end int) ([]Row, error) {
	cells, err := db.cells(s, first, end)
	out := make([]Row, len(cells))
	for i := range cells {
		out[i] = cells[i].Row
	}
	return out, err
}

// cells returns cells of a series by instance. It keeps one of a cell that several files have, as uniteCells does.
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
		if err != nil {
			return nil, err
		}
		all = append(all, cells...)
		if i == 0 {
			continue // already by instance
		}
		if all, err = uniteCells(s, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// column calls add with a column of each cell of a series that meets a condition, file by file. The condition is empty
// or begins with " AND"; args are its parameters. column does not check the cells.
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
	if err != nil {
		return nil, err
	}
	type key struct {
		*file
		list int64
	}
	lists := map[key]bool{}
	for _, s := range all {
		err := db.column(s, "DISTINCT names", "", func(f *file, list int64) error {
			lists[key{f, list}] = true
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out []string
	for k := range lists {
		list, err := k.file.list(k.list)
		if err != nil {
			return nil, err
		}
		for name := range (Metrics{names: list}).All() {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// Finished calls add for the instances of a series that have a result other than [KindTimeout] and [KindPanic] and so
// need no more work. It may call add more than once for an instance.
func (db *DB) Finished(s Series, add func(instance int)) error {
	const final = " AND kind NOT IN ('" + KindTimeout + "', '" + KindPanic + "')"
	return db.column(s, "instance", final, func(_ *file, instance int64) error {
		add(int(instance))
		return nil
	})
}

// Instances returns the instances of a series from first on that have a result of any kind, in
// ascending order. It reads no results, and so it does not notice damage in them.
func (db *DB) Instances(s Series, first int) ([]int, error) {
	var out []int
	err := db.column(s, "instance", " AND instance >= ?", func(_ *file, instance int64) error {
		out = append(out, int(instance))
		return nil
	}, first)
	slices.Sort(out)
	return slices.Compact(out), err
}

// ByAge returns the series in the order of the last write to each. A write to a database counts as later than all
// writes to the databases whose names come before.
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
