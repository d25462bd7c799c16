package store

import (
	"cmp"
	"encoding/csv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/atomicfile"
)

// Export writes all rows as CSV, one for each cell, ordered by the cells' fields with
// whole numbers by value. The columns are the cells' fields in their order, all
// metrics by name, then kind and error; what a row lacks is empty. Two stores with
// the same rows give the same bytes, however the rows came about. The file is
// replaced as a whole, and its folder made.
func (s *Store) Export(path string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	rows := s.order()
	return atomicfile.WriteFile(path, func(w io.Writer) error { return s.export(w, rows) })
}

// ExportFolder exports all that a store's folder holds, other processes' shards
// included. Exports of one folder wait for each other, so that after processes that
// each close their shard and then export, the table has everything: the last of them
// reads what all have written.
func ExportFolder(dir, path string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close() // and with it the lock
	if err := lockWaiting(folder); err != nil {
		return err
	}
	s, err := Open(dir)
	if err != nil {
		return err
	}
	return s.Export(path)
}

// Most cells differ in their last field alone, which numbers the instance. Ordering
// the few beginnings by text and the many cells by number makes an export of
// 400,000 rows three times as fast as comparing cells.

// position is where a row belongs in an export.
type position struct {
	// beginning is the rank of the cell up to its last number.
	beginning int32
	row       int32
	number    uint64
}

// splitCell cuts a cell before the whole number that ends it; a cell that ends in
// something else is all beginning.
func splitCell(cell string) (beginning string, number uint64) {
	i := strings.LastIndexByte(cell, ':') + 1
	number, err := strconv.ParseUint(strings.TrimSuffix(cell[i:], "}"), 10, 64)
	if err != nil {
		return cell, 0
	}
	return cell[:i], number
}

// order returns the rows in the order of an export.
func (s *Store) order() []position {
	known := map[string]int32{}
	var beginnings []string
	out := make([]position, len(s.entries))
	for i := range s.entries {
		b, number := splitCell(s.entries[i].Cell)
		id, ok := known[b]
		if !ok {
			id = int32(len(beginnings))
			known[b] = id
			beginnings = append(beginnings, b)
		}
		out[i] = position{id, int32(i), number}
	}
	sorted := slices.Clone(beginnings)
	slices.SortFunc(sorted, compareCells)
	for rank, b := range sorted {
		known[b] = int32(rank)
	}
	for i := range out {
		out[i].beginning = known[beginnings[out[i].beginning]]
	}
	slices.SortFunc(out, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.beginning, b.beginning), cmp.Compare(a.number, b.number))
	})
	return out
}

func (s *Store) export(w io.Writer, rows []position) error {
	fields, metrics := newColumns(), newColumns()
	for i, r := range rows {
		e := &s.entries[r.row]
		if i == 0 || r.beginning != rows[i-1].beginning {
			e.fields(func(name, _ string) { fields.add(name) })
		}
		for _, m := range e.Metrics {
			metrics.add(m.Name)
		}
	}
	metrics.sort()
	out := csv.NewWriter(w)
	if err := out.Write(slices.Concat(fields.names, metrics.names, []string{"kind", "error"})); err != nil {
		return err
	}
	record := make([]string, len(fields.names)+len(metrics.names)+2)
	last := -1
	for i, r := range rows {
		e := &s.entries[r.row]
		if i == 0 || r.beginning != rows[i-1].beginning {
			clear(record)
			e.fields(func(name, value string) {
				last = fields.index[name]
				record[last] = value
			})
		} else {
			record[last] = strconv.FormatUint(r.number, 10)
		}
		values := record[len(fields.names):]
		clear(values)
		for _, m := range e.Metrics {
			values[metrics.index[m.Name]] = strconv.FormatFloat(m.Value, 'g', -1, 64)
		}
		values[len(values)-2], values[len(values)-1] = e.Kind, e.Error
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// columns numbers names.
type columns struct {
	names []string
	index map[string]int
}

func newColumns() *columns { return &columns{index: map[string]int{}} }

func (c *columns) add(name string) {
	if _, ok := c.index[name]; !ok {
		c.index[name] = len(c.names)
		c.names = append(c.names, name)
	}
}

// sort numbers the names by their order.
func (c *columns) sort() {
	slices.Sort(c.names)
	for i, n := range c.names {
		c.index[n] = i
	}
}
