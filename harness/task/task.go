package task

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"miglab/harness/mig"
)

// The shortest and the longest duration of a task.
const (
	MinSeconds = 1e-6 // far above the precision with which schedules are checked
	// MaxSeconds is about 30,000 years. Sums of such durations keep their precision.
	MaxSeconds = 1e12
)

// never is the duration on a size that a task does not fit.
var never = mig.Seconds(math.Inf(1))

// A Task is a moldable task: the scheduler chooses the size of the instance that runs it.
// The zero value fits no instance.
type Task struct {
	Name string // identifies the task within its batch
	// seconds holds the duration for size s at index s-1. Zero and +Inf mean that the task does not fit.
	seconds [mig.MaxSize]mig.Seconds
}

// New returns a task with the given duration for each size, in seconds. It does not fit
// the sizes that are missing or have +Inf.
func New(name string, seconds map[mig.Slices]mig.Seconds) Task {
	t := Task{Name: name}
	for s, d := range seconds {
		t.Set(s, d)
	}
	return t
}

// On returns the duration of the task on an instance of the size, t_i(s) in FAR 2.2. It
// returns +Inf if the task does not fit.
func (t *Task) On(size mig.Slices) mig.Seconds {
	d := t.seconds[size-1]
	if d == 0 {
		return never
	}
	return d
}

// Set sets the task's duration on instances of a size; 0 or +Inf means that the task does not fit.
func (t *Task) Set(size mig.Slices, d mig.Seconds) { t.seconds[size-1] = d }

// Fits reports whether the task runs on instances of the size.
func (t *Task) Fits(size mig.Slices) bool { return t.On(size) != never }

// Work returns the smallest work of the task over the sizes, in slice-seconds: size times duration. It is +Inf if the
// task does not fit any of them.
func (t *Task) Work(sizes []mig.Slices) float64 {
	least := math.Inf(1)
	for _, s := range sizes {
		least = min(least, float64(s)*float64(t.On(s)))
	}
	return least
}

// A Batch is a list of tasks that are scheduled together, in order of arrival.
type Batch []Task

// Validate checks that the batch can be scheduled on the GPU: it has tasks, the names are distinct and not empty,
// every duration is from [MinSeconds] to [MaxSeconds] or +Inf, and every task fits some instance.
func (b Batch) Validate(g *mig.GPU) error {
	if len(b) == 0 {
		return fmt.Errorf("the batch has no tasks")
	}
	seen := make(map[string]int, len(b))
	for i := range b {
		t := &b[i]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("task %q (number %d) %s", t.Name, i+1, fmt.Sprintf(format, args...))
		}
		if t.Name == "" {
			return bad("has no name")
		}
		j, repeated := seen[t.Name]
		if repeated {
			return bad("has the name of task number %d; names must differ", j+1)
		}
		seen[t.Name] = i
		fits := false
		for _, s := range g.Sizes() {
			d := t.On(s)
			if d == never {
				continue
			}
			if !(d >= MinSeconds && d <= MaxSeconds) {
				return bad("takes %v s on %d slices; a duration is from %g to %g s, or inf", d, s, MinSeconds,
					MaxSeconds)
			}
			fits = true
		}
		if !fits {
			return bad("fits no instance of %s (sizes %v)", g, g.Sizes())
		}
	}
	return nil
}

// Hash returns a hash of the content: names, durations and their order.
func (b Batch) Hash() [sha256.Size]byte {
	h := sha256.New()
	var buf []byte
	for i := range b {
		buf = append(buf[:0], b[i].Name...)
		buf = append(buf, 0)
		for _, d := range b[i].seconds {
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(float64(d)))
		}
		h.Write(buf)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Batches is one batch of tasks, or a stream of several.
type Batches struct {
	Tasks   Batch // the batches one after the other, each in order of arrival
	Lengths []int // the number of tasks of each batch; it adds up to len(Tasks)
	// Start lists the instances that exist at time 0. If it is empty, the GPU is empty.
	Start []Existing
	// Arrivals holds the time at which each task arrives, in ascending order. It is nil if all tasks arrive at time 0.
	Arrivals []mig.Seconds
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
	GPU      int // counts from 0
	Instance mig.Instance
	// BusyUntil is the time from which the instance can be used or destroyed. It is 0 if the instance is idle.
	BusyUntil mig.Seconds
}

// OneBatch returns the payload that consists of a single batch.
func OneBatch(b Batch) Batches { return Batches{Tasks: b, Lengths: []int{len(b)}} }

func (Batches) Kind() string { return "tasks" }

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
	if b.Restart > 0 {
		d.Text("restart")
		d.Float(float64(b.Restart))
	}
}

// WriteCSV implements [Payload]. The format cannot express instances that exist at time 0 or tasks that can be
// stopped; each is an error.
func (b Batches) WriteCSV(w io.Writer, g *mig.GPU) error {
	if len(b.Start) > 0 {
		return fmt.Errorf("%d instances exist at time 0, and a tasks file cannot say so; write tasks that start on "+
			"an empty GPU", len(b.Start))
	}
	if b.Restart > 0 {
		return fmt.Errorf("tasks can be stopped, and a tasks file cannot say so; write a dataset with restart=0")
	}
	return WriteStream(w, g, b)
}
