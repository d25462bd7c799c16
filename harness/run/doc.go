// Package run computes results: it looks up which cells the store already has, computes the others
// in parallel, and stores their results.
//
// A cell is one algorithm on one instance of a dataset under fixed conditions. [Resolve] looks up the
// names of a [store.Series], which makes a [Trial]; a [Span] is some of its instances.
//
// A result is reused until the algorithm's version or weights, the dataset's first instance, or the
// GPU's geometry or costs change. Workers and shards do not change a result: each instance has its own
// random stream, algorithms read no clock, and each call gets a new algorithm and its own copy of the
// tasks. An export has the same bytes for any number of workers or shards, and after an interruption.
//
// An algorithm with [algo.Spec.Together] solves several instances in one call, with the same results. Each instance's
// time is then an equal share of the call's. If the call fails, each instance is solved alone.
//
// The referee checks every schedule before it is measured. If the algorithm breaks the rules, refuses the problem,
// fails or panics, the cell has an error row instead of metrics. [Span.Values] refuses to average over such a cell.
package run
