package drl

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

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
	// name is the paper's name of the state. after is the action that led to it.
	name, after string
	partition   mig.Partition
	// tasks are those that run, by instance.
	tasks   map[mig.Instance]running
	classes []class
	// reconfigured says that the last action was a direct reconfiguration (6.5.2).
	reconfigured bool
}

// A class is a number of tasks with equal times.
type class struct {
	name  string
	times map[mig.Slices]mig.Seconds // levels, by size
	count int
}

// A running task keeps its instance busy.
type running struct {
	name    string
	busyFor mig.Seconds // levels
}

// pass lets time pass without a decision.
func (s state) pass(by mig.Seconds) state {
	later := map[mig.Instance]running{}
	for on, r := range s.tasks {
		if r.busyFor > by {
			later[on] = running{r.name, r.busyFor - by}
		}
	}
	s.tasks = later
	return s
}

// advance carries out the action Advance: the next instance becomes free.
func (s state) advance() state {
	next := mig.Seconds(math.Inf(1))
	for _, r := range s.tasks {
		next = min(next, r.busyFor)
	}
	s.reconfigured = false
	return s.pass(next)
}

// execute puts a task of the i-th class on an instance.
func (s state) execute(i int, on mig.Instance) state {
	s.classes = slices.Clone(s.classes)
	c := s.classes[i]
	s.classes[i].count--
	if s.classes[i].count == 0 {
		s.classes = slices.Delete(s.classes, i, i+1)
	}
	s.reconfigured, s.tasks = false, maps.Clone(s.tasks)
	s.tasks[on] = running{c.name, c.times[on.Size()]}
	return s
}

// timeUntilFree returns the time until all instances that a reconfiguration changes are free.
func (s state) timeUntilFree(to mig.Partition) (t mig.Seconds) {
	for on, r := range s.tasks {
		if !slices.Contains(to, on) {
			t = max(t, r.busyFor)
		}
	}
	return t
}

// reconfigure carries out the action DIRECT RECONFIG, which waits for the slices that it changes.
func (s state) reconfigure(to mig.Partition) state {
	s = s.pass(s.timeUntilFree(to))
	s.partition, s.reconfigured = to, true
	return s
}

// actions lists the possible actions (4.2). With direct, a reconfiguration waits for its slices and never follows
// another.
func (s state) actions(direct bool) (out []string) {
	if len(s.tasks) > 0 {
		out = append(out, "Advance")
	}
	for _, equivalent := range mig.MustLookup("A100").Classes() {
		to := equivalent[0] // the canonical one
		if !slices.Equal(to, s.partition) && (direct && !s.reconfigured || !direct && s.timeUntilFree(to) == 0) {
			out = append(out, "to "+to.String())
		}
	}
	for _, c := range s.classes {
		for i, in := range s.partition {
			if _, busy := s.tasks[in]; !busy {
				out = append(out, fmt.Sprintf("%s on I%d", c.name, i+1))
			}
		}
	}
	return out
}

// busySlices returns how long each slice is busy.
func (s state) busySlices() (out [mig.MaxSize]mig.Seconds) {
	for on, r := range s.tasks {
		for i := range on.Size() {
			out[on.Start+i] = r.busyFor
		}
	}
	return out
}

func (s state) batch() string {
	return strings.Join(figures.Map(s.classes, func(c class) string {
		return fmt.Sprintf("%d × %s", c.count, c.name)
	}), ", ")
}

// highlighted is the task that panels highlight.
const highlighted = "C1"

// panel draws the time until each slice is free.
func (s state) panel() reports.GanttPanel {
	p := reports.GanttPanel{Title: s.name + ": " + s.partition.String(), GPU: mig.MustLookup("A100")}
	for _, in := range s.partition {
		r, busy := s.tasks[in]
		if r.name == highlighted {
			p.Highlight = []string{highlighted}
		}
		if busy {
			p.Bars = append(p.Bars, schedule.Bar{
				Kind: schedule.RunBar, Slice: in.Start, Width: in.Size(), End: r.busyFor, Label: r.name,
			})
		}
	}
	return p
}

