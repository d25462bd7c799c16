package store

import (
	"slices"
	"strconv"
	"strings"
)

// appendRow appends a valid row's line.
func appendRow(dst []byte, r *Row) []byte {
	dst = append(dst, `{"cell":`...)
	dst = append(dst, r.Cell...)
	if r.Kind != "" {
		dst = append(dst, `,"kind":`...)
		dst = AppendString(dst, r.Kind)
		dst = append(dst, `,"error":`...)
		dst = AppendString(dst, r.Error)
		return append(dst, "}\n"...)
	}
	dst = append(dst, `,"metrics":`...)
	separator := byte('{')
	for _, m := range r.Metrics {
		dst = append(dst, separator)
		dst = AppendString(dst, m.Name)
		dst = append(dst, ':')
		dst = strconv.AppendFloat(dst, m.Value, 'g', -1, 64)
		separator = ','
	}
	return append(dst, "}}\n"...)
}

// rowParser reads the lines of rows. It keeps one copy of every metric name,
// since there are few, and is for one goroutine.
type rowParser struct {
	names   map[string]string
	scratch Metrics
}

func newRowParser() *rowParser { return &rowParser{names: map[string]string{}} }

// parse reads one line without its end. The row keeps nothing of the line alive.
func (p *rowParser) parse(line string) (Row, error) {
	s := scanner{line: line}
	var r Row
	s.literal(`{"cell":`)
	start := s.at
	s.object(func(string, string) {})
	cell := line[start:s.at]
	if s.accept(`,"kind":`) {
		r.Kind = s.text()
		s.literal(`,"error":`)
		r.Error = s.text()
		s.literal("}")
	} else {
		s.literal(`,"metrics":{`)
		p.scratch = p.scratch[:0]
		for s.err == nil && (len(p.scratch) == 0 || !s.accept("}}")) {
			if len(p.scratch) > 0 {
				s.literal(",")
			}
			start := s.at
			name := s.text()
			if n := len(p.scratch); n > 0 && p.scratch[n-1].Name >= name {
				s.at = start
				s.expected("metrics by ascending name, each once")
			}
			s.literal(":")
			p.scratch = append(p.scratch, Metric{p.name(name), s.float()})
		}
		r.Metrics = slices.Clone(p.scratch)
	}
	s.end()
	if s.err == nil && r.Metrics == nil && (r.Kind == "" || r.Error == "") {
		s.expected("an error that says something")
	}
	if s.err != nil {
		return Row{}, s.err
	}
	r.Cell, r.Kind, r.Error = strings.Clone(cell), strings.Clone(r.Kind), strings.Clone(r.Error)
	return r, nil
}

func (p *rowParser) name(name string) string {
	known, ok := p.names[name]
	if !ok {
		known = strings.Clone(name)
		p.names[known] = known
	}
	return known
}
