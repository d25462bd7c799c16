package env

import (
	"math"

	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// Shape returns the shape of observations and masks for a fleet with that many slices. The 20 slices of the deadline
// report give 88 features, 64 with its original observation, 66 with both Released and Original, and 124 with First.
func (o DeadlineOptions) Shape(slices int) Shape {
	features := jobFeatures + jobFeatures*binsEach + slices
	switch {
	case o.First:
		features += 3 * slices
	case o.Released && o.Original:
		features += extraFeatures - 1
	case !o.Original:
		features += 1 + slices + extraFeatures
	}
	return Shape{features, slices}
}

// Bounds returns bounds of an observation; see [DeadlineOptions.Observe].
func (d *Deadline) Bounds() []Range {
	first := []Range{{1, -1, 1}, {3, 0, 1}}
	longest := releasedEdges[binsEach]
	switch o := d.options; {
	case o.Released:
		first = []Range{{1, math.Inf(-1), longest / releasedScale}, {3, 0, longest / releasedScale}}
	case o.First:
		n := len(d.running)
		return []Range{
			{1, math.Inf(-1), longest}, {3, 0, longest}, {jobFeatures * binsEach, 0, 1}, {4 * n, 0, float64(max(n, 7))},
		}
	}
	return append(first, Range{d.Shape().Observation - jobFeatures, 0, 1})
}

const (
	jobFeatures   = 4  // the number of features of a job in all observations
	binsEach      = 10 // the number of bins for each feature
	extraFeatures = 3  // the number of features of the fleet and the queue as a whole
)

// Observe writes the agent's observation of a queue in which a decision is due, and
// the mask of free slices (deadline report, Table 4 and appendix C):
//
//	4       the job at the head: time to its deadline, durations on small, medium and whole instances
//	1  *    urgency, Eq. 3                                          [0, 1]
//	4 x 10  shares of the jobs that wait, by each of the head's 4   [0, 1]
//	n       1 for a busy slice, else 0
//	n  *    sizes of the slices over 7                              (0, 1]
//	3  *    jobs that wait, as w/(w+16); share of free slices; largest free size
//	        over 7                                                  (0, 1]
//
// Those marked * are missing from the original observation. The report does not print scales, bins, or the durations
// used. Here a job's durations are the three by which the report's scheduler EFT (earliest finish time) decides: the
// means over sizes 1-2 and 3-4 and the duration on 7, as x/(x+3) with x in minutes, in [0, 1]. The time to the deadline
// may be negative and is x/(|x|+3), in [-1, 1]. Inference jobs take 3 minutes on size 1 in the mean. Bins of durations
// begin at 0, 1/4, 1/2, 1, 2, 4, 8, 16, 32 and 64 min, and bins of times to the deadline at minus infinity, -8, -2, 0,
// 1/2, 1, 2, 4, 8 and 16 min.
//
// With Released, scales and bins follow the authors' notebook: times are x/100 with x in
// minutes, and jobs that wait are min(w/100, 1). All times have the same bins, which begin at
// -100, 0, 0.05, 0.2, 0.5, 1, 5, 10, 20 and 30 min. As there, a job that is more than 100 min
// beyond its deadline is in no bin of times to the deadline. The notebook has no sizes that a job does not fit. Here,
// a duration on such sizes is shown as 1e9 min and is in no bin.
//
// First has these bins too. Its times are plain minutes. Each slice has four plain numbers: its GPU, index and size,
// and 1 if it is busy, else 0. The notebook's shares leave out jobs that are in no bin; here they count.
func (o DeadlineOptions) Observe(q *sim.Queue, observation []float32, mask []bool) {
	times := jobTimes(q.Head(), q.Now())
	var waiting float32
	left, duration := leftBin, durationBin
	if o.Released || o.First {
		waiting = min(float32(q.Waiting())/releasedQueue, 1)
		left, duration = releasedBin, releasedBin
		scale := 1.
		if o.Released {
			scale = releasedScale
		}
		for i, x := range times {
			observation[i] = float32(min(x, releasedEdges[binsEach]) / scale)
		}
	} else {
		waiting = float32(q.Waiting()) / float32(q.Waiting()+queueScale)
		observation[0] = float32(times[0] / (math.Abs(times[0]) + timeScale))
		for i, x := range times[1:] {
			observation[1+i] = float32(1 - timeScale/(x+timeScale)) // +Inf becomes 1
		}
	}
	at := jobFeatures
	if !o.Original && !o.First {
		observation[at] = float32(urgency(q.Head(), q.Now()))
		at++
	}
	bins := observation[at : at+jobFeatures*binsEach]
	countJobs(q, left, duration, bins)
	at += len(bins)

	o.observeSlices(q, waiting, observation[at:], mask)
}

// observeSlices writes the mask, and the observation of the slices, followed by the extra features. The first of these
// is waiting, the scaled number of jobs that wait.
func (o DeadlineOptions) observeSlices(q *sim.Queue, waiting float32, observation []float32, mask []bool) {
	all := q.Slices()
	largest := mig.Slices(0)
	for i := range all {
		s, busy := &all[i], float32(1)
		mask[i] = !s.Busy
		if mask[i] {
			busy = 0
			largest = max(largest, s.Size)
		}
		if o.First {
			copy(observation[4*i:], []float32{float32(s.GPU), float32(i), float32(s.Size), busy})
			continue
		}
		observation[i] = busy
		if !o.Original {
			observation[len(all)+i] = float32(s.Size) / 7
		}
	}
	extras := [extraFeatures]float32{waiting, float32(q.Free()) / float32(len(all)), float32(largest) / 7}
	switch {
	case o.First:
		// It has no extra features.
	case !o.Original:
		copy(observation[2*len(all):], extras[:])
	case o.Released:
		copy(observation[len(all):], extras[:extraFeatures-1])
	}
}

// The scales of the authors' notebook.
const (
	releasedScale = 100 // minutes
	releasedQueue = 100 // jobs
)

// releasedEdges are the ends of the notebook's bins, in minutes. A bin holds its lower end, and
// the last one its upper end as well.
var releasedEdges = [binsEach + 1]float64{-100, 0, 0.05, 0.2, 0.5, 1, 5, 10, 20, 30, 1e9}

// releasedBin returns the notebook's bin of a time, or -1.
func releasedBin(x float64) int {
	if x == releasedEdges[binsEach] {
		return binsEach - 1
	}
	for i := range binsEach {
		if releasedEdges[i] <= x && x < releasedEdges[i+1] {
			return i
		}
	}
	return -1
}

// The time and the number of waiting jobs that the observation shows as 1/2.
const (
	timeScale  = 3 // minutes
	queueScale = 16
)

// jobTimes returns the time to the deadline and the durations on small, medium and whole instances, in minutes.
func jobTimes(j *task.Job, now task.Minutes) [jobFeatures]float64 {
	return [...]float64{
		float64(j.Deadline - now), float64(j.On(1)+j.On(2)) / 2, float64(j.On(3)+j.On(4)) / 2, float64(j.On(7)),
	}
}

// urgency returns Eq. 3: the job's duration on the whole GPU over the time left, at most 1.
func urgency(j *task.Job, now task.Minutes) float64 {
	return min(1, float64(j.On(7)/max(j.Deadline-now, 0.01)))
}

// countJobs writes the shares of the waiting jobs by bin. left and duration return the bin of a time
// to the deadline and of a duration, or -1.
func countJobs(q *sim.Queue, left, duration func(float64) int, bins []float32) {
	clear(bins)
	now := q.Now()
	for j := range q.All() {
		for i, x := range jobTimes(j, now) {
			find := duration
			if i == 0 {
				find = left
			}
			if bin := find(x); bin >= 0 {
				bins[i*binsEach+bin]++
			}
		}
	}
	n := float32(q.Waiting())
	for i := range bins {
		bins[i] /= n
	}
}

// durationBin returns the bin of a duration in minutes. From 1/4 on, the edges of bins double.
func durationBin(d float64) int { return min(max(exponent(d)+3, 0), binsEach-1) }

// leftBin returns the bin of a time to the deadline in minutes. From 1/2 on, the edges of bins double.
func leftBin(left float64) int {
	switch {
	case left < -8:
		return 0
	case left < -2:
		return 1
	case left < 0:
		return 2
	}
	return min(max(exponent(left)+5, 3), binsEach-1)
}

// exponent returns the logarithm to base 2, rounded down, of a normal number that is not
// negative. It is below -1000 for 0 and 1024 for +Inf.
func exponent(x float64) int { return int(math.Float64bits(x)>>52) - 1023 }
