// Package placement holds the schedulers of the placement track: which GPU, and which
// memory slices of it, each requested MIG profile gets (MFI IV).
//
// Every scheduler sees a GPU as the mask of its occupied memory slices. A rule that depends on the mask alone ranks all
// masks once. A decision then looks up the best mask that occurs, in as many steps for 100 as for 1,000,000 GPUs. Of
// several GPUs with the best rank, the lowest index is taken, as a scan in the papers would do.
//
// Sources: MFI = Zambianco et al., "An Online Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds"; FGD
// = Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
// USENIX ATC 2023; Turkkan et al., "Optimal Workload Placement on Multi-Instance GPUs", and "An Online
// Fragmentation-Aware Scheduler for Managing GPU-Sharing Workloads on MIG", arXiv 2512.16099, two of the schedulers
// that move; HAMi = the CNCF scheduler, whose policies two schedulers are modelled on.
package placement
