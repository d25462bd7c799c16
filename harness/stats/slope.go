package stats

import "math"

// SharedSlope fits y = a + b x to groups of points by least squares, with a height a for each group and one slope b
// for all. It returns the slope, in units of y per unit of x, and half of its 95 % confidence interval from the
// scatter of the points around the lines. There must be more points than groups plus one.
func SharedSlope(x, y [][]float64) (slope, half float64) {
	var xy, xx, yy float64
	freedom := -1 // the number of points less the parameters of the fit
	for g := range x {
		at, height := Mean(x[g]), Mean(y[g])
		for i := range x[g] {
			dx, dy := x[g][i]-at, y[g][i]-height
			xy, xx, yy = xy+float64(dx*dy), xx+float64(dx*dx), yy+float64(dy*dy)
		}
		freedom += len(x[g]) - 1
	}
	slope = xy / xx
	variance := max(0, yy-float64(slope*xy)) / float64(freedom)
	return slope, StudentQuantile(freedom, 1-tail) * math.Sqrt(variance/xx)
}
