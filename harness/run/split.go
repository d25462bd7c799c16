package run

// A Split is a half of the instances of every dataset. Parameters are chosen on one half and judged on the other,
// because results on the instances by which parameters were chosen are partly luck. "" means all instances.
type Split string

// Tune has the instances with even numbers and Test has those with odd numbers, so that the halves do not depend on
// the number of instances.
const (
	Tune Split = "tune"
	Test Split = "test"
)

// Holds reports whether an instance is in the half.
func (s Split) Holds(instance int) bool { return s == "" || (s == Tune) == (instance%2 == 0) }

// Of returns the parts of spans that are in the half. It leaves out spans without an instance there.
func (s Split) Of(spans []Span) (out []Span) {
	for _, span := range spans {
		span.Split = s
		last := span.To - 1 // two consecutive instances are one of each half
		if span.From < last || span.From == last && s.Holds(last) {
			out = append(out, span)
		}
	}
	return out
}
