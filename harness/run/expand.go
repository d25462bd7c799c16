package run

import (
	"fmt"
	"regexp"
	"strconv"
)

// interval matches an algorithm with a range of whole numbers as the value of a parameter. Its groups are the text
// before the range, both ends, and the text after it.
var interval = regexp.MustCompile(`^(.*?\?(?:.*&)?[^&=]+=)([0-9]+)\.\.([0-9]+)((?:&.*)?)$`)

// maxExpanded is the largest number of algorithms that the ranges of one algorithm may make.
const maxExpanded = 1000

// Expand replaces an algorithm with a range, such as "lns?iterations=1..5", by one algorithm for each number.
func Expand(algorithms []string) (out []string, err error) {
	for _, text := range algorithms {
		before := len(out)
		parts := interval.FindStringSubmatch(text)
		if parts == nil {
			out = append(out, text)
			continue
		}
		from, errFrom := strconv.Atoi(parts[2])
		to, errTo := strconv.Atoi(parts[3])
		if errFrom != nil || errTo != nil || from > to || to-from >= maxExpanded {
			return nil, fmt.Errorf("algorithm %q: the range %s..%s must ascend, to at most %d numbers", text, parts[2],
				parts[3], maxExpanded)
		}
		for v := from; v <= to; v++ {
			others, err := Expand([]string{parts[1] + strconv.Itoa(v) + parts[4]})
			if err != nil {
				return nil, err
			}
			out = append(out, others...)
			if len(out)-before > maxExpanded {
				return nil, fmt.Errorf("algorithm %q: its ranges make more than %d algorithms", text, maxExpanded)
			}
		}
	}
	return out, nil
}
