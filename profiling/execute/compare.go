package execute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/profiling/measure"
	"miglab/reports"
)

// Compare compares the times of a plan with those of its execution. It returns a row for each task, by planned end;
// failed tasks have no row. from describes the run. A schedule without an algorithm is called unnamed.
func Compare(from datasets.Provenance, p schedule.Problem, plan, execution schedule.Schedule) []datasets.ExecutionTime {
	ran := map[int]schedule.Placement{}
	for _, pl := range execution.Placements {
		ran[pl.Task] = pl
	}
	var rows []datasets.ExecutionTime
	for _, pl := range plan.Placements {
		r, ok := ran[pl.Task]
		if !ok {
			continue
		}
		rows = append(rows, datasets.ExecutionTime{
			Provenance: from, Algorithm: Algorithm(plan), Task: p.Tasks[pl.Task].Name,
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

// Deviation returns how much later than simulated something happened, in percent of the real time, as in FAR Table 3
// and DRL Table 3.
func Deviation(simulated, measured mig.Seconds) float64 {
	return 100 * (1 - float64(simulated/measured))
}

// Table shows the rows of a schedule like FAR Table 3 and DRL Table 3. An asterisk marks the critical
// task, which determines the makespan. If another task determines the real makespan, two asterisks mark it.
func Table(rows []datasets.ExecutionTime) reports.Table {
	t := reports.Table{Columns: reports.Left("Task").Right("Simulated end (s)", "Real end (s)", "Deviation (%)")}
	var lastSimulated, lastReal datasets.ExecutionTime // the rows that end last
	for _, r := range rows {
		if r.SimulatedEnd > lastSimulated.SimulatedEnd {
			lastSimulated = r
		}
		if r.RealEnd > lastReal.RealEnd {
			lastReal = r
		}
	}
	for _, r := range rows {
		name := r.Task
		switch r.Task {
		case lastSimulated.Task:
			name += " *"
		case lastReal.Task:
			name += " **"
		}
		t.Row(name, reports.Cells(2, float64(r.SimulatedEnd), float64(r.RealEnd), r.Deviation))
	}
	title := fmt.Sprintf("Simulated and real end of %d tasks, %s", len(rows), lastSimulated.Algorithm)
	t.Title = measure.TitleWithSource(title, lastSimulated.Provenance)
	ends := reports.Cells(2, float64(lastSimulated.SimulatedEnd), float64(lastReal.RealEnd),
		Deviation(lastSimulated.SimulatedEnd, lastReal.RealEnd))
	t.Notes = append(t.Notes, fmt.Sprintf("Makespan: %s s simulated, %s s real (%s %%).", ends[0], ends[1], ends[2]))
	last := "* ends last."
	if lastSimulated.Task != lastReal.Task {
		last = "* ends last as simulated, ** for real."
	}
	t.Notes = append(t.Notes, last)
	return t
}

// Chart draws the plan and the execution on one time axis. At least one task must have ended. from describes the run.
func Chart(from datasets.Provenance, p schedule.Problem, plan, execution schedule.Schedule) reports.Gantt {
	return reports.Gantt{Title: measure.TitleWithSource(Algorithm(plan), from), Panels: []reports.GanttPanel{
		reports.NewGanttPanel("simulated", p, plan),
		reports.NewGanttPanel("real", p, execution),
	}}
}
