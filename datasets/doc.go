// Package datasets gives the tasks that experiments schedule: synthetic batches
// (FAR 6.3, DRL 5.1), measured kernels, and tasks files; and the streams of
// requests for MIG profiles that clusters serve (MFI VI); and the windows of programs that
// share a GPU (hierarchical paper V-A2), with the parameters of the co-run model, which are
// fitted on measured times or drawn, never measured.
//
// A dataset is named by a spec such as
//
//	far/MIXEDSCALING+WIDETIMES?n=10&psup=50
//	drl/WIDETIMES?total=100&part=8
//	rodinia?order=shuffled
//	profile:tasks.csv
//	mfi/skew-small?lifespan=steady&rho=0.85
//	requests:trace.csv?gpus=20
//	corun/ci-dominant?w=8&cmax=3
//
// which [Parse] reads. An instance of a dataset is the tasks of one cell of an
// experiment. It depends on the spec, the geometry of the GPU and the index of
// the instance, and on nothing else: the random stream of every batch is seeded
// from what names that batch, so that more instances or longer streams never
// shift another instance.
//
// For training, a [Sampler] draws batches of the synthetic workloads, and a
// [DaySampler] days of jobs, from streams that are handed in.
//
// Measured times are embedded: published ones with their hashes and sources in
// manifest.json, and what this program measured on GPUs in hardware, whose kernels
// are the datasets hardware/NAME. The package measures nothing and schedules nothing.
//
// Sources: FAR = Villarrubia et al., "Leveraging Multi-Instance GPUs through
// moldable task scheduling", JPDC 204 (2025) 105128; DRL = Villarrubia et al.,
// "Solving the task scheduling and GPU reconfiguration problem on MIG devices
// via deep reinforcement learning", FGCS (2025) 108145; MFI = Zambianco et al., "An
// Online Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds"; hierarchical
// paper = "Hierarchical Resource Partitioning on Modern GPUs: A Reinforcement Learning
// Approach", CLUSTER 2023.
package datasets
