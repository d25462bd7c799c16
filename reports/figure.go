package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"miglab/harness/atomicfile"
)

// A Figure is something that can be drawn. The kinds are [Lines], [Bars],
// [Scatter], [Panels], [Gantt], [Partitions], [Divisions], [Masks] and [Tree].
type Figure interface {
	// page checks the input and settles the size. The error is an [*InputError].
	page() (page, error)
}

// page is a figure ready to be drawn on a canvas of its size.
type page struct {
	width, height vg.Length
	draw          func(draw.Canvas) layout
}

// framed is the page of a drawing with its title above it and its legend below. data draws
// everything below the title and returns the places of the data.
func framed(title string, width, body vg.Length, l legend, data func(draw.Canvas) []vg.Rectangle) page {
	high := headingHeight(title, width) + body + l.height(width) + 2*margin
	return page{width + 2*margin, high, func(c draw.Canvas) layout {
		legends := l.draw(c)
		return layout{data: data(heading(c, title)), legend: legends}
	}}
}

// layout says where a drawing put its data and its legends.
type layout struct {
	data, legend []vg.Rectangle
}

// InputError says why a figure cannot be drawn from what it was given.
type InputError struct {
	// Figure is the figure's title.
	Figure string
	// Part is the series, group, panel or axis at fault; "" for the whole.
	Part   string
	Reason string
}

func (e *InputError) Error() string {
	s := "figure"
	if e.Figure != "" {
		s += fmt.Sprintf(" %q", e.Figure)
	}
	if e.Part != "" {
		s += ", " + e.Part
	}
	return s + ": " + e.Reason
}

// refuse returns the error about a part of a figure.
func refuse(figure, part, format string, args ...any) error {
	return &InputError{figure, part, fmt.Sprintf(format, args...)}
}

// FormatError names a format that does not exist.
type FormatError struct {
	Format string
	// Known lists the formats that do.
	Known []string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("there is no format %q; use one of %s", e.Format, strings.Join(e.Known, ", "))
}

// FigureFormats lists the formats of [Encode].
var FigureFormats = []string{"svg", "png"}

// pngDPI gives 1400 pixels across a page of [PageWidth].
const pngDPI = 200

// maxPixels bounds PNG images: a pixel takes 4 bytes of memory and its share of seconds.
const maxPixels = 25_000_000

// Encode writes a figure in one of [FigureFormats]. The error is a [*FormatError]
// for another one, an [*InputError] for a figure that cannot be drawn, or the
// writer's.
func Encode(w io.Writer, format string, f Figure) error {
	encode, ok := map[string]func(io.Writer, page) error{"svg": encodeSVG, "png": encodePNG}[format]
	if !ok {
		return &FormatError{format, FigureFormats}
	}
	p, err := f.page()
	if err != nil {
		return err
	}
	return encode(w, p)
}

// SaveFigure writes base.svg and base.png, each replaced as a whole. Errors are
// those of [Encode], or the file system's.
func SaveFigure(base string, f Figure) error {
	for _, format := range FigureFormats {
		err := atomicfile.WriteFile(base+"."+format, func(w io.Writer) error { return Encode(w, format, f) })
		if err != nil {
			return err
		}
	}
	return nil
}

func encodeSVG(w io.Writer, p page) error {
	c := vgsvg.New(p.width, p.height)
	p.draw(blank(c, p))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// Text is placed by the widths of Liberation Sans, which Arial and Helvetica
	// share; without them named, a reader's browser would fall back to a serif.
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err := w.Write(svg)
	return err
}

func encodePNG(w io.Writer, p page) error {
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(pngDPI))}
	p.draw(blank(c, p))
	_, err := c.WriteTo(w)
	return err
}

// blank returns the canvas painted white, without the margin.
func blank(c vg.Canvas, p page) draw.Canvas {
	out := draw.NewCanvas(c, p.width, p.height)
	out.SetColor(color.White)
	out.Fill(out.Rectangle.Path())
	return draw.Crop(out, margin, -margin, margin, -margin)
}
