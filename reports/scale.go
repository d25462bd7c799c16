package reports

import (
	"strconv"
)

// A Cost is what an algorithm took for an instance of a size.
type Cost struct {
	Algorithm string
	// Size is the number of tasks or GPUs.
	Size int
	// Seconds is the time of the decisions, and MB the memory that was allocated altogether,
	// checking the answer included.
	Seconds, MB float64
}

// CostTable lists costs.
func CostTable(title string, costs []Cost) Table {
	t := Table{Title: title, Columns: Left("algorithm").Right("n", "seconds", "allocated_mb")}
	for _, c := range costs {
		t.Rows = append(t.Rows, []string{c.Algorithm, strconv.Itoa(c.Size), strconv.FormatFloat(c.Seconds, 'g', 4, 64), strconv.FormatFloat(c.MB, 'g', 4, 64)})
	}
	return t
}

// CostFigure draws time and memory against size, a few algorithms a panel; both are logarithmic.
func CostFigure(title, size string, costs []Cost) Panels {
	seconds, memory := map[string]*Series{}, map[string]*Series{}
	var names []string
	for _, c := range costs {
		if seconds[c.Algorithm] == nil {
			names = append(names, c.Algorithm)
			seconds[c.Algorithm], memory[c.Algorithm] = &Series{Name: c.Algorithm, Markers: true}, &Series{Name: c.Algorithm, Markers: true}
		}
		const least = 1e-6 // a logarithm needs more than 0
		for s, y := range map[*Series]float64{seconds[c.Algorithm]: c.Seconds, memory[c.Algorithm]: c.MB} {
			s.X, s.Y = append(s.X, float64(c.Size)), append(s.Y, max(y, least))
		}
	}
	const perPanel = 5
	x := Axis{Label: size, Log: true}
	out := Panels{Title: title}
	for len(names) > 0 {
		n := min(perPanel, len(names))
		time := Lines{X: x, Y: Axis{Label: "Time [s]", Log: true}}
		space := Lines{X: x, Y: Axis{Label: "Allocated [MB]", Log: true}}
		for _, name := range names[:n] {
			time.Series, space.Series = append(time.Series, *seconds[name]), append(space.Series, *memory[name])
		}
		out.Charts = append(out.Charts, time, space)
		names = names[n:]
	}
	return out
}
