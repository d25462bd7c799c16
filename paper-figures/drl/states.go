package drl

import (
	"fmt"
	"slices"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// A state is the state of the scheduler (4.1), with times in levels. It ignores the time of
// reconfiguring, a few hundredths of a level.
type state struct {
	gpu       *mig.GPU
	partition mig.Partition
	running   []running
	classes   []class
	// reconfigured says that the last action was a direct reconfiguration (6.5.2).
	reconfigured bool
}

// A running task keeps an instance busy for some time.
type running struct {
	name string
	on   mig.Instance
	left mig.Seconds
}

// A class is tasks of equal times.
type class struct {
	name  string
	times map[mig.Slices]mig.Seconds
	count int
}

func (s state) clone() state {
	s.running, s.classes = slices.Clone(s.running), slices.Clone(s.classes)
	return s
}

func (s state) pass(by mig.Seconds) state {
	s = s.clone()
	for i := range s.running {
		s.running[i].left -= by
	}
	s.running = slices.DeleteFunc(s.running, func(r running) bool { return r.left <= 0 })
	return s
}

// advance is the action Advance: the next instance becomes free.
func (s state) advance() state {
	next := s.running[0].left
	for _, r := range s.running {
		next = min(next, r.left)
	}
	return s.pass(next)
}

// execute puts a task of the i-th class on an instance.
func (s state) execute(i int, on mig.Instance) state {
	s = s.clone()
	c := &s.classes[i]
	s.running = append(s.running, running{c.name, on, c.times[on.Size()]})
	if c.count--; c.count == 0 {
		s.classes = slices.Delete(s.classes, i, i+1)
	}
	s.reconfigured = false
	return s
}

// until returns when all slices that a reconfiguration changes are free.
func (s state) until(to mig.Partition) (t mig.Seconds) {
	have, want := sizes(s.gpu, s.partition), sizes(s.gpu, to)
	for _, r := range s.running {
		for i := r.on.Start; i < r.on.Start+r.on.Size(); i++ {
			if have[i] != want[i] {
				t = max(t, r.left)
			}
		}
	}
	return t
}

// reconfigure is the action DIRECT RECONFIG, which waits for what it changes.
func (s state) reconfigure(to mig.Partition) state {
	s = s.pass(s.until(to))
	s.partition, s.reconfigured = to, true
	return s
}

// sizes is the vector (c_1, ..., c_K) of Definition 1.
func sizes(g *mig.GPU, p mig.Partition) []mig.Slices {
	c := make([]mig.Slices, g.ComputeSlices)
	for _, in := range p {
		for i := in.Start; i < in.Start+in.Size(); i++ {
			c[i] = in.Size()
		}
	}
	return c
}

// actions lists the possible actions (4.2). With direct, a reconfiguration waits for its
// slices, but none may follow another.
func (s state) actions(direct bool) []string {
	var out []string
	if len(s.running) > 0 {
		out = append(out, "Advance")
	}
	idle := func(in mig.Instance) bool {
		return !slices.ContainsFunc(s.running, func(r running) bool { return r.on == in })
	}
	for _, equivalent := range s.gpu.Classes() {
		to := equivalent[0]
		if !slices.Equal(to, s.partition) && (direct && !s.reconfigured || !direct && s.until(to) == 0) {
			out = append(out, "to "+to.String())
		}
	}
	for _, c := range s.classes {
		for i, in := range s.partition {
			if idle(in) {
				out = append(out, fmt.Sprintf("%s on I%d", c.name, i+1))
			}
		}
	}
	return out
}

func (s state) slicesLeft() string {
	left := make([]mig.Seconds, s.gpu.ComputeSlices)
	for _, r := range s.running {
		for i := r.on.Start; i < r.on.Start+r.on.Size(); i++ {
			left[i] = r.left
		}
	}
	return strings.Trim(fmt.Sprint(left), "[]")
}

func (s state) batch() string {
	var out []string
	for _, c := range s.classes {
		out = append(out, fmt.Sprintf("%d × %s", c.count, c.name))
	}
	return strings.Join(out, ", ")
}

// panel draws the time until each slice is free, and highlights the task that is put on one.
func (s state) panel(title string) reports.GanttPanel {
	p := reports.GanttPanel{Title: title + ": " + s.partition.String(), GPU: s.gpu}
	for _, r := range s.running {
		if r.name == "C1" {
			p.Highlight = []string{r.name}
		}
		p.Bars = append(p.Bars, schedule.Bar{Slice: r.on.Start, Width: r.on.Size(), End: r.left, Label: r.name})
	}
	return p
}

// exampleState is what the text says of timestep t of Fig. 6: 2-1-1-3, the third
// instance free, the first free first and the second after 4 levels (6.5.2); one task of
// class C1 and four of C2, which scale well to 4 slices. All other times are ours.
func exampleState() state {
	p := partitionOf("2-1-1-3")
	return state{
		gpu: mig.MustLookup("A100"), partition: p,
		running: []running{{"T1", p[0], 2}, {"T2", p[1], 4}, {"T3", p[3], 9}},
		classes: []class{
			{"C1", map[mig.Slices]mig.Seconds{1: 12, 2: 6, 3: 4, 4: 3, 7: 2}, 1},
			{"C2", map[mig.Slices]mig.Seconds{1: 8, 2: 4, 3: 3, 4: 2, 7: 2}, 4},
		},
	}
}

// partitionOf returns a partition of A100 that is part of the program.
func partitionOf(text string) mig.Partition {
	p, err := mig.MustLookup("A100").ParsePartition(text)
	if err != nil {
		panic(err)
	}
	return p
}

// A moment is a state with its name and the action that led to it.
type moment struct {
	name, action string
	state        state
}

// evolution lists moments with their possible actions, and draws them.
func evolution(figure, heading, drawn string, direct bool, ms []moment, note string) *figures.Output {
	t := reports.Table{
		Title:   heading,
		Columns: reports.Left("timestep", "after", "configuration", "free in", "batch").Right("actions").Left("which"),
		Notes: []string{
			"free in: levels until S0 to S6, the paper's S1 to S7, are free; in the figure a level is drawn as 1 s",
			"from the text: the configuration, the free instance, that S0 and S1 are free before S2 and S2 after 4 levels, and the batch; the other times are chosen",
			"levels of C1 on 1, 2, 3, 4, 7 slices: 12, 6, 4, 3, 2; of C2: 8, 4, 3, 2, 2",
			note,
		},
	}
	chart := reports.Gantt{Title: drawn, Height: 280}
	for _, m := range ms {
		actions := m.state.actions(direct)
		t.Rows = append(t.Rows, []string{
			m.name, m.action, m.state.partition.String(), m.state.slicesLeft(), m.state.batch(), fmt.Sprint(len(actions)), strings.Join(actions, ", "),
		})
		chart.Panels = append(chart.Panels, m.state.panel(m.name))
	}
	out := figures.Read(figures.Reading{Basis: "the preconditions of 4.2", Values: figures.Values{}})
	return out.Table(figure, t).Figure(figure, drawn, chart)
}

func figure6(*figures.Data) (*figures.Output, error) {
	first := exampleState()
	second := first.execute(0, first.partition[2])
	ms := []moment{{"t", "", first}, {"t + 1", "C1 on I3", second}, {"t + 2", "Advance", second.advance()}}
	out := evolution("figure6", "Fig. 6. The scheduler's state and its evolution after two actions", "Fig. 6. Time until slices are free, before and after two actions",
		false, ms, "Fig. 4 is a diagram of agent and environment without data and is left out")
	for _, m := range ms {
		out.Readings[0].Values["actions at "+m.name] = figures.Exactly(float64(len(m.state.actions(false))))
	}
	return out, nil
}

func figure14(*figures.Data) (*figures.Output, error) {
	first, to := exampleState(), partitionOf("4-3")
	second := first.reconfigure(to)
	ms := []moment{{"t", "", first}, {"t + 1", "to 4-3", second}, {"t + 2", "C1 on I1", second.execute(0, to[0])}}
	advances := 0
	for s := first; s.until(to) > 0; s = s.advance() {
		advances++
	}
	times := first.classes[0].times
	out := evolution("figure14", "Fig. 14. The state of Fig. 6 with direct reconfiguration", "Fig. 14. Time until slices are free, with a direct reconfiguration to 4-3",
		true, ms, fmt.Sprintf("the task of C1 ends %v levels after t, and %v where Fig. 6 puts it on one slice at once", first.until(to)+times[4], times[1]))
	out.Readings[0].Values["Advance actions before 4-3 without it"] = figures.Exactly(float64(advances))
	return out.Take("time of the example", map[string]float64{"time that the reconfiguration to 4-3 waits": float64(first.until(to))}), nil
}
