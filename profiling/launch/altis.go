package launch

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// altisHeader begins the CSV that Altis's ResultDatabase writes. Each line ends with a comma. Fields are not quoted,
// and atts may hold commas. Altis writes a space after every comma; spaces do not matter here.
const altisHeader = "test, atts, units, median, mean, stddev, min, max"

// altisUnits are Altis's units of time, in seconds.
var altisUnits = map[string]mig.Seconds{"sec": 1, "seconds": 1, "s": 1, "ms": 1e-3, "us": 1e-6}

// altisTime returns the median over the passes of a test. [TimeSource] says how row names the test.
func altisTime(csv, row string) (mig.Seconds, error) {
	csv = strings.TrimSpace(csv)
	unspaced := strings.NewReplacer(" ", "", "\t", "")
	header := lineAt(csv, 0)
	if strings.TrimSuffix(unspaced.Replace(header), ",") != unspaced.Replace(altisHeader) {
		return 0, fmt.Errorf("the CSV begins with %q instead of the header %s", header, altisHeader)
	}
	var found [][]string
	for line := range strings.Lines(csv) {
		// The groups are test, atts, units and median; mean, stddev, min and max follow.
		m := altisRow.FindStringSubmatch(line)
		if m != nil && (row == m[1] || row == m[1]+", "+m[2]) {
			found = append(found, m)
		}
	}
	if len(found) == 0 {
		return 0, fmt.Errorf("the CSV has no row %q", row)
	}
	m := found[0]
	if len(found) > 1 {
		return 0, fmt.Errorf("the CSV has %d rows %q; name one with its attributes, for example %q", len(found), row,
			m[1]+", "+m[2])
	}
	unit, known := altisUnits[m[3]]
	if !known {
		return 0, fmt.Errorf("the CSV's row %q is in %s, which is not a unit of time", row, m[3])
	}
	v, err := parseNumber(m[4])
	return v * unit, err
}

var altisRow = regexp.MustCompile(
	`^\s*([^,]*?)\s*,\s*(.*?)\s*,\s*([^,\s]+)\s*,\s*([^,\s]+)(?:\s*,\s*[^,\s]+){4}\s*,?\s*$`)

func parseNumber(s string) (mig.Seconds, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return mig.Seconds(v), nil
}
