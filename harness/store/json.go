package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// appendName appends a metric's name as JSON, always with the same bytes.
func appendName(dst []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			quoted, err := json.Marshal(name)
			if err != nil {
				panic("store: " + err.Error()) // strings always have a JSON form
			}
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), name...), '"')
}

// appendMetrics appends a JSON object without white space. The numbers read back as
// the same float64.
func appendMetrics(dst []byte, metrics Metrics) []byte {
	separator := byte('{')
	for _, m := range metrics {
		dst = appendName(append(dst, separator), m.Name)
		dst = strconv.AppendFloat(append(dst, ':'), m.Value, 'g', -1, 64)
		separator = ','
	}
	return append(dst, '}')
}

// findMetric reads one number of an object that appendMetrics wrote. member is the
// name as appendName writes it, with a colon. SQLite's json_extract is not used: it takes
// twice as long, and may round the last digit another way than strconv does.
func findMetric(object, member string) (v float64, found bool, err error) {
	rest := object
	for {
		i := strings.Index(rest, member)
		if i < 0 {
			return 0, false, nil
		}
		// A quote within a name is escaped, so that a name begins after { or a comma.
		begins := i > 0 && (rest[i-1] == '{' || rest[i-1] == ',')
		rest = rest[i+len(member):]
		if begins {
			break
		}
	}
	end := strings.IndexAny(rest, ",}")
	if end < 0 {
		return 0, false, fmt.Errorf("metrics %q end too early", object)
	}
	v, err = strconv.ParseFloat(rest[:end], 64)
	return v, err == nil, err
}

// parseMetrics reads an object that appendMetrics wrote. names has one copy of each name.
func parseMetrics(object string, names map[string]string) (Metrics, error) {
	bad := func() error { return fmt.Errorf("metrics %q are not as this program writes them", object) }
	out := make(Metrics, 0, strings.Count(object, `":`))
	rest, ok := strings.CutPrefix(object, "{")
	for ok {
		quoted := rest[:nameEnd(rest)]
		rest = rest[len(quoted):]
		end := strings.IndexAny(rest, ",}")
		if len(quoted) == 0 || end < 1 || rest[0] != ':' {
			return nil, bad()
		}
		name, known := names[quoted]
		if !known {
			if err := json.Unmarshal([]byte(quoted), &name); err != nil {
				return nil, bad()
			}
			names[strings.Clone(quoted)] = name
		}
		v, err := strconv.ParseFloat(rest[1:end], 64)
		if err != nil {
			return nil, bad()
		}
		out = append(out, Metric{name, v})
		if rest[end:] == "}" {
			return out, nil
		}
		ok = rest[end] == ','
		rest = rest[end+1:]
	}
	return nil, bad()
}

// nameEnd returns where the JSON string ends that the text begins with; 0 if none does.
func nameEnd(text string) int {
	for i := 1; i < len(text) && text[0] == '"'; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
