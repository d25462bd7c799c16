package figures

// Map returns what f makes of each value.
func Map[V, T any](values []V, f func(V) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// Count returns how many of the values are so.
func Count[V any](values []V, is func(V) bool) (n int) {
	for _, v := range values {
		if is(v) {
			n++
		}
	}
	return n
}
