// Command greedy is a scheduler for miglab that needs nothing but the standard library. It
// divides each GPU into instances of the smallest size that has two places and fits all tasks.
// It puts each task, in order of arrival, where it ends first. It does the tracks batch and
// stream; the later batches of a stream queue behind the earlier ones.
//
//	miglab run --algorithms exec:./greedy --datasets WIDETIMES
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
)

type question struct {
	Type            string
	ID              int64
	GPU             gpu
	GPUs            int
	Reconfiguration string
	Start           []any
	Tasks           []task
}

type gpu struct {
	Name     string
	Profiles []profile
}

type profile struct {
	Size   int
	Starts []int
	Create float64 `json:"create_s"`
}

type task struct {
	Name    string
	Release float64 `json:"release_s"`
	Seconds map[string]float64
}

type reply struct {
	Type     string    `json:"type"`
	ID       int64     `json:"id"`
	Protocol int       `json:"protocol,omitempty"`
	Name     string    `json:"name,omitempty"`
	Version  int       `json:"version,omitempty"`
	Message  string    `json:"message,omitempty"`
	Schedule *schedule `json:"schedule,omitempty"`
}

type schedule struct {
	GPU              string      `json:"gpu"`
	Algorithm        string      `json:"algorithm"`
	Reconfiguration  string      `json:"reconfiguration"`
	Makespan         float64     `json:"makespan_s"`
	Placements       []placement `json:"placements"`
	Reconfigurations []operation `json:"reconfigurations"`
}

type placement struct {
	Task string `json:"task"`
	slot
}

type operation struct {
	Op string `json:"op"`
	slot
}

type slot struct {
	GPU   int     `json:"gpu"`
	Size  int     `json:"size"`
	Slice int     `json:"slice"`
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout) // ends each message with a line break
	var s scheduler
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return // miglab has no more questions
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			fmt.Fprintln(os.Stderr, "greedy:", err)
			os.Exit(1)
		}
		r := reply{Type: "hello", Protocol: 1, Name: "greedy", Version: 1}
		if q.Type != "hello" {
			r = s.answer(q)
		}
		if err := out.Encode(r); err != nil {
			fmt.Fprintln(os.Stderr, "greedy:", err)
			os.Exit(1)
		}
	}
}

// scheduler has what the later batches of a stream need: the GPU instances, and when each of
// them is free.
type scheduler struct {
	gpu             string
	reconfiguration string
	size            int
	free            []slot
}

// answer schedules an instance, or the next tasks of one.
func (s *scheduler) answer(q question) reply {
	answer := &schedule{Placements: []placement{}, Reconfigurations: []operation{}}
	if q.Type == "instance" {
		if len(q.Start) > 0 {
			return reply{Type: "error", ID: q.ID, Message: "the GPUs are not empty"}
		}
		profile, ok := choose(q)
		if !ok {
			return reply{Type: "error", ID: q.ID, Message: "no size has two places and fits all tasks"}
		}
		*s = scheduler{q.GPU.Name, q.Reconfiguration, profile.Size, nil}
		for gpu := range q.GPUs {
			for i, slice := range profile.Starts {
				start := 0.0
				if q.Reconfiguration != "parallel" {
					start = float64(i) * profile.Create
				}
				s.free = append(s.free, slot{gpu, s.size, slice, start, start + profile.Create})
			}
		}
		for _, instance := range s.free {
			answer.Reconfigurations = append(answer.Reconfigurations, operation{"create", instance})
		}
	}
	answer.GPU, answer.Algorithm, answer.Reconfiguration = s.gpu, "greedy", s.reconfiguration
	for _, t := range q.Tasks {
		seconds, ok := t.Seconds[strconv.Itoa(s.size)]
		if !ok {
			return reply{Type: "error", ID: q.ID, Message: fmt.Sprintf("task %q does not fit size %d", t.Name, s.size)}
		}
		first := 0
		for i := range s.free {
			if s.free[i].End < s.free[first].End {
				first = i
			}
		}
		where := &s.free[first]
		where.Start = max(where.End, t.Release)
		where.End = where.Start + seconds
		answer.Placements = append(answer.Placements, placement{t.Name, *where})
		answer.Makespan = max(answer.Makespan, where.End)
	}
	return reply{Type: "schedule", ID: q.ID, Schedule: answer}
}

// choose finds the smallest size that has two places and fits all tasks.
func choose(q question) (profile, bool) {
	for _, p := range q.GPU.Profiles {
		fits := len(p.Starts) > 1
		for _, t := range q.Tasks {
			_, ok := t.Seconds[strconv.Itoa(p.Size)]
			fits = fits && ok
		}
		if fits {
			return p, true
		}
	}
	return profile{}, false
}
