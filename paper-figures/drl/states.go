package drl

import (
	"slices"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/spec"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/reports"
)

// A state is what the scheduler sees on an A100 (4.1), with times in levels. Reconfiguring takes a few hundredths of a
// level and is ignored.
type state struct {
	name      string // the paper's
	partition mig.Partition
	// tasks and left have the task of each instance and how long it still runs, 0 on a free instance.
	tasks   []string
	left    []mig.Seconds
	classes int // the number of classes of waiting tasks
}

// exampleState returns timestep t of Fig. 6 by the text (6.5.2): on 2-1-1-3 the third instance is free, the first
// becomes free next, and the second after 4 levels. One task of class C1 and four of C2 wait. All other times are ours.
func exampleState() state {
	return state{"t", partitionOf("2-1-1-3"), []string{"T1", "T2", "", "T3"}, []mig.Seconds{2, 4, 0, 9}, 2}
}

func partitionOf(text string) mig.Partition {
	return spec.Must(mig.MustLookup("A100").ParsePartition(text))
}

// pass lets time pass without a decision.
func (s state) pass(name string, by mig.Seconds) state {
	s.name, s.left = name, figures.Map(s.left, func(left mig.Seconds) mig.Seconds { return max(0, left-by) })
	return s
}

// executeC1 puts the only task of class C1 on an instance, for a time in levels.
func (s state) executeC1(name string, instance int, levels mig.Seconds) state {
	s.name, s.tasks, s.left = name, slices.Clone(s.tasks), slices.Clone(s.left)
	s.tasks[instance], s.left[instance] = "C1", levels
	s.classes--
	return s
}

// delay returns the time until all instances that a reconfiguration changes are free.
func (s state) delay(to mig.Partition) (levels mig.Seconds) {
	for i, in := range s.partition {
		if !slices.Contains(to, in) {
			levels = max(levels, s.left[i])
		}
	}
	return levels
}

// actions counts the possible actions (4.2): to advance, to reconfigure free instances, and to execute tasks.
func (s state) actions() (n int) {
	if slices.Max(s.left) > 0 {
		n++
	}
	n += figures.Count(mig.MustLookup("A100").Classes(), func(equivalent []mig.Partition) bool {
		to := equivalent[0] // the canonical one
		return !slices.Equal(to, s.partition) && s.delay(to) == 0
	})
	return n + s.classes*figures.Count(s.left, func(left mig.Seconds) bool { return left == 0 })
}

// evolution draws states: the time until each slice is free.
func evolution(d *figures.Data, figure, title string, states ...state) {
	chart := reports.Gantt{Title: title, Height: 280, Time: "Time [levels]"}
	for _, s := range states {
		p := reports.GanttPanel{GPU: mig.MustLookup("A100"), Highlight: []string{"C1"}}
		p.Title = s.name + ": " + s.partition.String()
		for i, in := range s.partition {
			if s.left[i] > 0 {
				p.Bars = append(p.Bars, schedule.Bar{
					Kind: schedule.RunBar, Slice: in.Start, Width: in.Size(), End: s.left[i], Label: s.tasks[i],
				})
			}
		}
		chart.Panels = append(chart.Panels, p)
	}
	d.Figure(figure, title, chart)
}

func figure6(d *figures.Data) {
	first := exampleState()
	second := first.executeC1("t + 1", 2, 12)
	states := []state{first, second, second.pass("t + 2", 2)}
	evolution(d, "figure6", "Fig. 6. The scheduler's state and its evolution after two actions", states...)
	for _, s := range states {
		d.Under("")[claim.Of("actions at "+s.name)] = figures.Exactly(s.actions())
	}
}

func figure14(d *figures.Data) {
	first, to := exampleState(), partitionOf("4-3")
	delay := first.delay(to)
	second := state{"t + 1", to, []string{"", "T3"}, []mig.Seconds{0, first.left[3] - delay}, first.classes}
	evolution(d, "figure14", "Fig. 14. The state of Fig. 6 with direct reconfiguration",
		first, second, second.executeC1("t + 2", 0, 3))
	// Advance ends when an instance becomes free, and no two become free at once.
	advances := figures.Count(first.left, func(left mig.Seconds) bool { return left > 0 && left <= delay })
	d.Under("")[claim.Of("Advance actions before 4-3 without it")] = figures.Exactly(advances)
	d.TakeInputs("time of the example",
		map[claim.Cell]float64{claim.Of("time that the reconfiguration to 4-3 waits"): float64(delay)})
}
