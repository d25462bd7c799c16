package reports

import (
	"image/color"
	"io"
	"math"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// Dates and the order of objects are fixed, so that the same figure gives the same bytes.
func init() {
	fpdf.SetDefaultCreationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultModificationDate(time.Unix(0, 0).UTC())
	fpdf.SetDefaultCatalogSort(true)
}

func encodePDF(w io.Writer, p page) error {
	c := pdfCanvas{vgpdf.New(p.width, p.height)}
	p.draw(blank(c, p))
	_, err := c.WriteTo(w)
	return err
}

// A pdfCanvas draws texts as outlines, because the fonts that vgpdf embeds lack Greek letters, and knows translucent
// colours.
type pdfCanvas struct{ *vgpdf.Canvas }

// SetColor gives vgpdf the components of the colour as they are. vgpdf takes the components of [color.Color], which are
// multiplied by the opacity, for the colour itself, so that translucent bands would be grey.
func (c pdfCanvas) SetColor(to color.Color) {
	c.Canvas.SetColor(unmultiplied(color.NRGBAModel.Convert(to).(color.NRGBA)))
}

type unmultiplied color.NRGBA

func (u unmultiplied) RGBA() (r, g, b, a uint32) {
	return uint32(u.R) * 0x101, uint32(u.G) * 0x101, uint32(u.B) * 0x101, uint32(u.A) * 0x101
}

// FillString draws a text as outlines.
func (c pdfCanvas) FillString(face font.Face, at vg.Point, text string) {
	var outline vg.Path
	for i, r := range text {
		end := i + len(string(r))
		x := face.Width(text[:end]) - face.Width(text[i:end]) // with the kerning before the letter
		outline = appendGlyph(outline, face, vg.Point{X: at.X + x, Y: at.Y}, r)
	}
	c.Fill(outline)
}

// snap rounds a coordinate to a multiple of 2^-20 points, so that its last bit, which differs between
// processors, does not decide how a file writes it.
func snap(l vg.Length) vg.Length { return vg.Length(math.Round(float64(l)*(1<<20)) / (1 << 20)) }

// appendGlyph appends the outline of a character. It panics if the font, which is part of the program, is damaged.
func appendGlyph(to vg.Path, face font.Face, at vg.Point, r rune) vg.Path {
	var buffer sfnt.Buffer
	units := fixed.Int26_6(face.Face.UnitsPerEm())
	glyph, err := face.Face.GlyphIndex(&buffer, r)
	if err != nil {
		panic(err)
	}
	segments, err := face.Face.LoadGlyph(&buffer, glyph, units, nil)
	if err != nil {
		panic(err)
	}
	scale := face.Font.Size / vg.Length(units)
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: snap(at.X + vg.Length(p.X)*scale), Y: snap(at.Y - vg.Length(p.Y)*scale)}
	}
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				to.Close()
			}
			to.Move(point(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			to.Line(point(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			to.QuadTo(point(s.Args[0]), point(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			to.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
		}
	}
	if len(segments) > 0 {
		to.Close()
	}
	return to
}