// exampleState returns timestep t of Fig. 6 by the text (6.5.2). On 2-1-1-3, the third instance is free, the first
// becomes free next, and the second after 4 levels. One task of class C1 and four of C2 wait. All other times are ours.
func exampleState() state {
	p := partitionOf("2-1-1-3")
	return state{
		partition: p, tasks: map[mig.Instance]running{p[0]: {"T1", 2}, p[1]: {"T2", 4}, p[3]: {"T3", 9}},
		classes: []class{
			{highlighted, map[mig.Slices]mig.Seconds{1: 12, 2: 6, 3: 4, 4: 3, 7: 2}, 1},
			{"C2", map[mig.Slices]mig.Seconds{1: 8, 2: 4, 3: 3, 4: 2, 7: 2}, 4},
		},
	}
}

func partitionOf(text string) mig.Partition {
	return spec.Must(mig.MustLookup("A100").ParsePartition(text))
}

func (s state) named(name, after string) state {
	s.name, s.after = name, after
	return s
}

// evolution shows states with their possible actions in a table, and draws them.
func evolution(d *figures.Data, figure, title string, direct bool, states []state, note string) {
	t := d.Table(figure, title,
		reports.Left("timestep", "after", "configuration", "free in", "batch").Right("actions").Left("which"),
		"free in: levels until S0 to S6, the paper's S1 to S7, are free; in the figure a level is drawn as 1 s",
		"from the text: the configuration, the free instance, that S0 and S1 are free before S2 and S2 after 4 "+
			"levels, and the batch; the other times are chosen",
		"levels of C1 on 1, 2, 3, 4, 7 slices: 12, 6, 4, 3, 2; of C2: 8, 4, 3, 2, 2",
		note)
	chart := reports.Gantt{Title: t.Title, Height: 280, Time: "Time [levels]"}
	for _, s := range states {
		actions := s.actions(direct)
		t.Row(s.name, s.after, s.partition, strings.Trim(fmt.Sprint(s.busySlices()), "[]"), s.batch(), len(actions),
			strings.Join(actions, ", "))
		chart.Panels = append(chart.Panels, s.panel())
	}
	d.Figure(figure, t.Title, chart)
}

func figure6(d *figures.Data) {
	first := exampleState()
	second := first.execute(0, first.partition[2])
	states := []state{
		first.named("t", ""), second.named("t + 1", "C1 on I3"),
		second.advance().named("t + 2", "Advance"),
	}
	evolution(d, "figure6", "Fig. 6. The scheduler's state and its evolution after two actions",
		false, states, "Fig. 4 is a diagram of agent and environment without data and is left out")
	for _, s := range states {
		d.Under("")[claim.Of("actions at "+s.name)] = figures.Exactly(len(s.actions(false)))
	}
}

func figure14(d *figures.Data) {
	first, to := exampleState(), partitionOf("4-3")
	second := first.reconfigure(to)
	third := second.execute(0, to[0])
	states := []state{first.named("t", ""), second.named("t + 1", "to 4-3"), third.named("t + 2", "C1 on I1")}
	advances := 0
	for s := first; s.timeUntilFree(to) > 0; s = s.advance() {
		advances++
	}
	times := first.classes[0].times
	evolution(d, "figure14", "Fig. 14. The state of Fig. 6 with direct reconfiguration",
		true, states, fmt.Sprintf("the task of C1 ends %v levels after t, and %v where Fig. 6 puts it on one slice "+
			"at once",
			first.timeUntilFree(to)+times[4], times[1]))
	d.Under("")[claim.Of("Advance actions before 4-3 without it")] = figures.Exactly(advances)
	waits := float64(first.timeUntilFree(to))
	d.TakeInputs("time of the example",
		map[claim.Cell]float64{claim.Of("time that the reconfiguration to 4-3 waits"): waits})
}
