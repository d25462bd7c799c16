package store

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A cell is a row and the place that has it, for messages: a file, or the row that is being written.
type cell struct {
	Row
	where string
}

// outcome returns the file and the content of the cell, for messages.
func (c *cell) outcome() string {
	return fmt.Sprintf("%s has %s", c.where, cmp.Or(c.Metrics.String(), c.Kind+": "+c.Error))
}

// uniteCells orders cells by instance and keeps one of each instance. A cell of [KindTimeout] or [KindPanic] gives way
// to a later one, and to any result. Other cells that disagree are a [*ConflictError].
func uniteCells(s Series, all []cell) ([]cell, error) {
	slices.SortStableFunc(all, func(a, b cell) int { return cmp.Compare(a.Instance, b.Instance) })
	out := all[:0]
	for _, c := range all {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Instance != c.Instance:
			out = append(out, c)
		case c.Kind == out[last].Kind && c.Error == out[last].Error && c.Metrics == out[last].Metrics:
		case out[last].isProvisional():
			out[last] = c
		case c.isProvisional():
		default:
			return nil, &ConflictError{Series: s, Instance: c.Instance, First: out[last].outcome(), Second: c.outcome()}
		}
	}
	return out, nil
}

// cellColumns joins the columns of a cell by NUL. cellsOfSeries joins the cells of a series by NUL, because one text is
// read much faster than many rows.
const (
	cellColumns   = "concat_ws(char(0), instance, names, numbers, kind, error, nanoseconds)"
	cellsOfSeries = "SELECT group_concat(" + cellColumns + ", char(0)) FROM cell" +
		" WHERE series = ? AND instance >= ? AND instance < ?"
)

// read returns the cells of a series with the instances first to end-1. If they do not match the checksums, another
// process may have changed both in the meantime, and read tries again.
func (f *file) read(e *entry, first, end int) ([]cell, error) {
	for {
		cells, got, err := f.readOnce(e, first, end)
		if err != nil || e.matches(got, first, end) {
			return cells, err
		}
		present, err := f.present()
		if err != nil {
			return nil, err
		}
		now := present[e.Series]
		if now == nil || *now == *e {
			return nil, f.damage("the checksum of %v is wrong", e.Series)
		}
		e = now
	}
}

// readOnce returns cells as read does, and the sums of the chunks that have them. It reads whole chunks.
func (f *file) readOnce(e *entry, first, end int) (cells []cell, got chunkSums, err error) {
	from, to := chunkOf(first)*chunkSize, math.MaxInt
	last := chunkOf(end - 1)
	if last < lastChunk {
		to = (last + 1) * chunkSize
	}
	text := ""
	err = f.query(cellsOfSeries, []any{e.id, from, to}, func(v []any) error {
		text = columnOr[string](v[0])
		return nil
	})
	if err != nil {
		return nil, got, err
	}
	return f.splitCells(text, first, end)
}

// splitCells splits a text of cellsOfSeries. It returns the cells with the instances first to end-1, and the sums of
// the chunks of all cells of the text.
func (f *file) splitCells(text string, first, end int) (cells []cell, got chunkSums, err error) {
	const columns = 6 // of cellColumns
	room := (strings.Count(text, "\x00") + 1) / columns
	cells = make([]cell, 0, min(room, max(0, end-first)))
	var list string // the list of names of the last cell, with its id and hash
	lastNames, listHash := int64(-1), int64(0)
	var b []byte
	for text != "" {
		var c [columns]string
		row := text
		for i := range c {
			c[i], text, _ = strings.Cut(text, "\x00")
		}
		instance, _ := strconv.Atoi(c[0]) // Damaged numbers change the checksum.
		names, _ := strconv.ParseInt(c[1], 10, 64)
		nanoseconds, _ := strconv.ParseInt(c[5], 10, 64)
		if names != lastNames {
			if list, err = f.list(names); err != nil {
				return nil, got, err
			}
			lastNames, listHash = names, checksumOf(list)
		}
		b = append(b[:0], strings.TrimSuffix(row[:len(row)-len(text)], "\x00")...)
		got.add(instance, int64(crc32.Checksum(b, castagnoli))+listHash)
		if instance < first || instance >= end {
			continue
		}
		cells = append(cells, cell{where: f.path, Row: Row{
			Instance: instance, Metrics: Metrics{list, c[2]}, Kind: c[3], Error: c[4],
			Micros: float64(nanoseconds) / 1000,
		}})
	}
	return cells, got, nil
}

// list returns the list of names with an id. It reads all lists again when one is new.
func (f *file) list(id int64) (string, error) {
	list, ok := f.lists.Load(id)
	if !ok {
		err := f.query("SELECT id, list FROM names", nil, func(v []any) error {
			f.lists.Store(columnOr[int64](v[0]), columnOr[string](v[1]))
			return nil
		})
		if err != nil {
			return "", err
		}
		if list, ok = f.lists.Load(id); !ok {
			return "", f.damage("the names of metrics with the number %d are missing", id)
		}
	}
	return list.(string), nil
}
