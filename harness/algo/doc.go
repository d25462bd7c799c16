// Package algo is where algorithms and the harness meet: one small interface for
// each track, and the registry in which an algorithm announces itself.
//
// An algorithm lives in one file that ends in
//
//	var _ = algo.Register(algo.Spec{Name: "mine", Version: 1, New: algo.NewBatch(newMine), ...})
//
// and is then known to every command. It reads no clock, no file and no global
// randomness: the same problem and parameters give the same answer.
package algo
