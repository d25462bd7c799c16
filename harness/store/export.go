package store

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
)

// Export writes all rows as CSV, one for each cell, ordered by the cells' fields with
// whole numbers by value. The columns are the cells' fields in their order, all metrics
// by name, then kind and error; what a row lacks is empty. Two stores with the same
// rows give the same bytes, however the rows came about. The file is replaced
// as a whole, and its folder made.
func (s *Store) Export(path string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	order := make([]*entry, len(s.entries))
	for i := range s.entries {
		order[i] = &s.entries[i]
	}
	slices.SortFunc(order, func(a, b *entry) int { return compareCells(a.Cell, b.Cell) })
	return WriteFile(path, func(w io.Writer) error { return exportRows(w, order) })
}

func exportRows(w io.Writer, rows []*entry) error {
	out := csv.NewWriter(w)
	fields := newColumns()
	metrics := newColumns()
	for _, r := range rows {
		s := scanner{line: r.Cell}
		s.object(func(name, _ string) { fields.add(name) })
		for _, m := range r.Metrics {
			metrics.add(m.Name)
		}
	}
	slices.Sort(metrics.names)
	metrics.number()
	header := slices.Concat(fields.names, metrics.names, []string{"kind", "error"})
	if err := out.Write(header); err != nil {
		return err
	}
	record := make([]string, len(header))
	for _, r := range rows {
		clear(record)
		s := scanner{line: r.Cell}
		s.object(func(name, value string) { record[fields.index[name]] = value })
		for _, m := range r.Metrics {
			record[len(fields.names)+metrics.index[m.Name]] = strconv.FormatFloat(m.Value, 'g', -1, 64)
		}
		record[len(record)-2], record[len(record)-1] = r.Kind, r.Error
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

// number gives the names their present order.
func (c *columns) number() {
	for i, n := range c.names {
		c.index[n] = i
	}
}
