package run

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A job is the missing cells of one instance.
type job struct {
	instance int
	series   []*planned
}

// groupSize returns the largest number of instances that an algorithm of the job's series solves at once.
func (j *job) groupSize() int {
	n := 1
	for _, s := range j.series {
		n = max(n, s.groupSize())
	}
	return n
}

// splitJobs groups consecutive jobs with the same series that one worker does together, if an algorithm among the
// series solves instances together. The groups are small enough that each worker gets some of the jobs.
func splitJobs(jobs []job, workers int) [][]job {
	var out [][]job
	share := max(1, len(jobs)/workers)
	for len(jobs) > 0 {
		most := min(jobs[0].groupSize(), share, len(jobs))
		n := 1
		for n < most && slices.Equal(jobs[n].series, jobs[0].series) {
			n++
		}
		out = append(out, jobs[:n])
		jobs = jobs[n:]
	}
	return out
}

// rounds is the number of rounds in which a run goes through all kinds of jobs, after a first one with a part of each.
// More rounds estimate the remaining time better, but each commit of the store then changes more pages.
const rounds = 16

// mixJobs orders the parts of splitJobs. Jobs with the same series are of one kind. The first round has one part of
// each kind, so that the cost of every series is known after it, although one cell may cost thousands of times as much
// as another. Each later round has an equal share of the rest. Within a round the kinds are in random order.
func mixJobs(parts [][]job) [][]job {
	type turn struct {
		round int
		order uint64
		jobs  []job
	}
	rng := rand.New(rand.NewPCG(1, 2))
	turns := make([]turn, 0, len(parts))
	for len(parts) > 0 {
		n := 1 // the number of parts of this kind
		for n < len(parts) && slices.Equal(parts[n][0].series, parts[0][0].series) {
			n++
		}
		order := rng.Uint64()
		for i, jobs := range parts[:n] {
			turns = append(turns, turn{round: (i*rounds + n - 1) / n, order: order, jobs: jobs})
		}
		parts = parts[n:]
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.order, b.order))
	})
	out := make([][]job, len(turns))
	for i, t := range turns {
		out[i] = t.jobs
	}
	return out
}
