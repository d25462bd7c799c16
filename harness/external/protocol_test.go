//go:build unix

package external

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/algorithms/algotest"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// exchange returns the lines of the example for a track, or for plans or gangs, in PROTOCOL.md: "< " begins what the
// program reads, "> " what it writes.
func exchange(track string) []string {
	heading := "The track " + track
	if track == "plans" || track == "gangs" {
		heading = strings.ToUpper(track[:1]) + track[1:]
	}
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		panic(err)
	}
	_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
	_, section, opened := strings.Cut(section, "\n```\n< ")
	section, _, closed := strings.Cut(section, "\n```")
	if !found || !opened || !closed {
		panic("PROTOCOL.md has no example for the track " + track)
	}
	return strings.Split("< "+section, "\n")
}

// replay is a program that answers as the example for a track does, and fails if it is asked
// anything else.
func replay(track string) {
	in := bufio.NewReader(os.Stdin)
	for _, line := range exchange(track) {
		if answer, ok := strings.CutPrefix(line, "> "); ok {
			fmt.Println(answer)
			continue
		}
		if asked, err := in.ReadString('\n'); err != nil || "< "+asked != line+"\n" {
			fmt.Fprintf(os.Stderr, "PROTOCOL.md has\n%s\nasked was\n< %s", line, asked)
			os.Exit(1)
		}
	}
}

func TestExamplesOfTheProtocol(t *testing.T) {
	a30 := mig.MustLookup("A30")
	tasks := task.Batch{
		task.New("a", map[mig.Slices]mig.Seconds{1: 9.5, 2: 5, 4: 2}),
		task.New("b", map[mig.Slices]mig.Seconds{4: 7}),
	}
	measure := func(s schedule.Schedule, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		m, err := schedule.Measure(schedule.Problem{GPU: a30, Tasks: tasks}, s)
		return m.Makespan, err
	}
	for _, c := range []struct {
		track, example string
		run            func(context.Context, algo.Algorithm) (any, error)
		want           string
	}{
		{algo.TrackBatch, algo.TrackBatch, func(ctx context.Context, a algo.Algorithm) (any, error) {
			return measure(a.Schedule(ctx, schedule.Problem{GPU: a30, Tasks: tasks}))
		}, "9.13"},
		{algo.TrackStream, algo.TrackStream, func(ctx context.Context, a algo.Algorithm) (any, error) {
			return measure(algotest.ScheduleStream(ctx, a, schedule.Problem{GPU: a30, Tasks: tasks}, []int{1, 1}))
		}, "9.13"},
		{algo.TrackStream, "plans", func(ctx context.Context, a algo.Algorithm) (any, error) {
			return measure(algotest.ScheduleStream(ctx, a, schedule.Problem{GPU: a30, Tasks: tasks}, []int{1, 1}))
		}, "12.35"},
		{algo.TrackPlacement, algo.TrackPlacement, func(ctx context.Context, a algo.Algorithm) (any, error) {
			p, err := a.Placer(sim.PlacementSetting{GPU: a30, GPUs: 2, Demand: []float64{0.5, 0.25, 0.25}, Seed: 17 << 16})
			if err != nil {
				return nil, err
			}
			profiles := task.RequestProfiles(a30)
			requests := []task.Request{
				{Arrival: 0, Lifespan: 2, Profile: profiles[1]},
				{Arrival: 1, Lifespan: 9, Profile: profiles[2]},
				{Arrival: 1, Lifespan: 9, Profile: profiles[2]},
				{Arrival: 4, Lifespan: 9, Profile: profiles[0]},
			}
			var r sim.PlacementResult
			err = p.(algo.Dialogue).Converse(ctx, func() (err error) {
				r, err = sim.RunPlacement(a30, 2, requests, p, sim.SteadyWindow, task.Migration{})
				return err
			})
			return r.AcceptedByProfile, err
		}, "[1 1 1]"},
		{algo.TrackPlacement, "gangs", func(ctx context.Context, a algo.Algorithm) (any, error) {
			p, err := a.Placer(sim.PlacementSetting{GPU: a30, GPUs: 2, Gangs: true, Seed: 17 << 16})
			if err != nil {
				return nil, err
			}
			profiles := task.RequestProfiles(a30)
			requests := slices.Repeat([]task.Request{{Lifespan: task.Forever}}, 4)
			me := task.Member{Profile: profiles[0], Media: true}
			requests[0].SetGang([]task.Member{me, {Profile: profiles[1]}}, true)
			requests[1].SetGang([]task.Member{me}, false)
			requests[2].SetGang([]task.Member{me, {Profile: profiles[0]}}, false)
			requests[3].Profile = profiles[1]
			var r sim.PlacementResult
			err = p.(algo.Dialogue).Converse(ctx, func() (err error) {
				r, err = sim.RunPlacement(a30, 2, requests, p, sim.SteadyWindow, task.Migration{})
				return errors.Join(err, sim.CheckPlacement(2, requests, r.Spots, nil, task.Migration{}))
			})
			return r.Spots, err
		}, "[[{0 2} {0 0}] [{1 0}] [] [{1 2}]]"},
		{algo.TrackDispatch, algo.TrackDispatch, func(ctx context.Context, a algo.Algorithm) (any, error) {
			d, err := a.Dispatcher(sim.DispatchSetting{Seed: 17 << 16, Slices: 2})
			if err != nil {
				return nil, err
			}
			days := []task.Job{{Arrival: 0, Deadline: 20}, {Arrival: 0, Deadline: 10}, {Arrival: 2.5, Deadline: 30}}
			for i := range days {
				days[i].Set(1, 12)
				days[i].Set(2, 6)
				days[i].Set(4, 4)
			}
			two, err := a30.ParsePartition("2-2")
			if err != nil {
				return nil, err
			}
			var r sim.DispatchResult
			err = d.(algo.Dialogue).Converse(ctx, func() (err error) {
				r, err = sim.RunDispatch(days, task.Fleet{Partitions: []mig.Partition{two}, Watts: []float64{30, 80, 110, 140, 160}}, d)
				return err
			})
			return r.Makespan, err
		}, "12"},
		{algo.TrackCorun, algo.TrackCorun, func(ctx context.Context, a algo.Algorithm) (any, error) {
			planner, err := algo.Make[algo.Corun](a)
			if err != nil {
				return nil, err
			}
			w := twoJobs()
			p, err := planner.Plan(ctx, w)
			if err != nil {
				return nil, err
			}
			r, err := corun.Measure(w, p)
			return r.Makespan, err
		}, "18.75"},
	} {
		t.Run(c.example, func(t *testing.T) {
			a, err := algo.ParseFor(command("replay "+c.example), c.track)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.run(t.Context(), a); err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%v, want %s; %v", got, c.want, err)
			}
		})
	}
}

