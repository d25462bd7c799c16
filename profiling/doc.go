// Package profiling defines what the harness needs from a real GPU in order to measure kernels on every instance
// size and to execute schedules: [Device] with its values and errors. The folders below hold the rest:
//
//	nvml        a GPU, through NVIDIA's management library (needs cgo)
//	devicetest  a fake GPU for tests that refuses what hardware refuses
//	session     lock, journal and clean-up around a device
//	launch      manifests of benchmark programs, and a single run of a program
//	command     the commands of miglab that need a GPU
//	measure     times by instance size, reconfiguration, isolation, co-runs
//	execute     runs a schedule on a real GPU (FAR Algorithm 3)
//	kernels     the CUDA kernels of the project
//	cuda        the CUDA driver, loaded at run time (needs cgo)
//
// Only the command line and these folders import it.
package profiling
