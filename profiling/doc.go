// Package profiling says what the harness needs of a real GPU, so that kernels can
// be measured on every instance size and schedules executed: [Device] and the
// values and errors that it speaks in. Everything else is in the folders below:
//
//	nvml        a GPU under MIG, through NVIDIA's management library (needs cgo)
//	mps         a GPU whose MIG mode may not be touched: MPS limits the multiprocessors
//	devicetest  a GPU for tests that refuses what hardware refuses
//	session     lock, journal and clean-up around a device
//	kernel      manifests of benchmark kernels, and one run of one of them
//	measure     times over instance sizes, reconfiguration, isolation, co-runs
//	execute     a schedule run for real (FAR Algorithm 3)
//	counters    hardware counters through Nsight Compute
//	kernels     our own CUDA kernels
//
// Nothing but the command line and these folders imports it.
package profiling
