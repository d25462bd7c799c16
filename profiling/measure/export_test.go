package measure

var (
	Cases        = cases
	Describe     = describe
	First        = first
	Reconfigured = reconfigured
)

// HeadStart is that of kernels beside the measured one.
const HeadStart = headStart
