package reports

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// PageWidth is the default width of a figure in points; only data that does not fit makes one wider. In one column
// of a paper, 85 mm wide, letters of [textSize] have 6 points, the smallest print that journals accept.
const PageWidth vg.Length = 360

// The look of every figure; lengths and font sizes in points.
const (
	margin    vg.Length = 6
	textSize  vg.Length = 9
	titleSize vg.Length = 10
	// leading is the distance of baselines as a multiple of the font size.
	leading = 1.2
	// capHeight is the height of a capital in Liberation Sans, in font sizes.
	capHeight = 0.72
)

// okabeIto is the palette of Okabe and Ito, "Color Universal Design" (2008), in
// the order in which series take it. Yellow is left out: it fades on white.
var okabeIto = []color.NRGBA{
	rgb(0x0072B2), // blue
	rgb(0xD55E00), // vermillion
	rgb(0x009E73), // bluish green
	rgb(0xE69F00), // orange
	rgb(0xCC79A7), // reddish purple
	rgb(0x56B4E9), // sky blue
	rgb(0x000000), // black
}

func rgb(v uint32) color.NRGBA { return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xFF} }

// MaxSeries is the largest number of series of a chart: one for each colour.
const MaxSeries = 7

// markers tell series apart without colour, in the order of okabeIto.
var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	draw.BoxGlyph{},
	draw.PyramidGlyph{},
	draw.RingGlyph{},
	draw.CrossGlyph{},
	draw.SquareGlyph{},
	draw.PlusGlyph{},
}

var (
	ink, gridGrey, levelGrey = rgb(0x222222), rgb(0xDDDDDD), rgb(0x777777)
	// cyan and red are the FAR paper's colours for creating and destroying instances.
	cyan, red = rgb(0x00DDEE), rgb(0xE41A1C)
)

func solid(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}

func dashed(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: []vg.Length{4, 2.5}}
}

// tint mixes a colour with a share of white from 0 to 1.
func tint(c color.NRGBA, white float64) color.NRGBA {
	mix := func(v uint8) uint8 { return uint8(math.Round(float64(v) + (255-float64(v))*white)) }
	return color.NRGBA{mix(c.R), mix(c.G), mix(c.B), 0xFF}
}

// taskColour returns the fill of the n-th task, light enough for black text. Tints of the series' colours come first.
func taskColour(n int) color.NRGBA { return taskColours[n%len(taskColours)] }

var taskColours = func() (out []color.NRGBA) {
	for _, c := range okabeIto[:5] {
		out = append(out, tint(c, 0.45))
	}
	for _, v := range []uint32{ // violet, lime, brown, grey, pale yellow, coral, pale blue, teal, magenta, sand ...
		0xB8A1DC, 0xC9DF8A, 0xC79A7B, 0xA9B4BE, 0xFFF3A1, 0xF28E8E, 0xBFE6F5, 0x5FA8A3,
		0xE07FB8, 0xD9C7A8, 0x8E8FD6, 0xD7F0D0, 0x8FBF5F, 0xF9D5C5, 0x6F9BE8,
	} {
		out = append(out, rgb(v))
	}
	return out
}()

// GanttColours are the colours of a [Gantt] chart as #rrggbb, for charts that are drawn elsewhere.
type GanttColours struct {
	// Tasks are the colours of tasks in the order in which they take them. They repeat.
	Tasks []string `json:"tasks"`
	// Create and Destroy are the colours of creating and destroying an instance.
	Create  string `json:"create"`
	Destroy string `json:"destroy"`
}

// NewGanttColours returns the colours of every figure.
func NewGanttColours() GanttColours {
	hex := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	out := GanttColours{Create: hex(cyan), Destroy: hex(red)}
	for n := range taskColours {
		out.Tasks = append(out.Tasks, hex(taskColour(n)))
	}
	return out
}

