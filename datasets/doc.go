// Package datasets gives what experiments schedule: synthetic batches of tasks (FAR 6.3, DRL
// 5.1), measured kernels, streams of requests for MIG profiles (MFI VI), days of jobs with
// deadlines (deadline report 2.4), windows of programs that share a GPU (hierarchical paper
// V-A2), and files of each of these kinds.
//
// A dataset is named by a spec such as
//
//	far/MIXEDSCALING+WIDETIMES?n=10&psup=50
//	drl/WIDETIMES?total=100&part=8
//	drl/WIDETIMES?total=100&part=1&gen=released&order=classes
//	drl/GOODSCALING?gen=released-train&start=busy
//	rodinia?order=shuffled&noise=0.2
//	profile:tasks.csv
//	deadline/report?deadlines=tight
//	mfi/skew-small?lifespan=steady&rho=0.85
//	requests:trace.csv?gpus=20
//	corun/ci-dominant?w=8&cmax=3
//
// which [Parse] reads. The name is that of a [Family]. A family lives in one file, which
// registers it with [Register] and declares its parameters; the parser, the canonical ID, the
// listing and the completion follow from that declaration.
//
// An instance of a dataset is what one cell of an experiment schedules. It depends on the spec,
// the geometry of the GPU and the index of the instance, and on nothing else: the random stream
// of every batch is seeded from what names that batch, so that more instances or longer streams
// never shift another instance.
//
// For training, a [Sampler] draws batches of the synthetic workloads and a [DaySampler] days of
// jobs from the caller's random streams.
//
// Measured times are embedded: published ones with their hashes and sources in manifest.json,
// and what this program measured on GPUs in the folder hardware, the kernels of which are the
// datasets hardware/NAME. The parameters of the co-run model are fitted on measured times or
// drawn, never measured. The package measures nothing and schedules nothing.
//
// Sources: FAR and DRL are those of package mig; MFI = Zambianco et al., "An
// Online Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds"; hierarchical
// paper = "Hierarchical Resource Partitioning on Modern GPUs: A Reinforcement Learning
// Approach", CLUSTER 2023.
package datasets
