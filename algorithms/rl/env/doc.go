// Package env holds the environments in which agents learn to schedule: the batch MDP of the DRL paper, our own
// formulation, the queue of the deadline report, and the windows of the hierarchical paper. Each one steps without
// allocating, masks the actions that are not allowed, and returns its decisions in a form that the referee can check.
//
// An environment draws its episodes from the random stream that it is given: the same
// seed gives the same episodes, whatever else runs.
//
// Sources: DRL = Villarrubia et al., "Solving the task scheduling and GPU reconfiguration problem on MIG devices via
// deep reinforcement learning", FGCS (2025) 108145; deadline report = "Reinforcement Learning for GPU Scheduling with
// MIG Partitioning", technical report, December 2025.
package env
