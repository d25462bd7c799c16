package reports

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

func encode(t *testing.T, format string, f Figure) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, format, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFiguresAreTheSameBytesEachTime renders each figure twice.
func TestFiguresAreTheSameBytesEachTime(t *testing.T) {
	first, second := samples(), samples()
	for _, name := range slices.Sorted(maps.Keys(first)) {
		for _, format := range FigureFormats {
			if !bytes.Equal(encode(t, format, first[name]), encode(t, format, second[name])) {
				t.Errorf("%s.%s differs between two renderings", name, format)
			}
		}
	}
}

// recorder is a canvas that remembers where text went, in page coordinates.
type recorder struct {
	stack []affine
	texts []placed
}

type placed struct {
	text string
	at   vg.Rectangle
	size vg.Length
}

// affine maps (x, y) to (a x + b y + e, c x + d y + f).
type affine struct{ a, b, c, d, e, f float64 }

func (m affine) at(p vg.Point) vg.Point {
	x, y := float64(p.X), float64(p.Y)
	return vg.Point{X: vg.Length(m.a*x + m.b*y + m.e), Y: vg.Length(m.c*x + m.d*y + m.f)}
}

func (m affine) then(n affine) affine {
	return affine{
		m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.a*n.e + m.b*n.f + m.e, m.c*n.e + m.d*n.f + m.f,
	}
}

func (r *recorder) top() *affine { return &r.stack[len(r.stack)-1] }

func (r *recorder) SetLineWidth(vg.Length)              {}
func (r *recorder) SetLineDash([]vg.Length, vg.Length)  {}
func (r *recorder) SetColor(color.Color)                {}
func (r *recorder) Stroke(vg.Path)                      {}
func (r *recorder) Fill(vg.Path)                        {}
func (r *recorder) DrawImage(vg.Rectangle, image.Image) {}
func (r *recorder) Push()                               { r.stack = append(r.stack, *r.top()) }
func (r *recorder) Pop()                                { r.stack = r.stack[:len(r.stack)-1] }

func (r *recorder) Rotate(a float64) {
	sin, cos := math.Sincos(a)
	*r.top() = r.top().then(affine{cos, -sin, sin, cos, 0, 0})
}

func (r *recorder) Translate(p vg.Point) {
	*r.top() = r.top().then(affine{1, 0, 0, 1, float64(p.X), float64(p.Y)})
}

func (r *recorder) Scale(x, y float64) { *r.top() = r.top().then(affine{x, 0, 0, y, 0, 0}) }

func (r *recorder) FillString(f font.Face, p vg.Point, s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	size := f.Font.Size
	a := r.top().at(p)
	b := r.top().at(vg.Point{X: p.X + f.Width(s), Y: p.Y + capHeight*size})
	r.texts = append(r.texts, placed{s, rect(a.X, a.Y, b.X, b.Y), size})
}

func record(t *testing.T, f Figure) (*recorder, page, layout) {
	t.Helper()
	p, err := f.page()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{stack: []affine{{a: 1, d: 1}}}
	l := p.draw(blank(r, p))
	if len(r.stack) != 1 {
		t.Fatal("Push and Pop do not match")
	}
	return r, p, l
}

// faults says what is wrong with a drawing: texts or legends that leave the page, or overlap each other
// or the data.
func faults(r *recorder, p page, l layout) (out []string) {
	inside := func(what string, at vg.Rectangle) {
		if !contains(vg.Rectangle{Max: vg.Point{X: p.width, Y: p.height}}, at) {
			out = append(out, fmt.Sprintf("%s at %v leaves the page of %v x %v", what, at, p.width, p.height))
		}
	}
	for _, g := range l.legend {
		inside("the legend", g)
		if slices.ContainsFunc(l.data, func(d vg.Rectangle) bool { return overlaps(d, g) }) {
			out = append(out, fmt.Sprintf("the legend %v overlaps data", g))
		}
	}
	for i, a := range r.texts {
		inside(strconv.Quote(a.text), a.at)
		for _, b := range r.texts[:i] {
			if overlaps(a.at, b.at) {
				out = append(out, fmt.Sprintf("%q at %v overlaps %q at %v", a.text, a.at, b.text, b.at))
			}
		}
	}
	return out
}

