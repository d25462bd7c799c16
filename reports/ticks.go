package reports

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ticks marks an axis from low to high with the caller's values, or with as many as fit.
func (a Axis) ticks(low, high float64, fit func([]plot.Tick) bool) []plot.Tick {
	if a.Ticks != nil {
		out := make([]plot.Tick, len(a.Ticks))
		for i, v := range a.Ticks {
			out[i] = plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)}
		}
		return out
	}
	choose := linearTicks
	if a.Log {
		choose = logTicks
	}
	marks := choose(low, high, fit)
	// Rounding may put a mark just beyond an end of the axis, where plots leave no room for its label.
	for i := range marks {
		marks[i].Value = min(max(marks[i].Value, low), high)
	}
	return marks
}

// linearTicks steps by 1, 2 or 5 times a power of ten. It returns at most 8 ticks, which are easy to read.
func linearTicks(low, high float64, fit func([]plot.Tick) bool) []plot.Tick {
	power := math.Floor(math.Log10(max((high-low)/8, 1e-300)))
	for ; ; power++ {
		for _, m := range []float64{1, 2, 5} {
			step := m * math.Pow(10, power)
			first, last := math.Ceil(low/step-1e-9), math.Floor(high/step+1e-9)
			if last-first+1 > 8 {
				continue
			}
			var out []plot.Tick
			for k := first; k <= last; k++ {
				out = append(out, plot.Tick{Value: k * step, Label: tickLabel(k*step, int(power))})
			}
			if len(out) <= 2 || fit(out) {
				return out
			}
		}
	}
}

// tickLabel formats a multiple of a power of ten. It avoids long rows of zeros on either side of the point.
func tickLabel(v float64, power int) string {
	a := math.Abs(v)
	if a < 1e6 && power >= -6 {
		return Fixed(v, max(0, -power))
	}
	return exponent(v, max(6, int(math.Floor(math.Log10(max(a, 1e-320))))-power+1))
}

// exponent formats like 2e6, with so many digits at most.
func exponent(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	mantissa, e, found := strings.Cut(s, "e")
	if !found {
		return s
	}
	n, _ := strconv.Atoi(e)
	return mantissa + "e" + strconv.Itoa(n)
}

// logTicks marks 1, 2, 3, 5 and 7 times the powers of ten, or 1, 2 and 5, or every power, every other and so on.
func logTicks(low, high float64, fit func([]plot.Tick) bool) []plot.Tick {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	marks := func(multiples []float64, every int) []plot.Tick {
		var out []plot.Tick
		for e := first; e <= last; e++ {
			for _, m := range multiples {
				v, _ := strconv.ParseFloat(strconv.Itoa(int(m))+"e"+strconv.Itoa(e), 64)
				if v >= low*(1-1e-9) && v <= high*(1+1e-9) && (e-first)%every == 0 {
					out = append(out, plot.Tick{Value: v, Label: logLabel(v)})
				}
			}
		}
		return out
	}
	between := marks([]float64{2, 3, 4, 5, 6, 7, 8, 9}, 1)
	for _, multiples := range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}} {
		out := marks(multiples, 1)
		if len(out) < 2 {
			return linearTicks(low, high, fit)
		}
		if len(out) <= 8 && fit(out) {
			return withMinor(out, between)
		}
	}
	for every := 1; ; every++ {
		if out := marks([]float64{1}, every); len(out) <= 2 || len(out) <= 8 && fit(out) {
			if every > 1 {
				return out
			}
			return withMinor(out, between)
		}
	}
}

// withMinor adds the ticks that have no label yet, without one.
func withMinor(labelled, all []plot.Tick) []plot.Tick {
	out := slices.Clone(labelled)
	for _, t := range all {
		if !slices.ContainsFunc(labelled, func(l plot.Tick) bool { return l.Value == t.Value }) {
			out = append(out, plot.Tick{Value: t.Value})
		}
	}
	return out
}

func logLabel(v float64) string {
	if v >= 1e-4 && v < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return exponent(v, 6)
}
