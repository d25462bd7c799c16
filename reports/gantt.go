package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// A Gantt chart shows schedules side by side, like the FAR paper (Figs. 5-9 and 12). Slices are horizontal and time
// grows downwards. Each task has its own colour in all panels; creations of instances are cyan, destructions red.
// Idle slices are hatched up to the end of the last task.
//
// Names that do not fit in a rectangle are replaced by numbers, which the legend explains with the tasks' colours.
// Where a number does not fit either, the colour alone tells the task. The legend also has the operations that are
// thick enough to be seen. Panels that do not fit side by side are drawn in several rows of equal height.
type Gantt struct {
	Title   string
	Panels  []GanttPanel
	Outline string // says in the legend what a bold outline means; see [GanttPanel]
	Time    string // the label of the time axis; "" means "Time [s]"
	// Tasks are names of tasks in the order of numbers and colours. Others follow as they appear.
	Tasks []string
	// Height is the height of the rows together in points; 0 means 380 for each row. The image is as wide as
	// [PageWidth], less for few slices, and more if the names of the slices need it.
	Height vg.Length
}

// ShortNames names the tasks of batches of equal length a1, a2, ..., b1, and so on.
func ShortNames(tasks task.Batch, length int) task.Batch {
	out := slices.Clone(tasks)
	for i := range out {
		out[i].Name = fmt.Sprintf("%c%d", 'a'+i/length, i%length+1)
	}
	return out
}

// TaskNames lists the names of tasks.
func TaskNames(tasks task.Batch) []string {
	return nearest.Names(tasks, func(t task.Task) string { return t.Name })
}

// A GanttPanel is one schedule. Its bars and marks lie on its GPUs and at finite instants, as those of [NewGanttPanel].
type GanttPanel struct {
	Title     string   // the heading, for example the algorithm's name
	GPU       *mig.GPU // the model
	Count     int      // the number of GPUs; 0 means 1
	Bars      []schedule.Bar
	Marks     []TimeMark
	Highlight []string // lists the tasks that get a bold outline
}

// A TimeMark is a dashed line across a panel.
type TimeMark struct {
	At    mig.Seconds
	Label string // written beside the panel, or below the line of a panel's only mark if all bars end before it
}

// NewGanttPanel returns the panel of a schedule that has passed [schedule.Check], with its makespan ω marked.
func NewGanttPanel(title string, p schedule.Problem, s schedule.Schedule) GanttPanel {
	makespan := s.Makespan()
	return GanttPanel{
		Title: title, GPU: p.GPU, Count: p.GPUs(),
		Bars:  schedule.Bars(p, s),
		Marks: []TimeMark{{makespan, "ω = " + Duration(makespan)}},
	}
}

func (p *GanttPanel) gpus() int { return max(p.Count, 1) }

// end returns the instant at which the last task ends; 0 without tasks.
func (p *GanttPanel) end() (end mig.Seconds) {
	for _, b := range p.Bars {
		if b.Kind == schedule.RunBar {
			end = max(end, b.End)
		}
	}
	return end
}

// last returns the latest instant that the panel shows.
func (p *GanttPanel) last() mig.Seconds {
	var t mig.Seconds
	for _, b := range p.Bars {
		t = max(t, b.End)
	}
	for _, m := range p.Marks {
		t = max(t, m.At)
	}
	return t
}

func (f Gantt) validate() error {
	if len(f.Panels) == 0 {
		return refuse(f.Title, "", "it has no panels")
	}
	for i, p := range f.Panels {
		if len(p.Bars) == 0 {
			return refuse(f.Title, fmt.Sprintf("panel %d %q", i+1, p.Title), "it has no bars")
		}
	}
	return nil
}
