package external

import (
	"context"
	"time"

	"miglab/harness/algo"
	"miglab/harness/schedule"
)

// A request is an instance that is asked together with others.
type request struct {
	problem *algo.Problem
	// done gets the outcome.
	done chan outcome
}

type outcome struct {
	schedule schedule.Schedule
	took     time.Duration
	err      error
	// alone says that there is none, as the process failed at one of the instances: each is
	// to be asked alone.
	alone bool
}

// together schedules an instance with a program that takes several at a time. It has one
// process: while that is busy instances gather, and what has gathered is asked at once.
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

// askWaiting asks for what waits, as much as the program takes at a time.
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
		o := outcome{took: took}
		o.schedule, o.err = answers[i].read(*r.problem)
		o.schedule.Algorithm = s.name
		r.done <- o
	}
}

// askSeveral asks for instances at once and returns an answer to each. After an error there
// is no process.
func (s *scheduler) askSeveral(ctx context.Context, requests []*request, deadline time.Time) ([]reply, error) {
	question := several{Type: "instances"}
	for _, r := range requests {
		question.Instances = append(question.Instances, newInstance(r.problem, len(r.problem.Tasks)))
	}
	proc, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	r, err := proc.ask(ctx, encode(question), deadline)
	if err != nil {
		return nil, err
	}
	if err := r.checkAnswers(question.Instances); err != nil {
		return nil, proc.fail(KindProtocol, "gives wrong answers: %v", err)
	}
	s.giveBack(proc)
	return r.Answers, nil
}
