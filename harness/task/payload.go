package task

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"

	"miglab/harness/mig"
)

// A Payload is the content of one instance of a dataset. Each kind of problem has its own
// type: [Batches], [Requests], [Queue] and the co-run track's window of programs.
type Payload interface {
	// Kind names the contents in messages: "tasks", "requests", "jobs" or "programs".
	Kind() string
	// AddTo adds all fields that affect a result to a digest.
	AddTo(d *Digest)
	// WriteCSV writes the contents as a file for a dataset to read back.
	WriteCSV(w io.Writer, g *mig.GPU) error
}

// A Regime says how the work of a dataset arrives. The regime selects the ranking of the algorithms.
type Regime string

// The regimes.
const (
	// Whole work is measured from the first task or request to the last.
	Whole Regime = "whole"
	// Steady requests keep a cluster at a constant load, and are measured once it is full.
	Steady Regime = "steady"
	// Timed tasks arrive one after the other, and their flow times are measured.
	Timed Regime = "timed"
	// Queued requests wait until a cluster has room for them.
	Queued Regime = "queued"
)

// Batches is one batch of tasks, or a stream of several.
type Batches struct {
	// Tasks holds the batches one after the other, each in order of arrival.
	Tasks Batch
	// Lengths holds the number of tasks of each batch; it adds up to len(Tasks).
	Lengths []int
	// Start lists the instances that exist at time 0. If it is empty, the GPU is empty.
	Start []Existing
	// Arrivals holds the time at which each task arrives, in ascending order. It is nil if all
	// tasks arrive at time 0.
	Arrivals []mig.Seconds
	// Estimates holds the tasks in the order of Tasks, with estimated durations for the scheduler. Tasks has the true
	// durations. It is nil if the scheduler knows the true durations.
	Estimates Batch
	// Restart is the shortest break of a stopped task before it continues. It is 0 if tasks cannot be stopped.
	Restart mig.Seconds
}

// Releases returns the earliest time at which each task may start; nil for time 0. A batch is
// scheduled as a whole: its tasks wait until its last task has arrived.
func (b *Batches) Releases() []mig.Seconds {
	if b.Arrivals == nil {
		return nil
	}
	out := make([]mig.Seconds, 0, len(b.Tasks))
	for _, n := range b.Lengths {
		out = append(out, slices.Repeat([]mig.Seconds{b.Arrivals[len(out)+n-1]}, n)...)
	}
	return out
}

// Existing is an instance that exists at time 0.
type Existing struct {
	// GPU counts from 0.
	GPU      int
	Instance mig.Instance
	// BusyUntil is the time from which the instance can be used or destroyed. It is 0 if the instance is idle.
	BusyUntil mig.Seconds
}

// OneBatch returns the payload that consists of a single batch.
func OneBatch(b Batch) Batches { return Batches{Tasks: b, Lengths: []int{len(b)}} }

// Kind implements [Payload].
func (Batches) Kind() string { return "tasks" }

// AddTo implements [Payload].
func (b Batches) AddTo(d *Digest) {
	h := b.Tasks.Hash()
	d.Text(string(h[:]))
	d.Int(len(b.Lengths))
	for _, n := range b.Lengths {
		d.Int(n)
	}
	for _, e := range b.Start { // an empty GPU adds no values, so that older digests stay valid
		d.Int(e.GPU)
		d.Text(e.Instance.String())
		d.Float(float64(e.BusyUntil))
	}
	if b.Arrivals != nil {
		d.Text("arrivals")
		for _, at := range b.Arrivals {
			d.Float(float64(at))
		}
	}
	if b.Estimates != nil {
		h := b.Estimates.Hash()
		d.Text(string(h[:]))
	}
	if b.Restart > 0 {
		d.Text("restart")
		d.Float(float64(b.Restart))
	}
}

// WriteCSV implements [Payload]. The format cannot express instances that exist at time 0, estimates, or tasks that
// can be stopped; each is an error.
func (b Batches) WriteCSV(w io.Writer, g *mig.GPU) error {
	if b.Estimates != nil {
		return errors.New("a tasks file has no place for estimates; write the tasks without noise")
	}
	if len(b.Start) > 0 {
		return fmt.Errorf("%d instances exist at time 0, and a tasks file cannot say so; write tasks that start on "+
			"an empty GPU", len(b.Start))
	}
	if b.Restart > 0 {
		return fmt.Errorf("tasks can be stopped, and a tasks file cannot say so; write a dataset with restart=0")
	}
	return WriteStream(w, g, b)
}

