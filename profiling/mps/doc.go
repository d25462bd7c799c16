// Package mps is a [profiling.Device] for GPUs whose MIG mode may not be changed. Its instances are clients of NVIDIA's
// Multi-Process Service, limited to the number of multiprocessors that the MIG instance of the profile has. The GPU's
// memory is not divided: bandwidth, L2 cache and capacity are not partitioned, and kernels on different instances
// disturb each other. Every measurement therefore has the source mps-sm-limit.
//
// The whole GPU is another [profiling.Device], usually that of package nvml, which tells its identity, processes and
// clocks. The package runs its own MPS control daemon, with its own folder of pipes, which sees only this GPU. A lock
// that dies with the process protects the daemon: [Open] ends a daemon that a killed run left behind, and leaves the
// daemon of a living run alone. The package never changes MIG mode, compute mode, clocks or power.
//
// If CUDA finds no daemon, it runs a client without a limit and without a warning (man nvidia-cuda-mps-control). So
// every Create and every call of Conditions checks that the daemon answers and does not itself limit its clients.
//
// # Multiprocessors
//
// The limit is in percent of the whole GPU. The driver rounds it up to what the hardware can do (NVIDIA, Multi-Process
// Service, on CUDA_MPS_ACTIVE_THREAD_PERCENTAGE). So the package cuts percentages after two decimals: 16 of 132
// multiprocessors are 12.12 %, which rounds up to 16; 12.13 % would give the next step. A client sees its limit as the
// number of multiprocessors of its device.
//
// The driver's library does not tell how many multiprocessors the whole GPU has. The package takes
// the number of the model's whole-GPU profile, except on the A100, where MIG offers 98 of
// 108. For boards that differ from their model, models without published numbers, and GPUs that
// are no model at all, it asks CUDA for the number ([CountSMs]). These have a model of their own, with the sizes of an
// H100 and the same shares of the multiprocessors; its name ends with MPS and the number, as in T4-MPS-40SM.
package mps
