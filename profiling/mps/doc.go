// Package mps is a profiling.Device for GPUs whose MIG mode may not be touched. An
// instance of it is no MIG instance but a limit of active threads for a client of
// NVIDIA's Multi-Process Service, at the number of multiprocessors that the MIG
// instance of the profile has. What is measured so is SM-limited scaling on a GPU
// with all its memory: bandwidth, L2 cache and capacity are not partitioned, and
// instances do not shield kernels from each other. Every measurement therefore
// carries the source mps-sm-limit, never mig.
//
// The package needs no cgo. It asks nvidia-smi, and it runs an MPS control daemon of
// its own, with its own folder of pipes, that sees this GPU alone. A lock that dies
// with the process says whose the daemon is: one that a killed run has left behind is
// ended by the next [Open], and that of a run that still lives is left alone. The MIG
// mode, the compute mode, clocks and power are never changed.
//
// CUDA runs a client without any limit, and without a word, where it finds no daemon
// (man nvidia-cuda-mps-control). So the daemon has to answer, and to leave its clients
// all of the GPU, at every Create and every reading of Conditions.
//
// # Multiprocessors
//
// The limit is in percent of the whole GPU. The driver rounds it up to what the
// hardware can do (NVIDIA, Multi-Process Service, on CUDA_MPS_ACTIVE_THREAD_PERCENTAGE),
// so percentages are cut after two decimals: 16 of 132 multiprocessors are 12.12 %,
// which rounds up to 16, where 12.13 % would give the next step. The client can see
// what it got as its device's number of multiprocessors.
//
// nvidia-smi does not tell how many multiprocessors the whole GPU has. It is that of
// the model's whole-GPU profile, but for the A100, of whose 108 MIG offers 98. Boards
// that are known to differ from their model, and models whose profiles have no
// published numbers, are refused.
package mps
