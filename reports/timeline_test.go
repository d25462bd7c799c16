package reports

import (
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// sampleTimeline has two algorithms on jobs of which some end when others start or arrive.
func sampleTimeline() Timeline {
	history := func(length mig.Seconds) schedule.History {
		h := schedule.History{Slices: 14, Due: true}
		for i := range 20 {
			start := mig.Seconds(i/2) * length
			stay := schedule.Stay{Start: start, End: start + length, Slices: 7 - i%2}
			h.Work = append(h.Work, schedule.Work{
				Arrival: 40 * mig.Seconds(i/2), Late: i > 11, Stays: []schedule.Stay{stay},
			})
		}
		return h
	}
	return Timeline{
		Title: "Jobs with deadlines on two GPUs",
		Lines: []TimelineLine{{"least-slack", history(80)}, {"first come, first served", history(96)}},
	}
}

// The drawn lines have at every instant the value that a count of the work gives there.
func TestTimelineDrawsTheCounts(t *testing.T) {
	f := sampleTimeline()
	p := f.panels()
	if len(p.Charts) != 3 {
		t.Fatalf("%d panels, want 3", len(p.Charts))
	}
	const minute = 60 // the unit of the axis
	for k, l := range f.Lines {
		for at := mig.Seconds(0); at <= l.End(); at += 8 {
			var want [3]float64
			for _, w := range l.Work {
				s := w.Stays[0]
				switch {
				case s.Start <= at && at < s.End:
					want[0] += float64(s.Slices)
				case w.Arrival <= at && at < s.Start:
					want[1]++
				case w.Late && at >= s.End:
					want[2]++
				}
			}
			for i := range p.Charts {
				s := p.Charts[i].(Lines).Series[k]
				got := 0.0
				for n, x := range s.X {
					if x <= float64(at/minute) {
						got = s.Y[n]
					}
				}
				if got != want[i] {
					t.Errorf("%s, panel %d at %v s: %v, want %v", l.Name, i, at, got, want[i])
				}
			}
		}
	}
	for _, ch := range p.Charts { // a common time axis
		if x := ch.(Lines).X; x.From != 0 || x.To != p.Charts[0].(Lines).X.To {
			t.Errorf("the time axes differ: %v", x)
		}
	}
	if _, err := (Timeline{}).page(); err == nil {
		t.Error("a timeline without lines is drawn")
	}
}
