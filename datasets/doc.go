// Package datasets generates and reads the work that experiments schedule: synthetic batches of tasks (FAR 6.3, DRL
// 5.1), measured kernels, streams of requests for MIG profiles (MFI VI), days of jobs with deadlines (deadline report
// 2.4), windows of programs that share a GPU (hierarchical paper V-A2), and files of each of these kinds.
//
// A dataset is named by a spec such as
//
//	far/MIXEDSCALING+WIDETIMES?n=10&psup=50
//	drl/WIDETIMES?total=100&part=8
//	drl/WIDETIMES?total=100&part=1&gen=released&order=classes
//	drl/GOODSCALING?gen=released-train&start=busy
//	rodinia?order=shuffled
//	profile:tasks.csv
//	deadline/report?deadlines=tight
//	mfi/skew-small?lifespan=steady&rho=0.85
//	requests:trace.csv?gpus=20
//	corun/ci-dominant?w=8&cmax=3
//
// which [Parse] reads. The part before the question mark names a [Family]. A family is one file, which registers the
// family with [Register] and declares its parameters; the parser, the canonical ID, the listing and the completion
// follow from that declaration. Parse refuses unknown names and impossible values.
//
// An instance of a dataset is the work of one cell of an experiment. It depends only on the spec, the geometry of the
// GPU, the index of the instance and the contents of a file. The seed of every batch's random stream is a hash of its
// name, so that more instances or longer streams never change another instance.
//
// For training, [Sampler] returns a function that draws batches of a synthetic workload, and [DaySampler] returns one
// that draws days of jobs, both from the caller's random streams.
//
// Measured times are embedded. manifest.json lists published times with their hashes and sources. The
// parameters of the co-run model are not measured: they are fitted on measured times or drawn. [ReadHardware] reads
// what this program measured on GPUs.
//
// Sources: FAR and DRL as in package mig; MFI = Zambianco et al., "An Online Fragmentation-Aware GPU Scheduler for
// Multi-Tenant MIG-based Clouds"; hierarchical paper = "Hierarchical Resource Partitioning on Modern GPUs: A
// Reinforcement Learning Approach", CLUSTER 2023.
package datasets
