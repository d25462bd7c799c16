package task

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"miglab/harness/mig"
)

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

// maxEnd keeps slots within the whole numbers of a float64.
const maxEnd = 1 << 52

// CheckEnd returns an error if a request could wait forever, because a request never leaves or needs more than the
// cluster has. It also returns an error if requests that run one after the other could end after slot [maxEnd].
func (r *Requests) CheckEnd() error {
	available := map[*mig.Profile]int{} // the number of instances in the geometry
	for _, instance := range slices.Concat(r.Geometry...) {
		available[instance.Profile]++
	}
	end := 0
	for i := range r.Requests {
		switch q := &r.Requests[i]; {
		case q.Lifespan == Forever:
			return fmt.Errorf("request %d never leaves, so that others could wait forever; give a lifespan", i)
		case q.Instances() > r.GPUs:
			return fmt.Errorf("request %d needs %d GPUs of %d and would wait forever", i, q.Instances(), r.GPUs)
		case r.Geometry != nil && q.Instances() > available[q.Profile]:
			return fmt.Errorf("request %d needs %d of %v and would wait forever; the geometry has %d", i, q.Instances(),
				q.Profile, available[q.Profile])
		case q.Lifespan > maxEnd-max(end, q.Arrival):
			return fmt.Errorf("request %d may end after slot %d; shorten the lifespans", i, maxEnd)
		default:
			end = max(end, q.Arrival) + q.Lifespan
		}
	}
	return nil
}

// Seconds returns the length of a slot in seconds.
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
		if q.GPUs > 1 { // A field with its zero value adds nothing here and below, so that older digests stay valid.
			d.Text("gpus")
			d.Int(q.GPUs)
		}
	}
	m := r.Migration
	if m != (Migration{}) {
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
