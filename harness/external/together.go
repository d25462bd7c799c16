package external

import (
	"context"
	"fmt"
	"time"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// several is the question of the batch track for a program that takes more than one
// instance at a time.
type several struct {
	Type      string     `json:"type"` // instances
	Instances []instance `json:"instances"`
}

// solutions is the answer to several.
type solutions struct {
	head               // without an ID
	Answers []solution `json:"answers"`

	questions []instance
}

func (s *solutions) check(int64) error {
	if s.Type != "answers" {
		return fmt.Errorf("type %s is not answers", quote([]byte(s.Type)))
	}
	if len(s.Answers) != len(s.questions) {
		return fmt.Errorf("there are %d answers to %d instances", len(s.Answers), len(s.questions))
	}
	for i := range s.questions {
		if err := s.Answers[i].check(s.questions[i].ID); err != nil {
			return fmt.Errorf("answer %d: %w", i+1, err)
		}
	}
	return nil
}

// A request is an instance that is asked together with others.
type request struct {
	problem *algo.Problem
	done    chan outcome
}

type outcome struct {
	schedule schedule.Schedule
	took     time.Duration
	err      error
	// alone says that there is no outcome because the process failed at one of the
	// instances. Each of them is to be asked alone.
	alone bool
}

// together schedules an instance with a program that takes several at a time. The program
// has one process. Instances gather while it is busy, and are then asked at once.
func (s *scheduler) together(ctx context.Context, problem *algo.Problem) (schedule.Schedule, error) {
	r := &request{problem, make(chan outcome, 1)}
	s.mu.Lock()
	s.waiting = append(s.waiting, r)
	s.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return schedule.Schedule{}, ctx.Err()
		case o := <-r.done:
			if o.alone {
				return s.alone(ctx, problem)
			}
			s.took.Store(int64(o.took))
			return o.schedule, s.blame(o.err)
		case s.turn <- struct{}{}:
			s.askWaiting(ctx)
			<-s.turn
		}
	}
}

// alone schedules an instance by itself when it is its turn.
func (s *scheduler) alone(ctx context.Context, problem *algo.Problem) (schedule.Schedule, error) {
	select {
	case <-ctx.Done():
		return schedule.Schedule{}, ctx.Err()
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
		return s.ScheduleStream(ctx, *problem, []int{len(problem.Tasks)})
	}
}

// askWaiting asks about the instances that wait, up to as many as the program takes.
func (s *scheduler) askWaiting(ctx context.Context) {
	s.mu.Lock()
	n := min(len(s.waiting), s.hello.Batch)
	requests := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	s.mu.Unlock()
	if n == 0 {
		return
	}
	start := time.Now()
	answers, err := s.askSeveral(ctx, requests, start.Add(time.Duration(n)*s.limits.timeout))
	took := time.Since(start) / time.Duration(n)
	for i, r := range requests {
		if err != nil {
			r.done <- outcome{alone: true}
			continue
		}
		o := outcome{took: took, err: answers[i].declined()}
		if o.err == nil {
			o.schedule, o.err = answers[i].read(*r.problem)
		}
		o.schedule.Algorithm = s.name
		r.done <- o
	}
}

// askSeveral asks about instances at once and returns an answer to each. After an error the
// process is gone.
func (s *scheduler) askSeveral(ctx context.Context, requests []*request, deadline time.Time) ([]solution, error) {
	question := several{Type: "instances"}
	for _, r := range requests {
		question.Instances = append(question.Instances, newInstance(r.problem, len(r.problem.Tasks)))
	}
	proc, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	answer := solutions{questions: question.Instances}
	c := conversation{ctx: ctx, proc: proc, deadline: deadline}
	if err := c.ask(question, &answer); err != nil {
		return nil, err
	}
	s.giveBack(proc)
	return answer.Answers, nil
}
