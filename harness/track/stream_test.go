package track_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/harness/track"
)

// early is a scheduler that runs all tasks on the whole GPU from an instant on, which may be
// before they are released.
type early struct{ from mig.Seconds }

func (e early) ScheduleStream(_ context.Context, p algo.Problem, _ []int) (schedule.Schedule, error) {
	whole := p.GPU.Partitions()[0][0]
	s := schedule.Schedule{GPU: p.GPU, Model: p.Model, Operations: []schedule.Operation{{Instance: whole, End: whole.Profile.Create}}}
	at := e.from
	for i := range p.Tasks {
		end := at + p.Tasks[i].On(whole.Size())
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: whole, Start: at, End: end})
		at = end
	}
	return s, nil
}

var _ = algo.Register(algo.Spec{
	Name: "test-early", Version: 1, Cite: "test", Summary: "test",
	Params: []algo.Param{{Name: "from", Default: "10", Doc: "test"}},
	New:    algo.NewStream(func(a algo.Args) (algo.Stream, error) { return early{mig.Seconds(a.Float("from"))}, nil }),
})

// By hand: two tasks arrive at 4 and 10 s in one batch. From 10 s on they take 5 and 2 s on the
// whole GPU; the second would take 1 s on a part of it.
func TestFlow(t *testing.T) {
	g := mig.MustLookup("A100")
	in := task.Batches{
		Tasks: task.Batch{
			task.New("a", map[mig.Slices]mig.Seconds{7: 5}),
			task.New("b", map[mig.Slices]mig.Seconds{7: 2, 3: 1}),
		},
		Lengths: []int{2}, Arrivals: []mig.Seconds{4, 10},
	}
	solve := func(id string, in task.Batches) (map[string]float64, error) {
		a, err := track.Stream.Solve(context.Background(), algo.MustParse(id), track.Problem{GPU: g, Count: 1, Payload: in})
		out := map[string]float64{}
		for _, m := range a.Metrics {
			out[m.Name] = m.Value
		}
		return out, err
	}
	got, err := solve("test-early", in)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"flow_mean_s": 9, "flow_max_s": 11, "stretch_mean": (2.2 + 7) / 2, "stretch_max": 7, "makespan_s": 17} {
		if math.Abs(got[name]-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	// Before the last task of the batch is there, nothing of it starts.
	_, err = solve("test-early?from=9", in)
	if _, ok := errors.AsType[*track.InvalidError](err); !ok {
		t.Errorf("a start before the release: %v", err)
	}
	in.Arrivals = nil
	if got, err = solve("test-early", in); err != nil || len(got) != 4 {
		t.Errorf("without arrivals: %v, %v; want the four metrics of a schedule", got, err)
	}
}

// A contest of a track that does not exist would be lost.
func TestContestsAreThoseOfTracks(t *testing.T) {
	text, err := os.ReadFile("contests.csv")
	rows := strings.Count(string(text), "\n") - strings.Count("\n"+string(text), "\n#")
	for _, x := range track.All() {
		rows -= len(x.Contests)
	}
	if err != nil || rows != 0 {
		t.Errorf("%d contests are of no track; %v", rows, err)
	}
}
