package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A part is at most so many instances of a series, from first to end-1.
type part struct {
	first, end, limit int
}

// A hit is what a query makes of a cell, with what tells it from the same cell in
// another file.
type hit[T any] struct {
	instance int
	crc      uint32
	timeout  bool
	file     *file
	value    T
}

// scan reads a part of a series from all files, checks every cell, and returns what
// decode makes of it, by instance. A cell that several files have comes once.
// next is the instance with which the following part begins; -1 if there is none.
func scan[T any](db *DB, s Series, p part, decode func(*cell) (T, error)) (all []hit[T], next int, err error) {
	next = -1
	lists := 0
	for _, f := range db.all() {
		own, err := scanFile(f, s, p, decode)
		if err != nil {
			return nil, 0, explain(f.path, err)
		}
		if len(own) == 0 {
			continue
		}
		if len(own) == p.limit { // this file may have more, and no file may go beyond it
			p.end = own[len(own)-1].instance + 1
			next = p.end
		}
		lists++
		if all = append(all, own...); lists == 1 {
			all = own
		}
	}
	if lists < 2 {
		return all, next, nil
	}
	all = slices.DeleteFunc(all, func(h hit[T]) bool { return h.instance >= p.end })
	all, err = unite(s, all)
	return all, next, err
}

// scanFile reads a part from one file.
func scanFile[T any](f *file, s Series, p part, decode func(*cell) (T, error)) (out []hit[T], err error) {
	var buffer []byte
	const query = "SELECT instance, nullif(kind, ''), nullif(error, ''), metrics, crc FROM cell WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance LIMIT ?"
	err = f.queryOf(s, query, []any{p.first, p.end, p.limit}, func(series seriesID, columns []any) error {
		c := cell{int(as[int64](columns[0])), as[string](columns[1]), as[string](columns[2]), as[string](columns[3]), uint32(as[int64](columns[4]))}
		if c.checksum(series.crc, &buffer) != c.crc {
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.instance, s)}
		}
		v, err := decode(&c)
		if err != nil {
			return &Damage{File: f.path, Reason: err.Error()}
		}
		out = append(out, hit[T]{c.instance, c.crc, c.kind == KindTimeout, f, v})
		return nil
	})
	return out, err
}

// unite orders the hits of several files and keeps one for each instance.
func unite[T any](s Series, all []hit[T]) ([]hit[T], error) {
	slices.SortStableFunc(all, func(a, b hit[T]) int { return cmp.Compare(a.instance, b.instance) })
	out := all[:0]
	for _, h := range all {
		n := len(out)
		switch {
		case n == 0 || out[n-1].instance != h.instance:
			out = append(out, h)
		case h.timeout || out[n-1].crc == h.crc:
		case out[n-1].timeout:
			out[n-1] = h
		default:
			return nil, conflict(s, h.instance, out[n-1].file, h.file)
		}
	}
	return out, nil
}

// conflict is the error of two files that disagree.
func conflict(s Series, instance int, first, second *file) error {
	a, errA := first.row(s, instance)
	b, errB := second.row(s, instance)
	return cmp.Or[error](errA, errB, &ConflictError{s, instance, first.path, second.path, a.outcome(), b.outcome()})
}

// row reads a row of one file.
func (f *file) row(s Series, instance int) (Row, error) {
	names := map[string]string{}
	rows, err := scanFile(f, s, part{instance, instance + 1, 1}, func(c *cell) (Row, error) { return c.row(names) })
	if err != nil || len(rows) == 0 {
		return Row{}, explain(f.path, err)
	}
	return rows[0].value, nil
}

// series returns what the file calls its series.
func (f *file) series() (map[Series]seriesID, error) {
	out := map[Series]seriesID{}
	err := f.query("SELECT id, crc, "+seriesColumns+" FROM series", nil, func(c []any) error {
		s := Series{
			as[string](c[2]), as[string](c[3]), as[string](c[4]), as[string](c[5]), int(as[int64](c[6])),
			as[string](c[7]), int(as[int64](c[8])), as[string](c[9]), as[string](c[10]),
		}
		id := seriesID{as[int64](c[0]), uint32(as[int64](c[1]))}
		if s.checksum() != id.crc {
			return &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of series %d (%v) is wrong", id.id, s)}
		}
		out[s] = id
		return nil
	})
	return out, err
}

// addTimes enters wall times into points, which are by instance.
func (f *file) addTimes(s Series, first, end int, points []Point) error {
	i := 0
	const query = "SELECT instance, microseconds FROM timing WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance"
	return f.queryOf(s, query, []any{first, end}, func(_ seriesID, columns []any) error {
		instance, micros := int(as[int64](columns[0])), as[float64](columns[1])
		for i < len(points) && points[i].Instance < instance {
			i++
		}
		if i < len(points) && points[i].Instance == instance && !(points[i].Micros < micros) {
			points[i].Micros = micros
		}
		return nil
	})
}

// explainTiming is explain for an error of reading wall times.
func (f *file) explainTiming(err error) error {
	err = explain(f.path, err)
	if d, ok := errors.AsType[*Damage](err); ok {
		d.Timing = true
	}
	return err
}

// addFinished adds the finished instances of a series.
func (f *file) addFinished(s Series, out *Instances) error {
	const from = " FROM cell WHERE series = ? AND kind <> '" + KindTimeout + "'"
	all := false
	if err := f.queryOf(s, "SELECT count(*), max(instance)"+from, nil, func(_ seriesID, columns []any) error {
		n, last := int(as[int64](columns[0])), int(as[int64](columns[1]))
		if all = n == 0 || last == n-1; all { // there is no gap
			out.dense = max(out.dense, n)
		}
		return nil
	}); err != nil || all {
		return err
	}
	return f.queryOf(s, "SELECT instance"+from+" ORDER BY instance", nil, func(_ seriesID, columns []any) error {
		out.Add(int(as[int64](columns[0])))
		return nil
	})
}

// check reads all of the file's results, checks them and counts them. Damaged wall times are no error.
func (f *file) check() error {
	f.checking.Lock()
	defer f.checking.Unlock()
	if f.tally != nil {
		return nil
	}
	known, err := f.series()
	if err != nil {
		return explain(f.path, err)
	}
	named := map[int64]Series{}
	for s, id := range known {
		named[id.id] = s
	}
	tally := map[Series]Tally{}
	if err := f.query(`SELECT series, count(*), sum(kind <> ''), sum(cell.crc <> miglab_crc(series.crc, instance, kind, error, metrics))
		FROM cell LEFT JOIN series ON series.id = cell.series GROUP BY series`, nil, func(columns []any) error {
		s, ok := named[as[int64](columns[0])]
		n, wrong := int(as[int64](columns[1])), as[int64](columns[3])
		if !ok || wrong > 0 {
			return &Damage{File: f.path, Reason: fmt.Sprintf("%d of %d rows of series %d have a wrong checksum or belong to no series", max(wrong, 1), n, columns[0])}
		}
		tally[s] = Tally{n, int(as[int64](columns[2]))}
		return nil
	}); err != nil {
		return explain(f.path, err)
	}
	f.tally = tally
	f.timingLost = f.query("SELECT count(microseconds) FROM timing", nil, func([]any) error { return nil }) != nil
	return nil
}
