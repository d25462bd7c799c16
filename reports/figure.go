package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"miglab/harness/atomicfile"
	"miglab/harness/nearest"
)

// A Figure is something that can be drawn; the package comment lists the kinds.
type Figure interface {
	// page checks the input and settles the size.
	page() (page, error)
}

// page is a figure ready to be drawn on a canvas of its size.
type page struct {
	width, height vg.Length
	draw          func(draw.Canvas) layout
}

// frame returns the page of a drawing with its title above it and its legend below. data draws
// everything below the title and says where it is.
func frame(title string, width, body vg.Length, l legend, data func(draw.Canvas) layout) page {
	high := headingHeight(title, width) + body + l.height(width) + 2*margin
	return page{width + 2*margin, high, func(c draw.Canvas) layout {
		out := data(heading(c, title))
		out.legend = append(out.legend, l.draw(c)...)
		return out
	}}
}

// layout says where a drawing put its data and its legends.
type layout struct {
	data, legend []vg.Rectangle
}

// refuse returns the error about a part of a figure, such as a series or an axis; "" is the whole figure.
func refuse(figure, part, format string, args ...any) error {
	where := "figure"
	if figure != "" {
		where += fmt.Sprintf(" %q", figure)
	}
	if part != "" {
		where += ", " + part
	}
	return fmt.Errorf("%s: "+format, append([]any{where}, args...)...)
}

// FigureFormats lists the formats of [Encode]. PNG is not one: its pixels depend on the processor that draws them.
var FigureFormats = []string{"svg", "pdf"}

var encoders = map[string]func(io.Writer, page) error{"svg": encodeSVG, "pdf": encodePDF}

// Encode writes a figure in one of [FigureFormats]. The error is a [*nearest.UnknownError]
// for another format, says why the figure cannot be drawn, or is an error of w.
func Encode(w io.Writer, format string, f Figure) error {
	encode, ok := encoders[format]
	if !ok {
		return nearest.Unknown("format", format, FigureFormats)
	}
	p, err := f.page()
	if err != nil {
		return err
	}
	return encode(w, p)
}

// SaveFigure writes a figure as base.FORMAT in each of [FigureFormats], each file replaced as a whole. It returns the
// errors of [Encode] and of the file system.
func SaveFigure(base string, f Figure) error {
	p, err := f.page()
	if err != nil {
		return err
	}
	for _, format := range FigureFormats {
		write := func(w io.Writer) error { return encoders[format](w, p) }
		if err := atomicfile.WriteFile(base+"."+format, write); err != nil {
			return err
		}
	}
	return nil
}

func encodeSVG(w io.Writer, p page) error {
	c := &svgCanvas{Canvas: vgsvg.New(p.width, p.height)}
	p.draw(blank(c, p))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// Text is placed by the widths of Liberation Sans, which Arial and Helvetica
	// share; without them named, a reader's browser would fall back to a serif.
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err := w.Write(c.fitTexts(svg))
	return err
}

// An svgCanvas notes the widths of the texts that it writes.
type svgCanvas struct {
	*vgsvg.Canvas
	widths []vg.Length
}

func (c *svgCanvas) FillString(face font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, face.Width(text))
	c.Canvas.FillString(face, at, text)
}

// fitTexts gives every text the width by which it was placed, spaces included, so that it fits in any font.
func (c *svgCanvas) fitTexts(svg []byte) []byte {
	const element = "<text "
	parts := bytes.Split(svg, []byte(element))
	out := parts[0]
	for i, rest := range parts[1:] {
		out = append(out, element...)
		if width := c.widths[i].Points(); width > 0 {
			out = fmt.Appendf(out, `xml:space="preserve" textLength="%.4g" lengthAdjust="spacingAndGlyphs" `, width)
		}
		out = append(out, rest...)
	}
	return out
}

// blank returns the canvas painted white, without the margin.
func blank(c vg.Canvas, p page) draw.Canvas {
	out := draw.NewCanvas(c, p.width, p.height)
	out.SetColor(color.White)
	out.Fill(out.Rectangle.Path())
	return draw.Crop(out, margin, -margin, margin, -margin)
}
