// Package reports turns results into what people read: tables as aligned text, CSV, Markdown, LaTeX and JSON, and
// figures as SVG and PDF.
//
// The cells of a [Table] are strings; number.go formats numbers in the same way for all tables. A [Figure] is one of
// [Lines], [Bars], [Panels] and [Timeline], which gonum/plot draws, [Gantt], and diagrams of boxes: [Partitions]
// and [Curve]. All figures look alike (look.go).
// Text has at least 9 points at the printed size, or 7 inside the rectangles of a Gantt chart. Colour-blind readers
// can tell the colours apart. A legend never covers data.
//
// The same input gives the same bytes. The package refuses figures that would be unreadable, such as one with more
// lines than distinguishable colours; the error says how to divide it. It also refuses NaN, infinite values and series
// of unequal length.
//
// The package runs no algorithm and reads no file: the numbers come from the caller.
package reports
