// Package env holds the environments in which agents learn to schedule: the batch
// MDP of the DRL paper, a formulation of our own, and the queue of the deadline
// report. Each runs without allocating, masks the actions that are not allowed, and
// emits what it has decided as a schedule that the referee can judge.
//
// An environment draws its episodes from a stream that it is given, so that the
// same seed gives the same episodes whatever else runs.
//
// Sources: DRL = Villarrubia et al., "Solving the task scheduling and GPU
// reconfiguration problem on MIG devices via deep reinforcement learning", FGCS
// (2025) 108145; deadline report = "Reinforcement Learning for GPU Scheduling with
// MIG Partitioning", technical report, December 2025.
package env