// Requests is a stream of requests to a cluster, by arrival (MFI IV).
type Requests struct {
	Requests []Request
	// GPUs is the size of the cluster.
	GPUs int
	// PerNode is the number of consecutive GPUs in a node; 0 for a single node.
	PerNode int
	// Demand is the probability of each profile with which the requests were drawn, in the
	// order of the GPU's profiles without "+me"; nil for a trace.
	Demand []float64
	// Migration limits the moves of workloads.
	Migration Migration
	// Waiting says whether a request that fits nowhere waits.
	Waiting Waiting
	// Geometry holds the instances of a cluster that never changes them.
	Geometry Geometry
	// SlotSeconds is the length of a slot in seconds; 0 means 1.
	SlotSeconds float64
}

// Waiting says what happens to a request that fits nowhere in the cluster.
type Waiting string

// The rules for requests that fit nowhere.
const (
	// Reject drops the request, as in the MFI paper.
	Reject Waiting = ""
	// Retry lets the request wait. Whenever a request arrives or an instance leaves, all waiting requests are
	// tried in the order of their arrival, as kube-scheduler does with unschedulable pods.
	Retry Waiting = "retry"
	// FIFO lets the request wait. Later requests are placed only after it.
	FIFO Waiting = "fifo"
)

// maxEnd keeps slots within the whole numbers of a float64, even if requests run one after the other.
const maxEnd = 1 << 52

// CheckEnd returns an error if a request could wait forever, because a request never leaves or needs more than the
// cluster has.
func (r *Requests) CheckEnd() error {
	exist := map[*mig.Profile]int{}
	for _, instance := range slices.Concat(r.Geometry...) {
		exist[instance.Profile]++
	}
	end := 0
	for i := range r.Requests {
		switch q := &r.Requests[i]; {
		case q.Lifespan == Forever:
			return fmt.Errorf("request %d never leaves, so that others could wait forever; give a lifespan", i)
		case q.Instances() > r.GPUs:
			return fmt.Errorf("request %d needs %d GPUs of %d and would wait forever", i, q.Instances(), r.GPUs)
		case r.Geometry != nil && q.Instances() > exist[q.Profile]:
			return fmt.Errorf("request %d needs %d of %v and would wait forever; the geometry has %d", i, q.Instances(),
				q.Profile, exist[q.Profile])
		case q.Lifespan > maxEnd-max(end, q.Arrival):
			return fmt.Errorf("request %d may end after slot %d; shorten the lifespans", i, maxEnd)
		default:
			end = max(end, q.Arrival) + q.Lifespan
		}
	}
	return nil
}

// SetProfile gives a request for work the smallest standard profile with enough memory. Its lifespan is the work
// divided by the profile's share of the compute slices in whole percent: 14, 28, 42, 57 and 100 for 1g, 2g, 3g, 4g and
// 7g. The text of the error continues a sentence that begins with the request.
func (q *Request) SetProfile(g *mig.GPU) error {
	q.Profile = nil
	for _, p := range RequestProfiles(g) {
		if p.Standard() && p.MemoryMB() >= q.MemoryMB && (q.Profile == nil || p.Size < q.Profile.Size) {
			q.Profile = p
		}
	}
	if q.Profile == nil {
		return fmt.Errorf("asks for %d MB, more than any profile of %s has", q.MemoryMB, g)
	}
	q.setLifespan(g)
	return nil
}

func (q *Request) setLifespan(g *mig.GPU) {
	share := Share(g, q.Profile)
	q.Lifespan = (100*q.Work + share - 1) / share
}

// Seconds returns the length of a slot.
func (r *Requests) Seconds() float64 { return cmp.Or(r.SlotSeconds, 1) }

// Kind implements [Payload].
func (Requests) Kind() string { return "requests" }

