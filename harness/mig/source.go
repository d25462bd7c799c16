package mig

// What confines a kernel to a part of a GPU, as files of measurements write it.
const (
	// SourceMIG is a MIG instance: it has its own multiprocessors, L2, memory and bandwidth.
	SourceMIG = "mig"
	// SourceMPS is a limit on the multiprocessors of a process. SourcePartition is a green context of
	// CUDA, with multiprocessors of its own. Both have the whole memory, cache and bandwidth of the
	// GPU, and are never taken for MIG.
	SourceMPS       = "mps-sm-limit"
	SourcePartition = "sm-partition"
)