// contains reports whether b lies within a.
func contains(a, b vg.Rectangle) bool {
	return b.Min.X >= a.Min.X && b.Max.X <= a.Max.X && b.Min.Y >= a.Min.Y && b.Max.Y <= a.Max.Y
}

// overlaps reports whether two rectangles share more than an edge.
func overlaps(a, b vg.Rectangle) bool {
	const slack = 1e-6 // points
	return a.Min.X < b.Max.X-slack && b.Min.X < a.Max.X-slack && a.Min.Y < b.Max.Y-slack && b.Min.Y < a.Max.Y-slack
}

func TestSamplesCanBeRead(t *testing.T) {
	legends := 0
	for name, f := range samples() {
		r, p, l := record(t, f)
		for _, fault := range faults(r, p, l) {
			t.Errorf("%s: %s", name, fault)
		}
		if len(r.texts) < 5 || len(l.data) == 0 {
			t.Errorf("%s: %d texts and %d data areas", name, len(r.texts), len(l.data))
		}
		for _, a := range r.texts {
			smallest := textSize
			inData := slices.ContainsFunc(l.data, func(d vg.Rectangle) bool { return overlaps(d, a.at) })
			if strings.HasPrefix(name, "gantt") && inData {
				smallest = 7
			}
			if a.size < smallest {
				t.Errorf("%s: %q has %v points, which is too small", name, a.text, a.size)
			}
		}
		for i, a := range l.data {
			if a.Size().X < 50 || a.Size().Y < 50 {
				t.Errorf("%s: the data area %v is too small", name, a)
			}
			if slices.ContainsFunc(l.data[:i], func(b vg.Rectangle) bool { return overlaps(a, b) }) {
				t.Errorf("%s: two data areas overlap: %v", name, l.data)
			}
		}
		legends += len(l.legend)
	}
	if legends < 10 {
		t.Errorf("only %d legends were seen", legends)
	}
}

// TestTexts: what figures say, and how often if not at least once. Names are broken into lines at spaces.
func TestTexts(t *testing.T) {
	all := samples()
	for name, wants := range map[string]string{
		"lines":      "ρ [1]|Number of tasks n|GOODSCALING, WIDETIMES|GOODSCALING, WIDETIMES (published)",
		"bars":       "Makespan / FAR makespan|FIXPART(1,…,1)|NARROWTIMES",
		"scatter":    "Table 5|Measured",
		"panels":     "By number of tasks|The same, so that the axes line up",
		"gantt-four": "MISO-OPT|ParticleFilter|9  PathFinder|create instance|destroy instance|idle|S6|Time [s]",
		"gantt-gpus": "GPU 0|GPU 1",
		"partitions": "A30|A100|19|S6|slice left idle",
		// A dot of each state in the legend.
		"curve": "F1  Rodinia is at most 1.22 times the optimum|holds in part=1|not runnable|met=1|met in part=1|missed=1|open=1|default=1|post hoc=1|?=12|M1b  as in MISO",
	} {
		r, _, _ := record(t, all[name])
		count := map[string]int{}
		for _, a := range r.texts {
			count[strings.TrimSpace(a.text)]++
		}
		for want := range strings.SplitSeq(wants, "|") {
			text, number, exact := strings.Cut(want, "=")
			if n, _ := strconv.Atoi(number); exact && count[text] != n || !exact && count[text] == 0 {
				t.Errorf("%s: %q is there %d times: %v", name, text, count[text], slices.Sorted(maps.Keys(count)))
			}
		}
	}
}

func TestSpeedupsKeepTheScale(t *testing.T) {
	r, _, l := record(t, samples()["lines-split"])
	eights := 0
	for _, a := range r.texts {
		if a.text == "8" {
			eights++
		}
	}
	if len(l.data) != 4 || eights != 4 {
		t.Errorf("%d of %d panels reach 8; want 4", eights, len(l.data))
	}
}

