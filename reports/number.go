package reports

import (
	"math"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// Missing represents a missing number in a table.
const Missing = "–"

// Fixed formats a number with the given decimals: [Missing] for NaN, inf, -inf, and no minus before a zero.
func Fixed(x float64, decimals int) string {
	switch {
	case math.IsNaN(x):
		return Missing
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// Cells formats numbers with the given decimals, a cell each.
func Cells(decimals int, numbers ...float64) []string {
	return nearest.Names(numbers, func(x float64) string { return Fixed(x, decimals) })
}

// Duration formats seconds for people, with fewer decimals the longer it is: 0.24 s, 33.1 s, 1210 s.
func Duration(d mig.Seconds) string {
	x := math.Abs(float64(d))
	decimals := 0
	switch {
	case x < 10:
		decimals = 2
	case x < 100:
		decimals = 1
	}
	return Fixed(float64(d), decimals) + " s"
}
