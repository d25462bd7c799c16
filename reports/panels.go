package reports

import (
	"cmp"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels places several charts in one image, row by row, with aligned axes. With at most [MaxSeries] names, a name
// has one colour and there is one legend; otherwise each panel has its own.
type Panels struct {
	Title string
	// Columns is the number of charts in a row; 0 means 2.
	Columns int
	Charts  []Chart
}

const (
	panelGap    vg.Length = 12
	defaultData vg.Length = 140 // the largest height of a data area among panels
	singleData  vg.Length = 175 // the largest height of the data area of a single chart
	// axisRoom is about the width of the axis on the left, with its labels.
	axisRoom vg.Length = 4 * textSize
	// tallest is the largest ratio of a data area's height to its width.
	tallest = 1.25
)

// onePage returns the page of a single chart. Its title is the figure's.
func onePage(ch Chart) (page, error) {
	return Panels{Columns: 1, Charts: []Chart{ch}}.arrange(singleData)
}

func (f Panels) page() (page, error) { return f.arrange(defaultData) }

// arrange returns a page with the charts in a grid. No data area is higher than maxHeight.
func (f Panels) arrange(maxHeight vg.Length) (page, error) {
	if len(f.Charts) == 0 {
		return page{}, refuse(f.Title, "", "it has no charts")
	}
	charts, shared, err := f.charts()
	if err != nil {
		return page{}, err
	}
	g := newGrid(charts, max(1, min(cmp.Or(f.Columns, 2), len(charts))), shared == nil)
	if err := g.measure(maxHeight); err != nil {
		return page{}, err
	}
	return frame(f.Title, gridWidth, g.height, shared, g.draw), nil
}

// gridWidth is the width of all cells and the gaps between them.
const gridWidth = PageWidth - 2*margin

// A grid places charts in cells of equal width, row by row.
type grid struct {
	charts     []*chart
	plots      [][]*plot.Plot // by row and column; nil where the last row has no chart
	tiles      draw.Tiles
	cell       vg.Length // the width of a cell
	height     vg.Length // the height of all rows; see [grid.measure]
	ownLegends bool      // each chart has its legend below it
}

func newGrid(charts []*chart, columns int, ownLegends bool) *grid {
	g := &grid{charts: charts, ownLegends: ownLegends}
	g.tiles = draw.Tiles{Cols: columns, Rows: (len(charts) + columns - 1) / columns, PadX: panelGap, PadY: panelGap}
	g.cell = (gridWidth - vg.Length(columns-1)*panelGap) / vg.Length(columns)
	if ownLegends {
		for _, ch := range charts {
			g.tiles.PadBottom = max(g.tiles.PadBottom, ch.legend.height(g.cell))
		}
		g.tiles.PadY += g.tiles.PadBottom
	}
	return g
}

// measure sets up the plots and the height of the rows. It refuses charts whose data areas are too small. It first
// measures the axes and titles in rows that are too high, because their size does not depend on the height.
func (g *grid) measure(maxHeight vg.Length) error {
	width := g.cell - axisRoom
	data := vg.Point{X: width, Y: max(minData, min(maxHeight, tallest*width))}
	for row := range slices.Chunk(g.charts, g.tiles.Cols) {
		plots := make([]*plot.Plot, g.tiles.Cols)
		for j, ch := range row {
			plots[j] = ch.plot(data)
			plots[j].Title.Text = strings.Join(wrapTitle(bold(titleSize), ch.title, g.cell), "\n")
		}
		g.plots = append(g.plots, plots)
	}
	rows := vg.Length(g.tiles.Rows)
	g.height = rows * 3 * PageWidth
	at := plot.Align(g.plots, g.tiles, draw.Canvas{Rectangle: rect(0, 0, gridWidth, g.height)})
	g.height += rows * (data.Y - g.plots[0][0].DataCanvas(at[0][0]).Size().Y)
	at = plot.Align(g.plots, g.tiles, draw.Canvas{Rectangle: rect(0, 0, gridWidth, g.height)})
	for k, ch := range g.charts {
		i, j := k/g.tiles.Cols, k%g.tiles.Cols
		if err := ch.fits(g.plots[i][j], g.plots[i][j].DataCanvas(at[i][j]).Rectangle, gridWidth); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the charts at the upper edge of c, and their own legends.
func (g *grid) draw(c draw.Canvas) (l layout) {
	c.Min.Y = c.Max.Y - g.height
	at := plot.Align(g.plots, g.tiles, c)
	lineUp(g.plots, at)
	for k, ch := range g.charts {
		i, j := k/g.tiles.Cols, k%g.tiles.Cols
		p, here := g.plots[i][j], at[i][j]
		p.Draw(here)
		l.data = append(l.data, p.DataCanvas(here).Rectangle)
		if g.ownLegends {
			left := c.Min.X + vg.Length(j)*(g.cell+panelGap)
			here.Rectangle = rect(left, here.Min.Y-ch.legend.height(g.cell), left+g.cell, here.Min.Y)
			l.legend = append(l.legend, ch.legend.draw(here)...)
		}
	}
	return l
}

// lineUp corrects the small differences between data areas that [plot.Align] leaves, because the room of an axis
// depends on the size of its data area. Each pass changes the sizes a little; after three, no difference can be seen.
func lineUp(plots [][]*plot.Plot, at [][]draw.Canvas) {
	for range 3 {
		for i, row := range plots {
			for j, p := range row {
				if p == nil {
					continue
				}
				own, beside := p.DataCanvas(at[i][j]), plots[i][0].DataCanvas(at[i][0])
				above := plots[0][j].DataCanvas(at[0][j])
				at[i][j] = draw.Crop(at[i][j], above.Min.X-own.Min.X, above.Max.X-own.Max.X,
					beside.Min.Y-own.Min.Y, beside.Max.Y-own.Max.Y)
			}
		}
	}
}

// charts prepares the charts. shared is their common legend; nil if each chart has its own.
func (f Panels) charts() (charts []*chart, shared legend, err error) {
	charts = make([]*chart, len(f.Charts))
	names := &palette{}
	for i := 0; i < len(charts) && err == nil; i++ {
		charts[i], err = f.Charts[i].chart(names)
	}
	if err != nil { // one of the charts is invalid, or together they have too many names
		for i, ch := range f.Charts {
			if charts[i], err = ch.chart(&palette{}); err != nil {
				return nil, nil, err
			}
		}
		return charts, nil, nil
	}
	for _, ch := range charts {
		for _, e := range ch.legend {
			shared.add(e)
		}
	}
	return charts, shared, nil
}