func TestPanelsShareColours(t *testing.T) {
	a := Lines{X: sliceAxis, Y: Axis{Label: "y"}, Series: speedups()[:3]}
	b := Lines{X: sliceAxis, Y: Axis{Label: "y"}, Series: speedups()[1:4]}
	_, _, l := record(t, Panels{Charts: []Chart{a, b}})
	if len(l.legend) != 1 {
		t.Fatalf("%d legends, want one", len(l.legend))
	}
	names := &palette{}
	for _, c := range []Chart{a, b} {
		if _, err := c.chart(names); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"Backprop", "BFS", "CFD", "Gaussian"}; !slices.Equal(names.names, want) {
		t.Errorf("colours for %v, want %v", names.names, want)
	}
}

func TestPanelsLineUp(t *testing.T) {
	for _, name := range []string{"panels", "panels-mixed", "lines-split"} {
		f := samples()[name].(Panels)
		_, p, l := record(t, f)
		near := func(a, b vg.Length) bool { return math.Abs(float64(a-b)) < 1 }
		for k, d := range l.data {
			row, column := l.data[k-k%2], l.data[k%2]
			if !near(d.Min.Y, row.Min.Y) || !near(d.Max.Y, row.Max.Y) || !near(d.Min.X, column.Min.X) || !near(d.Max.X, column.Max.X) {
				t.Errorf("%s: panel %d at %v does not line up with %v and %v", name, k+1, d, row, column)
			}
		}
		if right := l.data[1].Max.X; right < p.width-30 {
			t.Errorf("%s: the panels end at %v of %v", name, right, p.width)
		}
	}
}

