// Package stats summarises measurements and compares algorithms: a mean with its
// confidence interval, order statistics, differences between paired measurements, and
// tests on them.
//
// Values are taken as independent draws of one distribution. The intervals of
// [Summarize] are Student's t, which is exact for normal values and good for means of
// many others; [Bootstrap] asks for no distribution, but for more values. [Wilcoxon],
// with [Holm] where there are several, and [Friedman] compare algorithms on the same
// instances by ranks. What makes a number doubtful is said in the summary's warnings or
// in the doc comment; what makes it meaningless, such as NaN among the values, is an
// error.
package stats
