// Package placement holds the schedulers of the placement track: which GPU, and which
// memory slices of it, each requested MIG profile gets (MFI IV).
//
// Every scheduler sees a GPU as the mask of its occupied memory slices. So a rule that
// looks at nothing else ranks the masks once and for all, and a decision is a look-up
// of the best mask that occurs, in as many steps for 100 as for 1,000,000 GPUs.
// GPUs of equal rank are taken by lowest index, as a scan in the papers would.
//
// Sources: MFI = Zambianco et al., "An Online Fragmentation-Aware GPU Scheduler for
// Multi-Tenant MIG-based Clouds"; FGD = Weng et al., "Beware of Fragmentation:
// Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent", USENIX ATC
// 2023; HAMi = the scheduler of that name in the CNCF, for its policies' names.
package placement
