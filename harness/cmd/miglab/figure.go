package main

import (
	"io"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/reports"
)

// A figureFile is a file for a figure.
type figureFile struct{ cli.File }

// registerTimeline adds the flag for a chart of a subject, such as the schedule, over time.
func (f *figureFile) registerTimeline(c *cobra.Command, subject string) {
	f.Register(c, "timeline", "file to draw "+subject+" over time in: slices in use, what waits, and late jobs, "+
		".svg, .png or .pdf", reports.FigureFormats...)
}

// draw writes a figure.
func (f *figureFile) draw(c *cobra.Command, figure reports.Figure) error {
	return f.Emit(c, func(w io.Writer) error { return reports.Encode(w, f.Format, figure) })
}
