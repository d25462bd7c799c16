// Package mig models the GPUs that NVIDIA Multi-Instance GPU (MIG) can divide: their profiles and placements, the
// possible partitions, which partitions are the same under renaming of slices, how long it takes to create and
// destroy an instance, and the order in which a scheduler may split instances.
//
// The models are in models.json. Partitions, conflicts between instances, the repartitioning tree and
// the equivalence classes are derived from their profiles. A [Catalog] also has the models that a command has read. It
// refuses a model that the schedulers, simulators and bounds cannot handle.
//
// Positions are memory slices, as in NVIDIA's placements. The 7-slice models have eight
// (0-7), A30 has four. Two instances conflict if they share a memory slice, or if
// they have a profile that a GPU can hold only once, such as 1g.5gb+me. On the 7-slice models an instance of 3 slices
// that starts at 0 takes memory slices 0-3, and so it leaves compute slice 3 idle.
//
// Sources: FAR = Villarrubia et al., "Leveraging Multi-Instance GPUs through moldable task scheduling", JPDC 204 (2025)
// 105128; DRL = Villarrubia et al., "Solving the task scheduling and GPU reconfiguration problem on MIG devices via
// deep reinforcement learning", FGCS (2025) 108145; NVIDIA's MIG user guide.
package mig
