// Package reports turns results into what people read: tables as aligned text,
// CSV, Markdown and LaTeX, and figures as SVG and PNG.
//
// A [Table] holds cells that are already strings; number.go has the formats that
// all tables share. A [Figure] is one of [Lines], [Bars], [Scatter], [Panels],
// [Gantt], [Partitions], [Divisions], [Masks] and [Tree]. All figures have one look (look.go): text
// of at least 9 points at the printed size (7 points inside the rectangles of a Gantt
// chart), colours that colour-blind readers can tell apart, and a legend that is
// never drawn over data.
//
// The same input gives the same bytes. A figure that could not be read, such as
// one with more lines than there are distinguishable colours, is refused with an
// [*InputError] that says how to divide it; nothing is drawn from NaN, from
// infinite values or from series of unequal length.
//
// The package runs nothing and reads nothing: the numbers come from the caller.
package reports
