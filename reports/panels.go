package reports

import (
	"cmp"
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
	defaultData vg.Length = 140
	singleData  vg.Length = 175
	// axisRoom is about how wide the axis on the left is, with its labels.
	axisRoom vg.Length = 4 * textSize
	// tallest is the height of the data area over its width at most.
	tallest = 1.25
)

// onePage returns the page of a single chart, whose title is the figure's.
func onePage(ch Chart) (page, error) {
	return Panels{Columns: 1, Charts: []Chart{ch}}.place(singleData)
}

func (f Panels) page() (page, error) { return f.place(defaultData) }

// place arranges the charts on a page, with data areas of at most the height.
func (f Panels) place(most vg.Length) (page, error) {
	if len(f.Charts) == 0 {
		return page{}, refuse(f.Title, "", "it has no charts")
	}
	charts, shared, err := f.charts()
	if err != nil {
		return page{}, err
	}
	const inner = PageWidth - 2*margin
	tiles := draw.Tiles{Cols: max(1, min(cmp.Or(f.Columns, 2), len(charts))), PadX: panelGap, PadY: panelGap}
	tiles.Rows = (len(charts) + tiles.Cols - 1) / tiles.Cols
	cell := (inner - vg.Length(tiles.Cols-1)*panelGap) / vg.Length(tiles.Cols)
	data := vg.Point{X: cell - axisRoom, Y: max(minData, min(most, tallest*(cell-axisRoom)))}
	if shared == nil {
		for _, ch := range charts {
			tiles.PadBottom = max(tiles.PadBottom, ch.legend.height(cell))
		}
		tiles.PadY += tiles.PadBottom
	}
	plots := plotRows(charts, tiles.Cols, data, cell)
	// The first body is higher than needed, to see how much of a row the axes and titles take, which is the same at any
	// height. The second gives each row that and data.Y.
	body := vg.Length(tiles.Rows) * 3 * PageWidth
	at := plot.Align(plots, tiles, draw.Canvas{Rectangle: rect(0, 0, inner, body)})
	body += vg.Length(tiles.Rows) * (data.Y - plots[0][0].DataCanvas(at[0][0]).Size().Y)
	at = plot.Align(plots, tiles, draw.Canvas{Rectangle: rect(0, 0, inner, body)})
	for k, ch := range charts {
		i, j := k/tiles.Cols, k%tiles.Cols
		if err := ch.fits(plots[i][j], plots[i][j].DataCanvas(at[i][j]).Rectangle, inner); err != nil {
			return page{}, err
		}
	}
	return frame(f.Title, inner, body, shared, func(c draw.Canvas) (l layout) {
		c.Min.Y = c.Max.Y - body
		at := plot.Align(plots, tiles, c)
		lineUp(plots, at)
		for k, ch := range charts {
			p, here := plots[k/tiles.Cols][k%tiles.Cols], at[k/tiles.Cols][k%tiles.Cols]
			p.Draw(here)
			l.data = append(l.data, p.DataCanvas(here).Rectangle)
			if shared == nil {
				below := ch.legend.height(cell)
				left := c.Min.X + vg.Length(k%tiles.Cols)*(cell+panelGap)
				here.Rectangle = rect(left, here.Min.Y-below, left+cell, here.Min.Y)
				l.legend = append(l.legend, ch.legend.draw(here)...)
			}
		}
		return l
	}), nil
}

// plotRows sets up the charts for data areas of about the size, in rows of so many columns. Plots that are missing in
// the last row are nil. Titles are at most as wide as a cell.
func plotRows(charts []*chart, columns int, data vg.Point, cell vg.Length) (rows [][]*plot.Plot) {
	for k, ch := range charts {
		if k%columns == 0 {
			rows = append(rows, make([]*plot.Plot, columns))
		}
		p := ch.plot(data)
		p.Title.Text = strings.Join(wrapTitle(bold(titleSize), ch.title, cell), "\n")
		rows[k/columns][k%columns] = p
	}
	return rows
}

// lineUp corrects the small differences that [plot.Align] leaves: the room of axes depends on the size of the data.
// Each pass changes that size a little again, and three leave less than can be seen.
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

// charts prepares the panels; shared is their common legend, nil if each has its own.
func (f Panels) charts() (charts []*chart, shared legend, err error) {
	charts = make([]*chart, len(f.Charts))
	names := &palette{}
	for i := 0; i < len(charts) && err == nil; i++ {
		charts[i], err = f.Charts[i].chart(names)
	}
	if err != nil { // the charts have too many names together, or one of them is invalid
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
