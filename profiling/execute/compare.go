package execute

import (
	"cmp"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// Compare compares the times of a plan with the real ones. It returns a row for each task, by planned end; failed
// tasks have no row. from describes the run. A schedule without an algorithm is called unnamed.
func Compare(from datasets.Provenance, p schedule.Problem, planned, real schedule.Schedule) []datasets.ExecutionTime {
	happened := map[int]schedule.Placement{}
	for _, pl := range real.Placements {
		happened[pl.Task] = pl
	}
	var rows []datasets.ExecutionTime
	for _, pl := range planned.Placements {
		r, ok := happened[pl.Task]
		if !ok {
			continue
		}
		rows = append(rows, datasets.ExecutionTime{
			Provenance: from, Algorithm: Algorithm(planned), Task: p.Tasks[pl.Task].Name,
			Device: pl.GPU, Size: pl.Instance.Size(), Slice: pl.Instance.Start,
			SimulatedStart: pl.Start, SimulatedEnd: pl.End, RealStart: r.Start, RealEnd: r.End,
			Deviation: Deviation(pl.End, r.End),
		})
	}
	slices.SortFunc(rows, func(a, b datasets.ExecutionTime) int {
		return cmp.Or(cmp.Compare(a.SimulatedEnd, b.SimulatedEnd), cmp.Compare(a.Task, b.Task))
	})
	return rows
}

// Algorithm returns the algorithm of a schedule in one line.
func Algorithm(s schedule.Schedule) string {
	return cmp.Or(strings.Join(strings.Fields(s.Algorithm), " "), "unnamed")
}

// Deviation returns how much later than simulated something happened, in percent of the real time, as in both papers.
func Deviation(simulated, real mig.Seconds) float64 { return 100 * (1 - float64(simulated/real)) }
