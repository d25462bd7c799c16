// Package stats summarises measurements and compares algorithms: a mean with its
// confidence interval, order statistics, differences between paired measurements, and
// tests on them.
//
// Values are taken as independent draws of one distribution. The intervals of
// [Summarize] are Student's t, which is exact for normal values and good for means of
// many others; [Bootstrap] assumes no distribution but needs more values. [Wilcoxon]
// (with [Holm] for several tests) and [Friedman] compare algorithms on the same instances
// by ranks. The doc comments say what makes a number doubtful. What makes a number
// meaningless, such as NaN among the values, is an error.
package stats
