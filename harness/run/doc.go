// Package run computes results: it looks up which cells the store already has, computes the others
// in parallel, and stores what they give.
//
// A cell is one algorithm on one instance of a dataset under fixed conditions. [Resolve] looks up the
// names of a [store.Series], which makes a [Trial]; a [Span] is some of its instances. A cell's
// result is found again whoever computed it, and is computed again when the algorithm's
// version, the dataset's first instance or the GPU's geometry and costs change. It
// depends on nothing else: instances are generated from streams of their own, algorithms
// read no clock, and each call gets a new algorithm and its own copy of the tasks. One
// worker or many, one process or several shards, at once or after an interruption: an
// export of the results has the same bytes.
//
// An algorithm with [algo.Spec.Together] solves several instances in one call, with the same
// results. Their times are then equal shares of the call's. If the call fails, each is solved
// alone.
//
// The referee checks every schedule before anything is measured. A cell whose
// algorithm breaks the rules, declines, fails or panics has an error row instead of
// metrics, and averaging over it is an error.
package run
