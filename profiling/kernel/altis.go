package kernel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// altisHeader are the columns of the CSV that Altis's ResultDatabase writes. A space
// follows every comma, fields hold no spaces, and each line ends with a comma. Fields are
// not quoted, and atts may hold commas.
var altisHeader = []string{"test", "atts", "units", "median", "mean", "stddev", "min", "max"}

// altisUnits are Altis's units of time, in seconds.
var altisUnits = map[string]mig.Seconds{"sec": 1, "seconds": 1, "s": 1, "ms": 1e-3, "us": 1e-6}

// altisTime returns the median over the passes of a test. [TimeSource] says how row names
// the test.
func altisTime(csv, row string) (mig.Seconds, error) {
	lines := strings.Split(strings.TrimSpace(csv), "\n")
	if header, _ := altisFields(lines[0]); !slices.Equal(header, altisHeader) {
		return 0, fmt.Errorf("the CSV begins with %q instead of the header %s", lineAt(lines[0], 0),
			strings.Join(altisHeader, ", "))
	}
	var found []string
	var names []string
	for _, line := range lines[1:] {
		fields, ok := altisFields(line)
		if !ok {
			continue // empty
		}
		if test, atts := fields[0], fields[1]; row == test || row == test+", "+atts {
			found = fields
			names = append(names, test+", "+atts)
		}
	}
	switch {
	case len(names) == 0:
		return 0, fmt.Errorf("the CSV has no row %q", row)
	case len(names) > 1:
		return 0, fmt.Errorf("the CSV has %d rows %q; name one with its attributes, for example %q", len(names),
			row, names[0])
	}
	unit, known := altisUnits[found[2]]
	if !known {
		return 0, fmt.Errorf("the CSV's row %q is in %s, which is not a unit of time", row, found[2])
	}
	v, err := parseNumber(found[3])
	return v * unit, err
}

// altisFields splits a line of the CSV. ok is false if it has too few fields.
func altisFields(line string) (fields []string, ok bool) {
	parts := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), ","), ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	behind := len(parts) - (len(altisHeader) - 2) // where units begin
	if behind < 2 {
		return nil, false
	}
	return append([]string{parts[0], strings.Join(parts[1:behind], ",")}, parts[behind:]...), true
}

func parseNumber(s string) (mig.Seconds, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return mig.Seconds(v), nil
}
