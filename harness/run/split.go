package run

import (
	"fmt"
	"regexp"
	"strconv"
)

// A Split is a half of the instances of every dataset. Parameters are chosen on one half and judged on the other,
// because results on the instances that chose the parameters are partly luck. "" means all instances.
type Split string

// Tune has the instances with even numbers and Test has those with odd numbers, so that the halves do not depend on
// the number of instances.
const (
	Tune Split = "tune"
	Test Split = "test"
)

// Holds reports whether an instance is in the half.
func (s Split) Holds(instance int) bool { return s == "" || (s == Tune) == (instance%2 == 0) }

// Of returns the cells of spans that are in the half.
func (s Split) Of(spans []Span) (out []Span) {
	for _, span := range spans {
		span.Split = s
		if span.From < span.To && (span.From+1 < span.To || s.Holds(span.From)) {
			out = append(out, span)
		}
	}
	return out
}

// interval is a range of whole numbers as the value of a parameter.
var interval = regexp.MustCompile(`^(.*?\?(?:.*&)?[^&=]+=)([0-9]+)\.\.([0-9]+)((?:&.*)?)$`)

// maxExpanded is the largest number of algorithms that the ranges of one algorithm may make.
const maxExpanded = 1000

// Expand replaces an algorithm with a range, such as "lns?iterations=1..5", by one algorithm for each number.
func Expand(algorithms []string) (out []string, err error) {
	for _, text := range algorithms {
		parts := interval.FindStringSubmatch(text)
		if parts == nil {
			out = append(out, text)
			continue
		}
		from, bad := strconv.Atoi(parts[2])
		to, wrong := strconv.Atoi(parts[3])
		if bad != nil || wrong != nil || from > to || to-from >= maxExpanded {
			return nil, fmt.Errorf("algorithm %q: the range %s..%s must ascend, to at most %d numbers", text, parts[2],
				parts[3], maxExpanded)
		}
		for v := from; v <= to; v++ {
			others, err := Expand([]string{parts[1] + strconv.Itoa(v) + parts[4]})
			if err != nil {
				return nil, err
			}
			out = append(out, others...)
			if len(out) > maxExpanded {
				return nil, fmt.Errorf("algorithm %q: its ranges make more than %d algorithms", text, maxExpanded)
			}
		}
	}
	return out, nil
}
