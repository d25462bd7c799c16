package track

import (
	"context"
	"fmt"
	"time"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Dispatch is the track of jobs with deadlines on GPUs whose partitions never change (deadline report 2.4).
var Dispatch = Register(Track{
	Name: algo.TrackDispatch, Order: 4,
	Data: task.Queue{}.Kind(), GPU: "A100", Count: oneGPU,
	Boards: []Board{{Metric: "late_percent"}, {Metric: MetricEnergy, Aside: "late_percent"}},
	Try: func(a algo.Algorithm, p Problem) error {
		_, err := newDispatcher(a, p)
		return err
	},
	Solve: func(ctx context.Context, a algo.Algorithm, p Problem) (Answer, error) {
		d, err := newDispatcher(a, p)
		if err != nil {
			return Answer{}, err
		}
		in := payload[task.Queue](p)
		var result sim.DispatchResult
		took, err := simulate(ctx, d, func() (err error) {
			result, err = sim.RunDispatch(in.Jobs, in.Fleet, d)
			return err
		})
		if err != nil {
			return Answer{Took: took}, invalidIf[*sim.ChoiceError](err)
		}
		return dispatchAnswer(in, &result, took), nil
	},
	SolveTogether: dispatchTogether,
})

// dispatchTogether runs one [sim.BatchDispatcher] on several days side by side. It is made for the first day; by its
// contract it draws no random numbers, so the seeds of the days may differ. Days on different fleets are an error.
func dispatchTogether(_ context.Context, a algo.Algorithm, problems []Problem) ([]Answer, error) {
	d, err := newDispatcher(a, problems[0])
	if err != nil {
		return nil, err
	}
	batch, ok := d.(sim.BatchDispatcher)
	if !ok {
		return nil, fmt.Errorf("%s says that it solves instances together; it is a %T and no sim.BatchDispatcher", a.ID,
			d)
	}
	days := make([]task.Queue, len(problems))
	for i, p := range problems {
		days[i] = payload[task.Queue](p)
		if one, first := &days[i].Fleet, &days[0].Fleet; one.Slices() != first.Slices() ||
			one.Preemptive != first.Preemptive {
			return nil, fmt.Errorf("%s decides for days on the same fleet only", a.ID)
		}
	}
	start := time.Now()
	results, err := sim.RunDispatches(days, batch)
	if err != nil {
		return nil, err
	}
	share := time.Since(start) / time.Duration(len(days))
	answers := make([]Answer, len(days))
	for i := range results {
		answers[i] = dispatchAnswer(days[i], &results[i], share)
	}
	return answers, nil
}

func dispatchAnswer(in task.Queue, result *sim.DispatchResult, took time.Duration) Answer {
	return Answer{
		Metrics: result.Metrics(), Took: took,
		History: func() schedule.History { return dispatchHistory(in, result.Runs) },
	}
}

// dispatchHistory returns the history of a day. runs lists the stays of each job in order of time; the last one decides
// whether the job is late.
func dispatchHistory(in task.Queue, runs []sim.Run) schedule.History {
	h := schedule.History{Due: true, Work: make([]schedule.Work, len(in.Jobs))}
	var sizes []int // the compute slices of each instance of the fleet
	for _, p := range in.Fleet.Partitions {
		for _, instance := range p {
			sizes = append(sizes, int(instance.Size()))
			h.Slices += int(instance.Size())
		}
	}
	seconds := func(m task.Minutes) mig.Seconds { return mig.Seconds(60 * m) }
	for i, j := range in.Jobs {
		h.Work[i].Arrival = seconds(j.Arrival)
	}
	for _, r := range runs {
		w := &h.Work[r.Job]
		w.Stays = append(w.Stays, schedule.Stay{Start: seconds(r.Start), End: seconds(r.End), Slices: sizes[r.Slice]})
		w.Late = r.End > in.Jobs[r.Job].Deadline
	}
	return h
}

func newDispatcher(a algo.Algorithm, p Problem) (sim.Dispatcher, error) {
	in := payload[task.Queue](p)
	return a.Dispatcher(sim.DispatchSetting{
		Seed: p.Seed, Slices: in.Fleet.Slices(), Preemptive: in.Fleet.Preemptive, NumPy: in.NumPy,
	})
}

// oneGPU is the [Track.Count] of tracks whose payload already says how many GPUs there are.
func oneGPU(task.Payload) int { return 1 }