func TestBadInputIsRefused(t *testing.T) {
	nan := math.NaN()
	x, y := Axis{Label: "x"}, Axis{Label: "y"}
	good := Series{Name: "s", X: []float64{1, 2}, Y: []float64{1, 2}}
	lines := func(edit func(*Lines, *Series)) Figure {
		f := Lines{Title: "T", X: x, Y: y}
		s := good
		s.X, s.Y = slices.Clone(s.X), slices.Clone(s.Y)
		edit(&f, &s)
		f.Series = append(f.Series, s)
		return f
	}
	bars := func(edit func(*Bars)) Figure {
		f := Bars{Title: "T", X: x, Y: y, Categories: []string{"a", "b"}, Groups: []BarGroup{{Name: "g", Values: []float64{1, 2}}}}
		edit(&f)
		return f
	}
	gantt := func(edit func(*GanttPanel)) Figure {
		p := crowded()
		edit(&p)
		return Gantt{Title: "T", Panels: []GanttPanel{p}}
	}
	for _, c := range []struct {
		name string
		f    Figure
		want string
	}{
		{"no series", Lines{X: x, Y: y}, "no series"},
		{"no points", lines(func(_ *Lines, s *Series) { s.X, s.Y = nil, nil }), "no points"},
		{"NaN", lines(func(_ *Lines, s *Series) { s.Y = []float64{1, nan} }), "value 2 is NaN"},
		{"infinite", lines(func(_ *Lines, s *Series) { s.X = []float64{1, math.Inf(1)} }), "value 2 is +Inf"},
		{"lengths", lines(func(_ *Lines, s *Series) { s.Y = s.Y[:1] }), "2 x and 1 y"},
		{"band length", lines(func(_ *Lines, s *Series) { s.Low, s.High = []float64{1}, []float64{2} }), "band has 1"},
		{"half a band", lines(func(_ *Lines, s *Series) { s.Low = []float64{1, 1} }), "2 lower and 0 upper"},
		{"log of 0", lines(func(f *Lines, s *Series) { f.Y.Log, s.Y = true, []float64{0, 1} }), "above 0"},
		{"log axis from 0", lines(func(f *Lines, _ *Series) { f.Y.Log, f.Y.To = true, 3 }), "cannot run from 0"},
		{"axis backwards", lines(func(f *Lines, _ *Series) { f.Y.From = 3 }), "cannot run from 3 to 0"},
		{"axis of rounding errors", lines(func(f *Lines, _ *Series) { f.Y.From, f.Y.To = 1, 1+1e-15 }), "cannot run from 1"},
		{"NaN axis", lines(func(f *Lines, _ *Series) { f.Y.To = nan }), "cannot run from 0 to NaN"},
		{"too large", lines(func(_ *Lines, s *Series) { s.Y[1] = 1e200 }), "up to 1e+100"},
		{"long label", lines(func(f *Lines, _ *Series) { f.Y.Label = strings.Repeat("long", 30) }), "labels shorter"},
		{"outside the axis", lines(func(f *Lines, _ *Series) { f.Y.To = 1.5 }), "outside the axis"},
		{"16 lines", Lines{X: x, Y: y, Series: speedups()}, "16 series"},
		{"no categories", bars(func(f *Bars) { f.Categories = nil }), "no categories"},
		{"no groups", bars(func(f *Bars) { f.Groups = nil }), "no groups"},
		{"bar lengths", bars(func(f *Bars) { f.Groups[0].Values = []float64{1} }), "1 values for 2 categories"},
		{"NaN bar", bars(func(f *Bars) { f.Groups[0].Values[1] = nan }), "value 2 is NaN"},
		{"NaN whisker of a dot", bars(func(f *Bars) {
			f.Dots, f.Groups[0].Low, f.Groups[0].High = true, []float64{1, nan}, []float64{1, 3}
		}), "1 lower and 2 upper values"},
		{"no dots", bars(func(f *Bars) { f.Dots, f.Groups[0].Values = true, []float64{nan, nan} }), "no values"},
		{"infinite dot", bars(func(f *Bars) { f.Dots, f.Groups[0].Values[1] = true, math.Inf(1) }), "value 2 is +Inf"},
		{"log bars", bars(func(f *Bars) { f.Y.Log = true }), "bars begin at 0"},
		{"60 categories", bars(func(f *Bars) {
			f.Categories = slices.Repeat([]string{"c"}, 60)
			f.Groups[0].Values = make([]float64, 60)
		}), "60 categories need"},
		{"scatter lengths", Lines{Dots: true, X: x, Y: y, Series: []Series{{Name: "g", X: []float64{1}}}}, "1 x and 0 y"},
		{"empty curve", Curve{}, "no rows"},
		{"empty panels", Panels{}, "no charts"},
		{"bad panel", Panels{Charts: []Chart{lines(func(_ *Lines, s *Series) { s.Y = nil }).(Lines)}}, "2 x and 0 y"},
		{"empty gantt", Gantt{}, "no panels"},
		{"no bars", gantt(func(p *GanttPanel) { p.Bars = nil }), "no bars"},
		{"title", gantt(func(p *GanttPanel) { p.Title = strings.Repeat("x", 60) }), "title is wider"},
		{"no GPUs", Partitions{}, "no GPUs"},
	} {
		for _, format := range FigureFormats {
			var b bytes.Buffer
			err := Encode(&b, format, c.f)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
			}
			if b.Len() > 0 {
				t.Errorf("%s: %d bytes were written", c.name, b.Len())
			}
		}
	}
}

