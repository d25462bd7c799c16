package run

import (
	"fmt"
	"regexp"
	"strconv"
)

// A Split is a half of the instances of every dataset. Who chooses parameters on some instances and reports results on
// the same ones reports luck. So they are chosen on one half and judged on the other. "" is all instances.
type Split string

// The halves: instances with even and with odd numbers, so that they are the same however many are run.
const (
	Tune Split = "tune"
	Test Split = "test"
)

// Holds reports whether an instance is in the half.
func (s Split) Holds(instance int) bool { return s == "" || (s == Tune) == (instance%2 == 0) }

// Of returns the cells of spans that are in the half.
func (s Split) Of(spans []Span) (out []Span) {
	for _, span := range spans {
		if span.Split = s; span.From < span.To && (span.From+1 < span.To || s.Holds(span.From)) {
			out = append(out, span)
		}
	}
	return out
}

// interval is a range of whole numbers as the value of a parameter.
var interval = regexp.MustCompile(`^(.*?\?(?:.*&)?[^&=]+=)([0-9]+)\.\.([0-9]+)((?:&.*)?)$`)

// maxExpanded is how many algorithms ranges may make of one.
const maxExpanded = 1000

// Expand replaces algorithms with ranges, such as "lns?iterations=1..5", by one for each number.
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
			if out = append(out, others...); len(out) > maxExpanded {
				return nil, fmt.Errorf("algorithm %q: its ranges make more than %d algorithms", text, maxExpanded)
			}
		}
	}
	return out, nil
}
