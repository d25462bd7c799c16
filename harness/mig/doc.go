// Package mig models the GPUs that NVIDIA Multi-Instance GPU (MIG) can divide:
// their profiles and placements, the partitions those allow, which partitions
// are the same under renaming of slices, what creating and destroying an
// instance costs, and the order in which a scheduler may split instances.
//
// One placement table per geometry (models.go) is the single source of truth.
// Partitions, instance conflicts, the repartitioning tree and the equivalence
// classes are derived from it and never typed in.
//
// Positions are memory slices, as NVIDIA's placements are: the 7-slice models
// have eight of them (0-7) and A30 four. An instance is in conflict with another
// exactly when their memory slices intersect. That is why 3 slices at 0, which
// takes memory slices 0-3, leaves compute slice 3 idle.
//
// The package is the ground floor: it imports nothing but the standard library and
// the package that words errors about unknown names.
//
// Sources: FAR = Villarrubia et al., "Leveraging Multi-Instance GPUs through
// moldable task scheduling", JPDC 204 (2025) 105128; DRL = Villarrubia et al.,
// "Solving the task scheduling and GPU reconfiguration problem on MIG devices
// via deep reinforcement learning", FGCS (2025) 108145; NVIDIA's MIG user guide.
package mig
