// Package placement holds the schedulers of the placement track: which GPU, and which
// memory slices of it, each requested MIG profile gets (MFI IV).
//
// A rule that only depends on the mask of a GPU's occupied memory slices ranks all masks once. A decision then looks up
// the best mask that occurs, in as many steps for 100 as for 1,000,000 GPUs. Of several GPUs with the best rank it
// takes the lowest index, as a scan in the papers would do. Schedulers that look at every GPU say so.
//
// Sources: MFI = Zambianco et al., "An Online Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds"; FGD
// = Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
// USENIX ATC 2023; Turkkan et al., "Optimal Workload Placement on Multi-Instance GPUs", and "An Online
// Fragmentation-Aware Scheduler for Managing GPU-Sharing Workloads on MIG", arXiv 2512.16099; HAMi, of the CNCF.
package placement