func TestPartitionsOfTheProtocolAreValid(t *testing.T) {
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	partitions := regexp.MustCompile("(?m)^- `(\\[.*?\\])`").FindAllSubmatch(text, -1)
	if len(partitions) < 4 {
		t.Errorf("%d partitions", len(partitions))
	}
	for _, p := range partitions {
		if _, err := corun.Parse(string(p[1])); err != nil {
			t.Error(err)
		}
	}
}

// TestPreemptiveFleetsAreRefused: the protocol does not say what is left of a job.
func TestPreemptiveFleetsAreRefused(t *testing.T) {
	a, err := algo.ParseFor(command("well"), algo.TrackDispatch)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Dispatcher(sim.DispatchSetting{Slices: 2, Preemptive: true})
	if _, ok := errors.AsType[*algo.UnsupportedError](err); !ok {
		t.Errorf("a pre-emptive fleet gives %v", err)
	}
}

// TestGangsAreForProgramsOfTheirVersion: an older program is refused in words, and only where there are gangs.
func TestGangsAreForProgramsOfTheirVersion(t *testing.T) {
	a, err := algo.ParseFor(command("replay "+algo.TrackPlacement), algo.TrackPlacement)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Placer(sim.PlacementSetting{GPU: mig.MustLookup("A30"), GPUs: 2, Gangs: true})
	if _, ok := errors.AsType[*algo.UnsupportedError](err); !ok || !strings.Contains(err.Error(), "version 1 of the protocol, and gangs came with version 3") {
		t.Error(err)
	}
	if _, err := a.Placer(sim.PlacementSetting{GPU: mig.MustLookup("A30"), GPUs: 2}); err != nil {
		t.Error(err)
	}
}