func TestEdgesOfTheData(t *testing.T) {
	x, y := Axis{Label: "x"}, Axis{Label: "y"}
	one := func(v float64) Figure {
		return Lines{X: x, Y: y, Series: []Series{{Name: "s", X: []float64{v}, Y: []float64{v}}}}
	}
	for name, f := range map[string]Figure{
		"one point": one(3), "zero": one(0), "tiny": one(1e-300), "huge": one(1e100), "negative": one(-5),
		"negative bars": Bars{X: x, Y: y, Categories: []string{"a"}, Groups: []BarGroup{{Name: "g", Values: []float64{-2}}}},
		"zero bars":     Bars{X: x, Y: y, Categories: []string{"a"}, Groups: []BarGroup{{Name: "g", Values: []float64{0}}}},
		"dots": Bars{Dots: true, X: x, Y: Axis{Label: "y", Log: true}, Categories: []string{"a", "b"}, Groups: []BarGroup{
			{Name: "g", Values: []float64{math.NaN(), 2}, Low: []float64{math.NaN(), 1}, High: []float64{math.NaN(), 3}},
		}},
		"log point":   Lines{X: Axis{Label: "x", Log: true}, Y: Axis{Label: "y", Log: true}, Series: []Series{{Name: "s", X: []float64{7}, Y: []float64{1e-9}}}},
		"log decades": Lines{X: Axis{Label: "x", Log: true}, Y: y, Series: []Series{{Name: "s", X: []float64{1e-100, 1e100}, Y: []float64{1, 2}}}},
		"no time":     Gantt{Panels: []GanttPanel{{GPU: mig.MustLookup("A30"), Bars: []schedule.Bar{{Kind: schedule.RunBar, Label: "t", Width: 1}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, _ := record(t, f)
			if len(r.texts) < 4 {
				t.Errorf("only the texts %v", r.texts)
			}
			if bytes.Contains(encode(t, "svg", f), []byte("NaN")) {
				t.Error("NaN is drawn")
			}
		})
	}
}

func TestSaveFigure(t *testing.T) {
	base := filepath.Join(t.TempDir(), "sub", "lines")
	f := samples()["lines"]
	if err := SaveFigure(base, f); err != nil {
		t.Fatal(err)
	}
	for _, format := range FigureFormats {
		got, err := os.ReadFile(base + "." + format)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, encode(t, format, f)) {
			t.Errorf("the %s file is not what Encode writes", format)
		}
	}
	if err := SaveFigure(base, Lines{}); err == nil {
		t.Error("an empty figure was saved")
	}
}

func TestWrap(t *testing.T) {
	sty := sans(textSize)
	for _, c := range []struct {
		text  string
		width vg.Length
		want  []string
	}{
		{"MIXEDSCALING + WIDETIMES", 80, []string{"MIXEDSCALING +", "WIDETIMES"}},
		{"one two", 500, []string{"one two"}},
		{"SRAD_v1", 30, []string{"SRAD_v1"}},
		{"unbreakable", 5, []string{"unbreakable"}},
		{"", 5, []string{""}},
		{"MIX" + MayBreak + "SCALING", 50, []string{"MIX", "SCALING"}},
		{"MIX" + MayBreak + "SCALING", 500, []string{"MIXSCALING"}},
	} {
		if got := wrap(sty, c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("wrap(%q, %v) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// Levels at one height have one line, and their names lie below each other beside it.
func TestNamesOfLevelsStayApart(t *testing.T) {
	r, _, l := record(t, samples()["lines-levels"])
	var at []vg.Rectangle
	for _, a := range r.texts {
		if slices.Contains([]string{"FAR", "a fixed partition", "none"}, a.text) {
			at = append(at, a.at)
		}
	}
	if len(at) != 3 {
		t.Fatalf("%d names, want 3", len(at))
	}
	for i, a := range at {
		if a.Min.X < l.data[0].Max.X {
			t.Errorf("name %d begins at %v, within the data, which ends at %v", i, a.Min.X, l.data[0].Max.X)
		}
		if i > 0 && overlaps(a, at[i-1]) {
			t.Errorf("the names %d and %d overlap", i-1, i)
		}
	}
}

func TestGanttPanelsThatDoNotFitAreInRows(t *testing.T) {
	f := samples()["gantt-four"].(Gantt)
	_, p, l := record(t, f)
	if p.width > PageWidth {
		t.Errorf("the page is %v wide, want at most %v", p.width, PageWidth)
	}
	if len(l.data) != 4 || l.data[0].Min.Y <= l.data[3].Max.Y {
		t.Errorf("the panels are at %v; want the last one below the first", l.data)
	}
	if a, b := l.data[0].Size().Y, l.data[3].Size().Y; math.Abs(float64(a-b)) > 1e-6 {
		t.Errorf("the panels are at %v; want equal heights", l.data)
	}
}

func TestTasksHaveColoursOfTheirOwn(t *testing.T) {
	f := samples()["gantt-four"].(Gantt)
	seen := map[color.NRGBA]int{}
	_, tasks := f.tasks()
	for _, colour := range tasks {
		seen[taskColour(colour)]++
	}
	if len(seen) != 16 {
		t.Errorf("16 tasks have %d colours", len(seen))
	}
}

// A long label of a logarithmic axis leaves as much room for the data as one of a linear axis.
func TestLabelsOfLogarithmicAxes(t *testing.T) {
	label := strings.Repeat("long ", 6)
	f := Lines{X: Axis{Label: "x"}, Y: Axis{Label: label + "label"}, Series: []Series{{Name: "s", X: []float64{1, 2}, Y: []float64{1, 1000}}}}
	_, _, linear := record(t, f)
	f.Y.Log = true
	r, _, logarithmic := record(t, f)
	if a, b := linear.data[0].Size().Y, logarithmic.data[0].Size().Y; math.Abs(float64(a-b)) > 1 {
		t.Errorf("the data is %v high on a linear axis and %v on a logarithmic one", a, b)
	}
	var texts []string
	for _, a := range r.texts {
		texts = append(texts, a.text)
	}
	if !strings.Contains(strings.Join(texts, " "), "label, log scale") {
		t.Errorf("the label does not say that the scale is logarithmic: %v", r.texts)
	}
}

func TestLongLinesHaveFewSigns(t *testing.T) {
	f := Lines{X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{{Name: "s", Markers: true}}}
	for i := range 1000 {
		f.Series[0].X, f.Series[0].Y = append(f.Series[0].X, float64(i)), append(f.Series[0].Y, 1)
	}
	var few, all bytes.Buffer
	if err := Encode(&few, "svg", f); err != nil {
		t.Fatal(err)
	}
	f.Series[0].X, f.Series[0].Y = f.Series[0].X[:10], f.Series[0].Y[:10]
	if err := Encode(&all, "svg", f); err != nil {
		t.Fatal(err)
	}
	// Signs are filled with the series' colour; one of each is the legend's.
	sign := "fill:#0072B2"
	if a, b := strings.Count(few.String(), sign), strings.Count(all.String(), sign); a > fewSigns+3 || b != 11 {
		t.Errorf("1000 points have %d signs and 10 have %d; want about %d and 11", a, b, fewSigns)
	}
}

// A reader without the font sees each text as wide as it was placed.
func TestTextsOfSVGHaveTheirWidths(t *testing.T) {
	f := Partitions{Title: "a <text title", GPUs: []*mig.GPU{mig.MustLookup("A30")}}
	r, _, _ := record(t, f)
	var got, want []string
	for _, m := range regexp.MustCompile(`<text xml:space="preserve" textLength="([^"]+)" lengthAdjust="spacingAndGlyphs" x=[^>]*>([^<]*)</text>`).FindAllSubmatch(encode(t, "svg", f), -1) {
		got = append(got, html.UnescapeString(string(m[2]))+" "+string(m[1]))
	}
	for _, text := range r.texts {
		want = append(want, fmt.Sprintf("%s %.4g", text.text, text.at.Max.X.Points()-text.at.Min.X.Points()))
	}
	if len(want) < 20 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Texts are outlines in PDF, so that every character of a figure is there and in its place.
func TestOutlinesFillTheirTexts(t *testing.T) {
	face := font.DefaultCache.Lookup(sans(textSize).Font, textSize)
	for _, text := range []string{"A", "ω", "“ρ”", "Gap to the bound [%]"} {
		var path vg.Path
		for i, r := range text {
			path = appendGlyph(path, face, vg.Point{X: 10 + face.Width(text[:i]), Y: 20}, r)
		}
		low, high := vg.Point{X: 1e9, Y: 1e9}, vg.Point{}
		for _, c := range path {
			if c.Type != vg.CloseComp {
				low.X, low.Y = min(low.X, c.Pos.X), min(low.Y, c.Pos.Y)
				high.X, high.Y = max(high.X, c.Pos.X), max(high.Y, c.Pos.Y)
			}
		}
		w := face.Width(text)
		if low.X < 10 || high.X > 10+w || high.X-low.X < w/2 || low.Y < 20-textSize/3 || high.Y < 23 || high.Y > 20+textSize {
			t.Errorf("%q is drawn from %v to %v; its width is %v", text, low, high, w)
		}
	}
}

// Where a text stands may differ in the last bit, because some processors add to products that are not rounded.
func TestOutlinesIgnoreTheLastBit(t *testing.T) {
	face := font.DefaultCache.Lookup(sans(textSize).Font, textSize)
	for k := range 300 {
		at := vg.Point{X: 10 + vg.Length(k)/7, Y: 20 + vg.Length(k)/11}
		off := vg.Point{X: vg.Length(math.Nextafter(float64(at.X), 0)), Y: vg.Length(math.Nextafter(float64(at.Y), 999))}
		if a, b := fmt.Sprint(appendGlyph(nil, face, at, 'g')), fmt.Sprint(appendGlyph(nil, face, off, 'g')); a != b {
			t.Fatalf("at %v the outline is %s; one bit beside it is %s", at, a, b)
		}
	}
}

// TestBandsKeepTheirColourInPDF: a translucent band is filled with the colour of its line.
func TestBandsKeepTheirColourInPDF(t *testing.T) {
	s := Series{Name: "a", X: []float64{1, 2}, Y: []float64{2, 3}, Low: []float64{1, 2}, High: []float64{3, 4}}
	file := encode(t, "pdf", Lines{X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Series: []Series{s}})
	var content strings.Builder
	for _, stream := range bytes.Split(file, []byte("stream\n"))[1:] {
		if r, err := zlib.NewReader(bytes.NewReader(stream)); err == nil {
			io.Copy(&content, r) // what follows the stream is no error of the page
		}
	}
	c := okabeIto[0]
	want := fmt.Sprintf("%.3f %.3f %.3f", float64(c.R)/255, float64(c.G)/255, float64(c.B)/255)
	fills := regexp.MustCompile(`([\d.]+) ([\d.]+) ([\d.]+) rg`).FindAllStringSubmatch(content.String(), -1)
	coloured := 0
	for _, f := range fills {
		if got := strings.Join(f[1:], " "); f[1] != f[3] { // else it is grey
			coloured++
			if got != want {
				t.Errorf("something is filled with %s; the only colour is %s", got, want)
			}
		}
	}
	if coloured == 0 {
		t.Error("nothing is coloured")
	}
}

// A reference beside dots is a line: it has no dots, and with as many names as colours it needs none.
func TestReferencesBesideDots(t *testing.T) {
	f := Lines{Dots: true, X: Axis{Label: "x"}, Y: Axis{Label: "y"}}
	for i := range MaxSeries {
		f.Series = append(f.Series, Series{Name: string(rune('a' + i)), X: []float64{1, 0}, Y: []float64{2, 9}})
	}
	x, y := []float64{0, 1}, []float64{1, 2}
	f.Series = append(f.Series, Series{Name: "linear", X: x, Y: y, Low: y, High: y, Reference: true})
	if err := Encode(new(bytes.Buffer), "svg", f); err != nil {
		t.Error(err)
	}
}

// TestReferencesAreGreyAndDashed: the line at 0, where values have both signs, and a reference, which takes no colour.
func TestReferencesAreGreyAndDashed(t *testing.T) {
	dashes := func(low float64, reference bool) int {
		f := Lines{X: Axis{Label: "x"}, Y: Axis{Label: "y"}}
		for i := range MaxSeries {
			f.Series = append(f.Series, Series{Name: string(rune('a' + i)), X: []float64{0, 1}, Y: []float64{low, 9}})
		}
		if reference {
			f.Series = append(f.Series, Series{Name: "linear", X: []float64{0, 1}, Y: []float64{1, 2}, Reference: true})
		}
		var svg bytes.Buffer
		if err := Encode(&svg, "svg", f); err != nil {
			t.Fatal(err)
		}
		return strings.Count(svg.String(), "stroke:#777777") * min(strings.Count(svg.String(), "stroke-dasharray"), 1)
	}
	for _, c := range []struct {
		low       float64
		reference bool
		want      int // in the chart, and in the legend
	}{{1, false, 0}, {-1, false, 1}, {0, false, 0}, {1, true, 2}, {-1, true, 3}} {
		if got := dashes(c.low, c.reference); got != c.want {
			t.Errorf("from %v, reference %t: %d grey dashed lines, want %d", c.low, c.reference, got, c.want)
		}
	}
}
