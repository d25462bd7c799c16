// Package stats summarises measurements: a mean with its confidence interval,
// order statistics, and differences between paired measurements.
//
// Values are taken as independent draws of one distribution. Intervals are
// Student's t, which is exact for normal values and good for means of many others.
// What makes a number doubtful is said in the summary's warnings; what makes it
// meaningless, such as NaN among the values, is an error.
package stats
