package store

import "cmp"

// compareCells orders cells as people would: byte by byte, but whole numbers by
// their value, so that instance 9 comes before instance 10. Digits after a point
// are a fraction and compare from the left.
func compareCells(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	start := i
	for start > 0 && isDigit(a[start-1]) {
		start--
	}
	endA, endB := digitsEnd(a, i), digitsEnd(b, i)
	// Both have a whole number here if digits begin at start on both sides.
	if start < endA && start < endB && (start == 0 || a[start-1] != '.') {
		if c := compareNumbers(a[start:endA], b[start:endB]); c != 0 {
			return c
		}
	}
	return cmp.Compare(a[i:], b[i:])
}

func compareNumbers(a, b string) int {
	for len(a) > 0 && a[0] == '0' {
		a = a[1:]
	}
	for len(b) > 0 && b[0] == '0' {
		b = b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func digitsEnd(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}