func sans(size vg.Length) draw.TextStyle {
	return draw.TextStyle{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func bold(size vg.Length) draw.TextStyle {
	s := sans(size)
	s.Font.Weight = xfont.WeightBold
	return s
}

// height returns the height of lines of text, from the first capitals to the last descenders.
func height(sty draw.TextStyle, lines int) vg.Length {
	return sty.Font.Size * vg.Length(leading*float64(lines-1)+capHeight+0.22)
}

// write draws lines of text that begin at a point, end there or are centred on it, as align says. The capitals are
// centred on its height.
func write(c draw.Canvas, sty draw.TextStyle, align draw.XAlignment, at vg.Point, lines ...string) {
	face := sty.Handler.Cache().Lookup(sty.Font, sty.Font.Size)
	size := sty.Font.Size
	c.SetColor(sty.Color)
	baseline := at.Y + size*vg.Length(leading*float64(len(lines)-1)-capHeight)/2
	for i, l := range lines {
		c.FillString(face, vg.Point{
			X: at.X + vg.Length(align)*face.Width(l),
			Y: baseline - vg.Length(i)*size*leading,
		}, l)
	}
}

// writeUp writes centred lines that read from bottom to top.
func writeUp(c draw.Canvas, sty draw.TextStyle, at vg.Point, lines ...string) {
	c.Push()
	c.Translate(at)
	c.Rotate(math.Pi / 2)
	write(c, sty, draw.XCenter, vg.Point{}, lines...)
	c.Pop()
}

// MayBreak marks a place within a word where a line may end. It is never drawn.
const MayBreak = "\u200b"

// wrap breaks text at spaces, at [MayBreak], and after hyphens, pluses and slashes,
// into lines of at most the width. A word that is wider has a line of its own.
func wrap(sty draw.TextStyle, text string, width vg.Length) []string {
	return wrapBy(sty.Width, words(text), width)
}

// wrapBy puts words into lines of at most the width. A word that is wider has a line of its own.
func wrapBy[L vg.Length | int](measure func(string) L, parts []string, width L) []string {
	var lines []string
	line := ""
	for _, word := range parts {
		if line != "" && measure(strings.TrimRight(line+word, " ")) > width {
			lines = append(lines, strings.TrimRight(line, " "))
			line = ""
		}
		line += word
	}
	return append(lines, strings.TrimRight(line, " "))
}

// wrapTo breaks text into at most n lines that are as short as possible.
func wrapTo(sty draw.TextStyle, text string, n int) []string {
	for width := widest(sty, words(text)); ; width += sty.Font.Size / 2 {
		lines := wrap(sty, text, width)
		if len(lines) <= max(1, n) {
			return lines
		}
	}
}

// wrapTitle breaks a title into as few lines as the width allows, of about the same length.
func wrapTitle(sty draw.TextStyle, title string, width vg.Length) []string {
	lines := wrap(sty, title, width)
	if even := wrapTo(sty, title, len(lines)); widest(sty, even) <= width {
		return even
	}
	return lines
}

// words splits text after every place where a line may end.
func words(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		end := i + len(string(r))
		switch {
		case string(r) == MayBreak:
			out = append(out, text[start:i])
			start = end
		case unicode.IsSpace(r) || strings.ContainsRune("-+/", r):
			out = append(out, text[start:end])
			start = end
		}
	}
	if start < len(text) || len(out) == 0 {
		out = append(out, text[start:])
	}
	return out
}

func widest(sty draw.TextStyle, lines []string) vg.Length {
	var w vg.Length
	for _, l := range lines {
		w = max(w, sty.Width(l))
	}
	return w
}

// box draws a box. One that is filled with [color.Transparent] has an outline alone: gonum writes no valid SVG for it.
func box(c draw.Canvas, r vg.Rectangle, fill color.Color, outline draw.LineStyle) {
	if fill != color.Transparent {
		c.SetColor(fill)
		c.Fill(r.Path())
	}
	c.SetLineStyle(outline)
	c.Stroke(r.Path())
}

func middle(r vg.Rectangle) vg.Point {
	return vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y + r.Max.Y) / 2}
}

func label(c draw.Canvas, r vg.Rectangle, lines ...string) {
	write(c, sans(textSize), draw.XCenter, middle(r), lines...)
}

// hatch fills a rectangle with the sign for "idle": pale with rising lines.
func hatch(c draw.Canvas, r vg.Rectangle) {
	c.SetColor(color.NRGBA{0xF8, 0xF8, 0xF8, 0xFF})
	c.Fill(r.Path())
	const step = 6
	sty := solid(color.NRGBA{0xD6, 0xD6, 0xD6, 0xFF}, 0.5)
	// The lines x - y = k, with k a multiple of the step so that neighbours match.
	first := vg.Length(math.Ceil(float64(r.Min.X-r.Max.Y)/step) * step) // the conversion rounds on every processor
	for k := first; k < r.Max.X-r.Min.Y; k += step {
		x0, x1 := max(r.Min.X, r.Min.Y+k), min(r.Max.X, r.Max.Y+k)
		if x1 > x0 {
			c.StrokeLine2(sty, x0, x0-k, x1, x1-k)
		}
	}
}

func rect(x0, y0, x1, y1 vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: min(x0, x1), Y: min(y0, y1)}, Max: vg.Point{X: max(x0, x1), Y: max(y0, y1)}}
}

// sliceName returns the FAR paper's name of a slice, for example S3.
func sliceName(i int) string { return "S" + strconv.Itoa(i) }

// heading draws a figure's title at the top, if there is one, and returns what remains of the canvas.
func heading(c draw.Canvas, title string) draw.Canvas {
	if title == "" {
		return c
	}
	sty := bold(titleSize)
	lines := wrapTitle(sty, title, c.Max.X-c.Min.X)
	h := height(sty, len(lines))
	write(c, sty, draw.XCenter, vg.Point{X: c.Center().X, Y: c.Max.Y - h/2}, lines...)
	return draw.Crop(c, 0, 0, 0, -h-4)
}

func headingHeight(title string, width vg.Length) vg.Length {
	if title == "" {
		return 0
	}
	sty := bold(titleSize)
	return height(sty, len(wrap(sty, title, width))) + 4
}

// swatch returns the legend entry of a colour.
func swatch(text string, fill color.Color) legendEntry {
	return diagramBox{fill: fill, outline: solid(ink, 0.5)}.sample(text)
}

// idleEntry returns the legend entry of hatched boxes.
func idleEntry(text string) legendEntry { return diagramBox{}.sample(text) }