// AddTo implements [Payload].
func (r Requests) AddTo(d *Digest) {
	d.Int(r.GPUs)
	d.Floats(r.Demand)
	d.Int(len(r.Requests))
	for _, q := range r.Requests {
		d.Int(q.Arrival)
		d.Int(q.Lifespan)
		d.Text(q.Profile.String())
		if q.GPUs > 1 { // only for these, so that older digests stay valid
			d.Text("gpus")
			d.Int(q.GPUs)
		}
	}
	m := r.Migration
	if m != (Migration{}) { // only then, so that older digests stay valid
		d.Text("moves")
		d.Int(m.Moves)
		d.Int(m.Window)
		d.Int(m.Downtime)
	}
	if r.PerNode > 0 {
		d.Text("pernode")
		d.Int(r.PerNode)
	}
	if r.Waiting != Reject {
		d.Text(string(r.Waiting))
		d.Float(r.Seconds())
	}
	for _, p := range r.Geometry {
		d.Text(p.String())
	}
}

// WriteCSV implements [Payload]. A file has slots of a second. Waiting requests for profiles with other slots are an
// error.
func (r Requests) WriteCSV(w io.Writer, _ *mig.GPU) error {
	if r.Waiting != Reject && r.Seconds() != 1 && len(r.Requests) > 0 && r.Requests[0].Work == 0 {
		return fmt.Errorf("the slots are of %v s; a file of requests that wait has slots of a second", r.Seconds())
	}
	return WriteRequests(w, r.Requests)
}

// Queue is a queue of jobs with deadlines, by arrival, and the fleet that serves it (deadline report 2.4).
type Queue struct {
	Jobs  []Job
	Fleet Fleet
	// NumPy is the position of NumPy's random stream after the jobs were drawn from it; nil if
	// the jobs have another source.
	NumPy *NumPyStream
}

// A NumPyStream is a position in the random stream of NumPy, package numpy.
type NumPyStream struct {
	// Seed is the argument of np.random.seed.
	Seed uint32
	// Used is the number of 32-bit numbers drawn since.
	Used int
}

// Kind implements [Payload].
func (Queue) Kind() string { return "jobs" }

// AddTo implements [Payload].
func (q Queue) AddTo(d *Digest) {
	d.Floats(q.Fleet.Watts)
	d.Int(len(q.Fleet.Partitions))
	for _, p := range q.Fleet.Partitions {
		d.Text(p.String())
	}
	d.Int(len(q.Jobs))
	for i := range q.Jobs {
		j := &q.Jobs[i]
		d.Float(float64(j.Arrival))
		d.Float(float64(j.Deadline))
		for _, m := range j.minutes {
			d.Float(float64(m))
		}
	}
	// These fields are only added if they are set, so that older digests stay valid.
	if q.Fleet.Float32 {
		d.Text("float32")
	}
	if q.Fleet.Preemptive {
		d.Text("preemptive")
	}
	if q.NumPy != nil {
		d.Text("NumPy")
		d.Int(int(q.NumPy.Seed))
		d.Int(q.NumPy.Used)
	}
}

// WriteCSV implements [Payload].
func (q Queue) WriteCSV(w io.Writer, g *mig.GPU) error { return WriteJobs(w, g, q.Jobs) }

// A Digest is a hash of values, each written with its length or in a fixed number of bytes.
type Digest struct {
	h   hash.Hash
	buf [8]byte
}

// NewDigest returns the digest of no values.
func NewDigest() *Digest { return &Digest{h: sha256.New()} }

// Int adds a whole number.
func (d *Digest) Int(v int) {
	binary.LittleEndian.PutUint64(d.buf[:], uint64(v))
	d.h.Write(d.buf[:])
}

// Float adds a number by its bits.
func (d *Digest) Float(v float64) { d.Int(int(math.Float64bits(v))) }

// Floats adds numbers and how many there are.
func (d *Digest) Floats(v []float64) {
	d.Int(len(v))
	for _, x := range v {
		d.Float(x)
	}
}

// Text adds a text and its length.
func (d *Digest) Text(s string) {
	d.Int(len(s))
	io.WriteString(d.h, s)
}

// String returns the digest in 16 hexadecimal digits.
func (d *Digest) String() string { return hex.EncodeToString(d.h.Sum(nil)[:8]) }
