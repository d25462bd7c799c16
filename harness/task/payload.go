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

// A Payload is what one instance of a dataset consists of. Each kind of problem has a type of
// its own: [Batches], [Requests], [Queue] and the co-run track's window of programs.
type Payload interface {
	// Kind names the contents in messages: "tasks", "requests", "jobs" or "programs".
	Kind() string
	// AddTo adds everything that decides a result to a digest, field by field.
	AddTo(d *Digest)
	// WriteCSV writes the contents as a file that a dataset can read back.
	WriteCSV(w io.Writer, g *mig.GPU) error
}

// A Regime says how the work of a dataset comes in, which decides what its algorithms are ranked by.
type Regime string

// The regimes.
const (
	// Whole work counts from the first piece to the last.
	Whole Regime = "whole"
	// Steady requests keep a cluster at a constant load, and count once it is full.
	Steady Regime = "steady"
	// Timed tasks arrive one after the other, so that their flow time counts.
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
	// Arrivals holds the instant at which each task arrives, never falling. It is nil if all
	// tasks are there at time 0.
	Arrivals []mig.Seconds
	// Estimates holds the tasks with the durations that a scheduler is told, in the order of Tasks, which have the
	// true ones. It is nil if the scheduler knows the true ones.
	Estimates Batch
	// Restart is how long a task stands still that is stopped and goes on later, at least. It is 0 if tasks cannot be
	// stopped.
	Restart mig.Seconds
}

// Releases returns the earliest instant at which each task may start; nil for time 0. A batch is
// scheduled as a whole: its tasks wait until the last of them has arrived.
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
	// BusyUntil is the instant from which it can be used or destroyed. It is 0 if the
	// instance is idle.
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
	for _, e := range b.Start { // none for an empty GPU, so that its digest stays
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

// WriteCSV implements [Payload]. The format has no place for a GPU that is not empty at time 0, for estimates, and for
// tasks that can be stopped: each is an error.
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
	// PerNode is how many of them, in order, make up a node; 0 for a single node.
	PerNode int
	// Demand is the probability of each profile with which the requests were drawn, in the
	// order of the GPU's profiles without "+me"; nil for a trace.
	Demand []float64
	// Migration is what the cluster allows of moves.
	Migration Migration
	// Waiting says whether a request that fits nowhere waits.
	Waiting Waiting
	// Geometry has the instances of a cluster that does not change them.
	Geometry Geometry
	// SlotSeconds is the length of a slot in seconds; 0 means 1.
	SlotSeconds float64
}

// Waiting says whether a request waits for which the cluster has no room.
type Waiting string

// What clusters do.
const (
	// Reject forgets it, as in the MFI paper.
	Reject Waiting = ""
	// Retry lets it wait. Whenever a request arrives or an instance leaves, all that wait are tried in the
	// order of their arrival, as kube-scheduler does with unschedulable pods.
	Retry Waiting = "retry"
	// FIFO lets it wait, and nobody that arrives later goes before it.
	FIFO Waiting = "fifo"
)

// maxEnd keeps slots within the whole numbers of a float64, even if requests run one after the other.
const maxEnd = 1 << 52

// CheckEnd returns an error if requests that wait could do so forever: some stay forever, or need more than there is.
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

// SetProfile gives a request for work the smallest of the standard profiles with enough memory. It lasts as long as the
// profile's share of the compute slices says, in whole percent: 14, 28, 42, 57 and 100 for 1g, 2g, 3g, 4g and 7g. The
// text of the error continues a sentence that begins with the request.
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
		if q.GPUs > 1 { // few requests, so that the digests of the others stay
			d.Text("gpus")
			d.Int(q.GPUs)
		}
	}
	if m := r.Migration; m != (Migration{}) { // so that the digests of the others stay
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

// WriteCSV implements [Payload]. Requests for profiles that wait are only written with slots of a second, which are
// those of a file.
func (r Requests) WriteCSV(w io.Writer, _ *mig.GPU) error {
	if r.Waiting != Reject && r.Seconds() != 1 && len(r.Requests) > 0 && r.Requests[0].Work == 0 {
		return fmt.Errorf("the slots are of %v s; a file of requests that wait has slots of a second", r.Seconds())
	}
	return WriteRequests(w, r.Requests)
}

// Queue is a queue of jobs with deadlines, by arrival, and the fleet that serves it (deadline
// report 2.4).
type Queue struct {
	Jobs  []Job
	Fleet Fleet
	// NumPy is where NumPy's random stream stands after the jobs were drawn from it; nil if
	// they come from elsewhere.
	NumPy *NumPyStream
}

// A NumPyStream is a position in the random stream of NumPy, package numpy.
type NumPyStream struct {
	// Seed is the argument of np.random.seed.
	Seed uint32
	// Used is how many 32-bit numbers have been drawn since.
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
	// What few queues have is only added for them, so that the digests of the others stay.
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
