package mig

// The ways to confine a kernel to a part of a GPU, as files of measurements write them.
const (
	SourceMIG = "mig" // a MIG instance: it has its own multiprocessors, L2, memory and bandwidth
	// SourcePartition is a green context of CUDA, with multiprocessors of its own. It has the whole memory, cache and
	// bandwidth of the GPU, and is never taken for MIG.
	SourcePartition = "sm-partition"
)
