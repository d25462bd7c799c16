package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math"
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
func scanFile[T any](f *file, s Series, p part, decode func(*cell) (T, error)) ([]hit[T], error) {
	id, found, err := f.find(s)
	if err != nil || !found {
		return nil, err
	}
	st, err := f.prepared("SELECT instance, kind, error, metrics, crc FROM cell WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance LIMIT ?")
	if err != nil {
		return nil, err
	}
	rows, err := st.Query(id.id, p.first, p.end, p.limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []hit[T]
	var buffer []byte
	var columns [5]any // what is scanned into any is not converted
	for rows.Next() {
		if err := rows.Scan(&columns[0], &columns[1], &columns[2], &columns[3], &columns[4]); err != nil {
			return nil, err
		}
		c := cellOf(&columns)
		if c.checksum(id.crc, &buffer) != c.crc {
			return nil, &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of instance %d of %v is wrong", c.instance, s)}
		}
		v, err := decode(&c)
		if err != nil {
			return nil, &Damage{File: f.path, Reason: err.Error()}
		}
		out = append(out, hit[T]{c.instance, c.crc, c.kind == KindTimeout, f, v})
	}
	return out, rows.Err()
}

// cellOf reads the columns instance, kind, error, metrics and crc. What has another type
// than it should is zero, which the checksum then shows.
func cellOf(columns *[5]any) (c cell) {
	instance, _ := columns[0].(int64)
	crc, _ := columns[4].(int64)
	c.instance, c.crc = int(instance), uint32(crc)
	c.kind, _ = columns[1].(string)
	c.error, _ = columns[2].(string)
	c.metrics, _ = columns[3].(string)
	return c
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
	a, errA := first.outcome(s, instance)
	b, errB := second.outcome(s, instance)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	return &ConflictError{s, instance, first.path, second.path, a, b}
}

// outcome is a row of one file for messages.
func (f *file) outcome(s Series, instance int) (string, error) {
	names := map[string]string{}
	rows, err := scanFile(f, s, part{instance, instance + 1, 1}, func(c *cell) (Row, error) { return c.row(names) })
	if err != nil || len(rows) == 0 {
		return "", explain(f.path, err)
	}
	return rows[0].value.outcome(), nil
}

// series returns what the file calls its series.
func (f *file) series() (map[Series]seriesID, error) {
	rows, err := f.db.Query("SELECT id, crc, " + seriesColumns + " FROM series")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[Series]seriesID{}
	for rows.Next() {
		var id seriesID
		var s Series
		if err := rows.Scan(&id.id, &id.crc, &s.Track, &s.Dataset, &s.Content, &s.GPU, &s.Count, &s.Algorithm, &s.Version, &s.Weights, &s.Model); err != nil {
			return nil, &Damage{File: f.path, Reason: err.Error()}
		}
		if s.checksum() != id.crc {
			return nil, &Damage{File: f.path, Reason: fmt.Sprintf("the checksum of series %d (%v) is wrong", id.id, s)}
		}
		out[s] = id
	}
	return out, rows.Err()
}

// addTimes enters wall times into points, which are by instance.
func (f *file) addTimes(s Series, first, end int, points []Point) error {
	id, found, err := f.find(s)
	if err != nil || !found {
		return err
	}
	st, err := f.prepared("SELECT instance, microseconds FROM timing WHERE series = ? AND instance >= ? AND instance < ? ORDER BY instance")
	if err != nil {
		return err
	}
	rows, err := st.Query(id.id, first, end)
	if err != nil {
		return err
	}
	defer rows.Close()
	var columns [2]any
	for i := 0; rows.Next(); {
		if err := rows.Scan(&columns[0], &columns[1]); err != nil {
			return err
		}
		instance, _ := columns[0].(int64)
		micros, ok := columns[1].(float64)
		for i < len(points) && points[i].Instance < int(instance) {
			i++
		}
		if ok && i < len(points) && points[i].Instance == int(instance) && !(points[i].Micros < micros) {
			points[i].Micros = micros
		}
	}
	return rows.Err()
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
	id, found, err := f.find(s)
	if err != nil || !found {
		return err
	}
	count, err := f.prepared("SELECT count(*), max(instance) FROM cell WHERE series = ? AND kind <> '" + KindTimeout + "'")
	if err != nil {
		return err
	}
	var n int
	var last sql.NullInt64
	if err := count.QueryRow(id.id).Scan(&n, &last); err != nil || n == 0 {
		return err
	}
	if int(last.Int64) == n-1 { // all from the first on
		out.dense = max(out.dense, n)
		return nil
	}
	list, err := f.prepared("SELECT instance FROM cell WHERE series = ? AND kind <> '" + KindTimeout + "' ORDER BY instance")
	if err != nil {
		return err
	}
	rows, err := list.Query(id.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var instance int64
		if err := rows.Scan(&instance); err != nil {
			return err
		}
		out.Add(int(instance))
	}
	return rows.Err()
}

// check reads all of the file's results, checks them and counts them. Damaged wall times are no error.
func (f *file) check() error {
	if f.tally != nil {
		return nil
	}
	tally, err := f.count()
	if err == nil {
		f.tally = tally
		var n int
		f.timingLost = f.db.QueryRow("SELECT count(microseconds) FROM timing").Scan(&n) != nil
	}
	return explain(f.path, err)
}

func (f *file) count() (map[Series]Tally, error) {
	known, err := f.series()
	if err != nil {
		return nil, err
	}
	named := map[int64]Series{}
	for s, id := range known {
		named[id.id] = s
	}
	rows, err := f.db.Query(`SELECT series, count(*), sum(kind <> ''), sum(cell.crc <> miglab_crc(series.crc, instance, kind, error, metrics))
		FROM cell LEFT JOIN series ON series.id = cell.series GROUP BY series`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[Series]Tally{}
	for rows.Next() {
		var id, wrong int64
		var t Tally
		if err := rows.Scan(&id, &t.Done, &t.Failed, &wrong); err != nil {
			return nil, err
		}
		s, ok := named[id]
		if !ok || wrong > 0 {
			return nil, &Damage{File: f.path, Reason: fmt.Sprintf("%d of %d rows of series %d have a wrong checksum or belong to no series", max(wrong, 1), t.Done, id)}
		}
		out[s] = t
	}
	return out, rows.Err()
}

// MeanMicros returns the mean wall time of the cells of a series in microseconds, and whether any is known.
func (db *DB) MeanMicros(s Series) (float64, bool, error) {
	sum, n := 0.0, 0
	for _, f := range db.all() {
		id, found, err := f.find(s)
		if err != nil {
			return 0, false, explain(f.path, err)
		}
		if !found {
			continue
		}
		st, err := f.prepared("SELECT total(microseconds), count(*) FROM timing WHERE series = ?")
		if err != nil {
			return 0, false, explain(f.path, err)
		}
		var own float64
		var times int
		if err := st.QueryRow(id.id).Scan(&own, &times); err != nil {
			return 0, false, f.explainTiming(err)
		}
		sum += own
		n += times
	}
	return sum / math.Max(float64(n), 1), n > 0, nil
}
