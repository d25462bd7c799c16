package measure

var (
	Cases        = cases
	Describe     = describe
	First        = firstOf
	Reconfigured = reconfigured
)

// HeadStart is that of kernels beside the measured one.
const HeadStart = headStart
