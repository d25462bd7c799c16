// Package counters collects the twelve hardware counters by which the hierarchical
// paper describes programs (Table III), through NVIDIA's Nsight Compute, and sorts
// programs into the paper's classes (V-A2): compute intensive, memory intensive and
// unscalable.
//
// The paper profiles solo runs and does not say how it makes one value of a program's
// many kernel launches. Here (our choice) what has an extent is summed over the
// launches: duration, elapsed cycles and SM active cycles. Everything else is the mean
// over the launches weighted by their durations, which for a share of the peak over
// time is that of all launches together. So is the mean that a counter has where some
// launches lack it: over those that have it. A sum that lacks a launch is not a sum
// and is not available.
//
// Nsight Compute runs every launch several times, one after the other and with the
// caches emptied in between; the durations are those of single launches and not of
// the program, and are never to be taken for it. Clocks are left alone
// (--clock-control none). Reading counters needs a permission that most systems give
// to administrators only, and Nsight Compute does not support clients of MPS.
//
// Source: Saroliya et al., "Hierarchical Resource Partitioning on Modern GPUs: A
// Reinforcement Learning Approach", CLUSTER 2023 (arXiv 2405.08754).
package counters
