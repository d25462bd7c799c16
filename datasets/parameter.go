package datasets

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
)

// ParameterError says that a parameter has no possible value.
type ParameterError struct {
	// Name is the parameter.
	Name string
	// Value is what was given; empty where nothing was.
	Value string
	// Want says what would be right.
	Want string
}

func (e *ParameterError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("parameter %q has no value; give %s", e.Name, e.Want)
	}
	return fmt.Sprintf("parameter %q cannot be %q; give %s", e.Name, e.Value, e.Want)
}

// A parameter is one that a dataset knows.
type parameter struct {
	name string
	// set takes the value and returns an error about it.
	set func(value string) error
}

// setParameters hands each name=value to its parameter.
func setParameters(pairs []string, known []parameter) error {
	given := map[string]bool{}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(known, func(p parameter) bool { return p.name == name })
		if i < 0 {
			var names []string
			for _, p := range known {
				names = append(names, p.name)
			}
			return nearest.Unknown("parameter", name, names)
		}
		if given[name] {
			return &ParameterError{name, value, "the parameter once"}
		}
		given[name] = true
		if err := known[i].set(value); err != nil {
			return err
		}
	}
	return nil
}

// count is a parameter that takes a whole number from low to high.
func count(name string, to *int, low, high int) parameter {
	return parameter{name, func(value string) error {
		v, err := strconv.Atoi(value)
		if err != nil || v < low || v > high {
			return &ParameterError{name, value, fmt.Sprintf("a whole number from %d to %d", low, high)}
		}
		*to = v
		return nil
	}}
}

// seed is the parameter that chooses among equally good random instances.
func seed(to *uint64) parameter {
	return parameter{"seed", func(value string) error {
		v, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return &ParameterError{"seed", value, "a whole number from 0 to 2^64-1"}
		}
		*to = v
		return nil
	}}
}

// probability is a parameter that takes a number from 0 to 1.
func probability(name string, to *float64) parameter {
	return parameter{name, func(value string) error {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return &ParameterError{name, value, "a probability from 0 to 1"}
		}
		*to = v + 0 // -0 becomes 0, which is written differently
		return nil
	}}
}
