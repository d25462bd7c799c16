package run

// A Split is a half of the instances of every dataset. Parameters are chosen on one half and judged on the other,
// because results on the instances by which parameters were chosen are partly luck. The zero value is no split: it has
// all instances.
type Split string

// Tune has the instances with even numbers and Test has those with odd numbers, so that the halves do not depend on
// the number of instances.
const (
	Tune Split = "tune"
	Test Split = "test"
)

// Holds reports whether an instance is in the half.
func (s Split) Holds(instance int) bool {
	switch s {
	case Tune:
		return instance%2 == 0
	case Test:
		return instance%2 != 0
	}
	return true
}

// Of restricts spans to the half, and leaves out spans that have no instance in it.
func (s Split) Of(spans []Span) (out []Span) {
	for _, span := range spans {
		span.Split = s
		last := span.To - 1 // of two consecutive instances, one is in each half
		if span.From < last || span.From == last && s.Holds(last) {
			out = append(out, span)
		}
	}
	return out
}
