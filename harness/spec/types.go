package spec

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/nearest"
)

// A Type says which values a parameter takes.
type Type struct {
	Want string // completes "give ...", for example "a whole number from 1 to 100"
	// Read returns the canonical spelling of a value that is not empty. It returns [ErrValue] for a
	// value that does not match Want. Other errors are shown unchanged.
	Read func(value string) (string, error)
}

// ErrValue is the error of [Type.Read] for a value that does not match [Type.Want].
var ErrValue = errors.New("impossible value")

// Whole returns the type of whole numbers from low to high.
func Whole(low, high int) Type {
	return Type{fmt.Sprintf("a whole number from %d to %d", low, high), func(value string) (string, error) {
		v, err := strconv.Atoi(value)
		if err != nil || v < low || v > high {
			return "", ErrValue
		}
		return strconv.Itoa(v), nil
	}}
}

// Seed is the type of seeds of random streams.
var Seed = Type{"a whole number from 0 to 2^64-1", func(value string) (string, error) {
	v, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return "", ErrValue
	}
	return strconv.FormatUint(v, 10), nil
}}

// Number returns the type of numbers from low to high.
func Number(low, high float64) Type {
	return Type{fmt.Sprintf("a number from %v to %v", low, high), func(value string) (string, error) {
		v, err := number(value, low, high)
		return FormatFloat(v), err
	}}
}

// Numbers returns the type of lists of numbers from low to high, joined by dashes.
func Numbers(low, high float64) Type {
	want := fmt.Sprintf("numbers from %s to %s, joined by -", formatPlain(low), formatPlain(high))
	return Type{want, func(value string) (string, error) {
		fields := strings.Split(value, "-")
		for i, field := range fields {
			v, err := number(field, low, high)
			if err != nil {
				return "", err
			}
			fields[i] = formatPlain(v)
		}
		return strings.Join(fields, "-"), nil
	}}
}

// Names returns the type of known names. kind, such as "kernel", describes them in errors. If separator is not empty,
// it joins several names. A name is also accepted if a function in others returns true for it.
func Names(kind, want, separator string, known func() []string, others ...func(name string) bool) Type {
	return Type{want, func(value string) (string, error) {
		given := []string{value}
		if separator != "" {
			given = strings.Split(value, separator)
		}
		for _, name := range given {
			// known comes last, because it may take long to list all names.
			accepts := func(other func(string) bool) bool { return other(name) }
			if slices.ContainsFunc(others, accepts) {
				continue
			}
			all := known()
			if !slices.Contains(all, name) {
				return "", nearest.Unknown(kind, name, all)
			}
		}
		return value, nil
	}}
}

// number reads a number from low to high.
func number(text string, low, high float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= low && v <= high) { // NaN is not in between
		return 0, ErrValue
	}
	return v + 0, nil // turns -0 into 0, since the two are written differently
}

// FormatFloat writes a number as [Number] does.
func FormatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// formatPlain writes a number without an exponent, because the exponent's minus sign would separate numbers in a list.
func formatPlain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Int returns the value of a parameter of type [Whole]; 0 if it has no value or is not declared.
// Like [Args.Uint], [Args.Float] and [Floats] it panics if the parameter is of another type.
func (a Args) Int(name string) int {
	if a[name] == "" {
		return 0
	}
	return Must(strconv.Atoi(a[name]))
}

// Uint returns the value of a parameter of type [Seed]; 0 if it has no value or is not declared.
func (a Args) Uint(name string) uint64 {
	if a[name] == "" {
		return 0
	}
	return Must(strconv.ParseUint(a[name], 10, 64))
}

// Float returns the value of a parameter of type [Number].
func (a Args) Float(name string) float64 { return Must(strconv.ParseFloat(a[name], 64)) }

// Floats returns the numbers of a value of type [Numbers].
func Floats(value string) []float64 {
	var out []float64
	for _, field := range strings.Split(value, "-") {
		out = append(out, Must(strconv.ParseFloat(field, 64)))
	}
	return out
}

// Must returns a value that the program itself asks for. It panics on an error, which is a mistake in the program.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
