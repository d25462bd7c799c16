package measure

var (
	Cases        = cases
	Describe     = describe
	First        = firstInstance
	Reconfigured = partitions
	SetOverlaps  = setOverlaps
)

// HeadStart is that of kernels beside the measured one.
const HeadStart = headStart
