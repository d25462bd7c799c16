// Package algo connects algorithms with the harness. It has one small interface for
// each track, and the registry to which each algorithm adds itself.
//
// An algorithm is registered by a declaration such as
//
//	var _ = algo.Register(algo.Spec{Name: "mine", Version: 1, New: algo.NewBatch(newMine), ...})
//
// Every command then finds it by name. An algorithm reads no clock, no file and no global
// randomness: the same problem and parameters give the same answer. Register panics on a name
// that is taken; Parse refuses unknown names and parameters with an error.
package algo
