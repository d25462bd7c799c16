// Package stats summarises measurements and compares algorithms: a mean with its confidence interval, order
// statistics, differences between paired measurements, and tests on them.
//
// Values are assumed to be independent draws of one distribution. [Summarize] computes Student's t intervals, which
// are exact for normal values and good for means of many others. [Bootstrap] assumes no distribution but needs more
// values. [Wilcoxon] (with [Holm] for several tests) compares algorithms on the same instances by ranks. The doc
// comments name the textbook and say when a number is doubtful. Values that would make a number
// meaningless, such as NaN, are an error.
package stats
