package measure

var (
	Cases        = cases
	Describe     = describe
	First        = first
	Reconfigured = reconfigured
)

// HeadStart is that of kernels beside the measured one.
const HeadStart = headStart

// WriteRuns returns a file of runs.
func WriteRuns(runs []Run) []byte {
	out := []byte(runsHeader)
	for i := range runs {
		out = append(out, runs[i].line()...)
	}
	return out
}
