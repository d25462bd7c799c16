package reports

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// ticks returns the ticks of an axis between two places ([Axis.place]): the caller's values, or the ticks of choose.
// Every other label is left out until the labels fit on the length.
func (a *Axis) ticks(low, high float64, length vg.Length, size func(string) vg.Length) (out plot.ConstantTicks) {
	for _, v := range a.Ticks {
		out = append(out, plot.Tick{Value: a.place(v), Label: tickLabel(v)})
	}
	if a.Ticks == nil {
		out = a.choose(low, high)
	}
	for !labelsFit(out, low, high, length, size) {
		odd := false
		for i := range out {
			if out[i].Label == "" {
				continue
			}
			if odd {
				out[i].Label = ""
			}
			odd = !odd
		}
	}
	return out
}

// labelsFit reports whether labels on an axis of a length keep apart.
func labelsFit(ticks plot.ConstantTicks, low, high float64, length vg.Length, size func(string) vg.Length) bool {
	const apart = textSize / 2
	end := -2 * length
	for _, t := range ticks {
		if t.Label == "" {
			continue
		}
		at, half := length*vg.Length((t.Value-low)/(high-low)), size(t.Label)/2
		if at-half < end+apart {
			return false
		}
		end = at + half
	}
	return true
}

// choose returns gonum's ticks of a linear axis, also for a logarithmic one over less than a decade. On a longer
// logarithmic axis it marks the digits of each power of ten. Labels are then on the powers and, over at most two
// decades, on the digits 2 and 5.
func (a *Axis) choose(low, high float64) (out plot.ConstantTicks) {
	if !a.Log || high-low < 1 {
		from, to := low, high
		if a.Log {
			from, to = math.Pow(10, low), math.Pow(10, high)
		}
		for _, t := range (plot.DefaultTicks{}).Ticks(from, to) {
			out = append(out, plot.Tick{Value: a.place(t.Value), Label: tickLabel(t.Value)})
		}
		slices.SortFunc(out, func(a, b plot.Tick) int { return cmp.Compare(a.Value, b.Value) })
		return out
	}
	for power := math.Floor(low); power <= high; power++ {
		for digit := 1; digit < 10; digit++ {
			t := plot.Tick{Value: power + math.Log10(float64(digit))}
			if digit == 1 || high-low <= 2 && (digit == 2 || digit == 5) {
				t.Label = tickLabel(float64(digit) * math.Pow(10, power))
			}
			if t.Value >= low && t.Value <= high {
				out = append(out, t)
			}
		}
	}
	return out
}

// tickLabel formats a number with at most ten digits, which ticks that differ by little need.
func tickLabel(v float64) string {
	const digits = 10
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return strconv.FormatFloat(short, 'g', -1, 64)
}
