package tables

import (
	"fmt"

	"miglab/datasets"
	"miglab/harness/schedule"
	"miglab/profiling/execute"
	"miglab/profiling/measure"
	"miglab/reports"
)

// Execution shows the rows of a schedule like FAR Table 3 and DRL Table 3. An asterisk marks the critical
// task, which determines the makespan. If another task determines the real makespan, two asterisks mark it.
func Execution(rows []datasets.ExecutionTime) reports.Table {
	t := reports.Table{Columns: reports.Left("Task").Right("Simulated end (s)", "Real end (s)", "Deviation (%)")}
	var simulated, real datasets.ExecutionTime
	for _, r := range rows {
		if r.SimulatedEnd > simulated.SimulatedEnd {
			simulated = r
		}
		if r.RealEnd > real.RealEnd {
			real = r
		}
	}
	for _, r := range rows {
		name := r.Task
		switch r.Task {
		case simulated.Task:
			name += " *"
		case real.Task:
			name += " **"
		}
		cells := reports.Cells(2, float64(r.SimulatedEnd), float64(r.RealEnd), r.Deviation)
		t.Rows = append(t.Rows, append([]string{name}, cells...))
	}
	title := fmt.Sprintf("Simulated and real end of %d tasks, %s", len(rows), simulated.Algorithm)
	t.Title = measure.TitleWithSource(title, simulated.Provenance)
	ends := reports.Cells(2, float64(simulated.SimulatedEnd), float64(real.RealEnd),
		execute.Deviation(simulated.SimulatedEnd, real.RealEnd))
	t.Notes = append(t.Notes, fmt.Sprintf("Makespan: %s s simulated, %s s real (%s %%).", ends[0], ends[1], ends[2]))
	last := "* ends last."
	if simulated.Task != real.Task {
		last = "* ends last as simulated, ** for real."
	}
	t.Notes = append(t.Notes, last)
	return t
}

// Chart draws the plan and the execution on one time axis. At least one task must have ended. from describes the run.
func Chart(from datasets.Provenance, p schedule.Problem, planned, real schedule.Schedule) reports.Gantt {
	return reports.Gantt{Title: measure.TitleWithSource(execute.Algorithm(planned), from), Panels: []reports.GanttPanel{
		reports.NewGanttPanel("simulated", p, planned),
		reports.NewGanttPanel("real", p, real),
	}}
}
