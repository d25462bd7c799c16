// Package run computes results: it looks up which cells the store already has, computes the others
// in parallel, and stores what they give.
//
// A cell is one algorithm on one instance of a dataset under fixed conditions. [Resolve] looks up the
// names of a [store.Series], which makes a [Trial]; a [Span] is some of its instances.
//
// A result is reused until the algorithm's version or weights, the dataset's first instance, or the
// GPU's geometry or costs change. It depends on nothing else: each instance has a random stream of its
// own, algorithms read no clock, and each call gets a new algorithm and its own copy of the tasks. An
// export has the same bytes for any number of workers or shards, and after an interruption.
//
// An algorithm with [algo.Spec.Together] solves several instances in one call, with the same
// results. Their times are then equal shares of the call's. If the call fails, each is solved
// alone.
//
// The referee checks every schedule before anything is measured. A cell whose
// algorithm breaks the rules, declines, fails or panics has an error row instead of
// metrics, and averaging over it is an error.
package run
