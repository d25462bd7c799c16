package task

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"miglab/harness/mig"
)

// A Request asks a cluster for one instance of a profile for some time (MFI IV).
type Request struct {
	// Arrival is the slot in which the request arrives, from 0. Requests are listed in the order of their arrival.
	Arrival int
	// Lifespan is the number of slots for which an accepted request stays, at least 1. It leaves at the beginning of
	// slot Arrival+Lifespan. [Forever] means that it never leaves.
	Lifespan int
	Profile  *mig.Profile
	// GPUs is the number of whole GPUs that the request needs at once. It is rejected unless it
	// gets all of them. The profile then covers a whole GPU. 0 and 1 both mean one instance: with the profile of a
	// whole GPU, 1 says that the job asks for a GPU and not for an instance.
	GPUs int
	// Gang has the instances of a request that needs several at once, or one with media extensions. It is nil for all
	// other requests. Profile is then the profile of the first member. [Request.SetGang] sets both.
	Gang *Gang
	// Work and MemoryMB are not 0 if the request asks for memory and work instead of a profile and a lifespan, which
	// [Request.SetProfile] then sets. Work is in slots of a whole GPU.
	Work, MemoryMB int
}

// Share returns the compute slices of a profile in whole percent of the GPU's.
func Share(g *mig.GPU, p *mig.Profile) int { return 100 * int(p.Size) / int(g.ComputeSlices) }

// Instances returns the number of instances that the request needs at once.
func (q *Request) Instances() int {
	if q.Gang != nil {
		return len(q.Gang.Members)
	}
	return max(q.GPUs, 1)
}

// Slices returns the memory slices of all instances of the request.
func (q *Request) Slices() (n int) {
	for k := range q.Instances() {
		n += int(q.Member(k).Profile.Length)
	}
	return n
}

// ComputeSlices returns the compute slices of all instances of the request.
func (q *Request) ComputeSlices() (n int) {
	for k := range q.Instances() {
		n += int(q.Member(k).Profile.Size)
	}
	return n
}

// Exceeds reports whether the request needs more GPUs, memory slices or media extensions than a cluster has.
func (q *Request) Exceeds(g *mig.GPU, gpus int) bool {
	if q.Gang == nil {
		return q.Instances() > gpus
	}
	memory := int(g.MemorySlices)
	return q.Gang.Media() > gpus || (q.Slices()+memory-1)/memory > gpus // a product could overflow
}

// CheckGPUs returns an error if the request needs several GPUs and its profile is smaller than a
// GPU, and if no cluster can hold its gang. The text continues a sentence that begins with the request.
func (q *Request) CheckGPUs(g *mig.GPU) error {
	if q.Gang != nil {
		return q.Gang.check(g)
	}
	if q.GPUs < 0 || q.GPUs > 1 && q.Profile.Length != g.MemorySlices {
		return fmt.Errorf("asks for %v on %d GPUs; a request for several GPUs needs the profile of a whole one",
			q.Profile, q.GPUs)
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

// setLifespan sets the lifespan of a request for work on its profile, rounded up to whole slots.
func (q *Request) setLifespan(g *mig.GPU) {
	share := Share(g, q.Profile)
	q.Lifespan = (100*q.Work + share - 1) / share
}

// Forever is the lifespan of a request that never leaves.
const Forever = math.MaxInt

// RequestProfiles returns the profiles of a model that may be requested, in the model's order. It leaves out the
// "+me" profile, which takes the same slices as the profile without +me (MFI Table I).
func RequestProfiles(g *mig.GPU) []*mig.Profile {
	return slices.DeleteFunc(slices.Clone(g.Profiles), func(p *mig.Profile) bool { return p.MediaExtensions })
}

// Requests is a stream of requests to a cluster, by arrival (MFI IV).
type Requests struct {
	Requests []Request
	GPUs     int // the size of the cluster
	PerNode  int // the number of consecutive GPUs in a node; 0 for a single node
	// Demand is the probability of each profile with which the requests were drawn, in the
	// order of the GPU's profiles without "+me"; nil for a trace.
	Demand      []float64
	Migration   Migration // limits the moves of workloads
	Waiting     Waiting   // says whether a request that fits nowhere waits
	Geometry    Geometry  // the instances of a cluster that never changes them
	SlotSeconds float64   // the length of a slot in seconds; 0 means 1
}

// Waiting says what happens to a request that fits nowhere in the cluster.
type Waiting string

// The rules for requests that fit nowhere.
const (
	Reject Waiting = "" // drops the request, as in the MFI paper
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
		case q.Gang == nil && q.Instances() > r.GPUs:
			return fmt.Errorf("request %d needs %d GPUs of %d and would wait forever", i, q.Instances(), r.GPUs)
		case q.Gang == nil && r.Geometry != nil && q.Instances() > available[q.Profile]:
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

// HasGangs reports whether a request has a [Gang].
func (r *Requests) HasGangs() bool {
	return slices.ContainsFunc(r.Requests, func(q Request) bool { return q.Gang != nil })
}

// Seconds returns the length of a slot in seconds.
func (r *Requests) Seconds() float64 { return cmp.Or(r.SlotSeconds, 1) }

func (Requests) Kind() string { return "requests" }

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
		if q.Gang != nil {
			d.Text("gang")
			d.Text(q.Gang.String())
			d.Text(q.Gang.Where())
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

// Migration limits the moves of workloads in a cluster. The zero value allows no moves.
//
// MIG has no live migration. A move is a checkpoint and a restart: the workload stops, its state is saved to the memory
// of the host, its instance is destroyed and another one is created. The old slices are free in the slot of the move.
// The workload holds its new slices from the same slot on, pauses for Downtime slots and departs that much later. If a
// real checkpoint holds the old slices for longer, moves gain less than simulated.
type Migration struct {
	// Moves is the largest number of moves of the whole cluster in any Window consecutive slots.
	Moves, Window int
	Downtime      int // the number of slots for which a moved workload pauses and is not moved again
}

// maxDowntime keeps departures within an int.
const maxDowntime = 1 << 31

// Check returns an error if the numbers do not describe a budget.
func (m Migration) Check() error {
	if m.Moves < 0 || m.Downtime < 0 || m.Downtime > maxDowntime || m.Moves > 0 && m.Window < 1 {
		return fmt.Errorf("%d moves in %d slots with a downtime of %d slots; "+
			"give at least 0 moves, 1 slot, and a downtime from 0 to %d", m.Moves, m.Window, m.Downtime, maxDowntime)
	}
	return nil
}
