package profiling

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"miglab/datasets"
)

// SampleInterval is the pause between two samples of a GPU that works.
const SampleInterval = 100 * time.Millisecond

// A Sample has the clock, power and temperature of a GPU at an instant. A value that the GPU does not report is 0.
type Sample struct {
	At time.Time
	// SMClock is in MHz, Power in W, Temperature in degrees Celsius.
	SMClock     int
	Power       float64
	Temperature int
	// Throttle is NVML's set of reasons for lower clocks, or [ThrottleUnknown].
	Throttle uint64
}

// Join returns the load over several intervals. Intervals without samples do not count.
func Join(loads ...datasets.Load) datasets.Load {
	all := datasets.Load{Throttle: "unknown"}
	for _, l := range loads {
		switch {
		case l.Samples == 0:
			continue
		case all.Samples == 0:
			all = l
			continue
		}
		n, m := float64(all.Samples), float64(l.Samples)
		all.Samples += l.Samples
		all.ClockMin, all.ClockMax = min(all.ClockMin, l.ClockMin), max(all.ClockMax, l.ClockMax)
		all.ClockMean = (float64(n*all.ClockMean) + float64(m*l.ClockMean)) / (n + m)
		all.PowerMean = (float64(n*all.PowerMean) + float64(m*l.PowerMean)) / (n + m)
		all.PowerMax = max(all.PowerMax, l.PowerMax)
		all.TemperatureMax = max(all.TemperatureMax, l.TemperatureMax)
		names := strings.Split(all.Throttle+"+"+l.Throttle, "+")
		all.Throttle = joinReasons(func(r reason) bool { return slices.Contains(names, r.name) })
	}
	return all
}

// A Watch holds samples of a device; the zero value is empty. Its methods are safe for concurrent use.
type Watch struct {
	mu      sync.Mutex
	samples []Sample
	// failures counts the samples that could not be taken.
	failures int
	// stop ends the sampling; nil if nothing is sampled.
	stop func()
}

// NewWatch returns a watch that samples at SampleInterval until it is closed. It counts the samples that fail, and goes
// on. It calls last when sampling has ended; Close waits for that.
func NewWatch(sample func() (Sample, error), last func()) *Watch {
	quit, done := make(chan struct{}), make(chan struct{})
	w := &Watch{stop: sync.OnceFunc(func() {
		close(quit)
		<-done
	})}
	go func() {
		defer close(done)
		defer last()
		tick := time.NewTicker(SampleInterval)
		defer tick.Stop()
		for {
			w.add(sample())
			select {
			case <-quit:
				return
			case <-tick.C:
			}
		}
	}()
	return w
}

// add adds a sample, or counts the failure to take one.
func (w *Watch) add(s Sample, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failures++
		return
	}
	w.samples = append(w.samples, s)
}

// Failures returns how many samples could not be taken so far.
func (w *Watch) Failures() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failures
}

// Close ends the sampling. A second call does nothing.
func (w *Watch) Close() {
	if w.stop != nil {
		w.stop()
	}
}

// Between summarises the samples from one instant to another, both included.
func (w *Watch) Between(from, to time.Time) datasets.Load {
	l := datasets.Load{Throttle: "unknown"}
	w.mu.Lock()
	defer w.mu.Unlock()
	var throttle uint64
	for _, s := range w.samples {
		if s.At.Before(from) || s.At.After(to) {
			continue
		}
		if l.Samples == 0 {
			l.ClockMin = s.SMClock
		}
		l.Samples++
		l.ClockMin, l.ClockMax = min(l.ClockMin, s.SMClock), max(l.ClockMax, s.SMClock)
		l.ClockMean += float64(s.SMClock)
		l.PowerMean += s.Power
		l.PowerMax = max(l.PowerMax, s.Power)
		l.TemperatureMax = max(l.TemperatureMax, s.Temperature)
		throttle |= s.Throttle
	}
	if l.Samples > 0 {
		l.ClockMean /= float64(l.Samples)
		l.PowerMean /= float64(l.Samples)
		l.Throttle = ThrottleReasons(throttle)
	}
	return l
}

// ThrottleUnknown represents the reasons of a GPU that does not report them.
const ThrottleUnknown = 1 << 63

// A reason is a bit of NVML's clocks event reasons (nvml.h), and its name.
type reason struct {
	bit  uint64
	name string
}

// The bit 0x1, being idle, is left out: it does not lower the clocks of a kernel.
var reasons = []reason{
	{0x2, "applications-clocks"},
	{0x4, "power-cap"},
	{0x8, "hw-slowdown"},
	{0x10, "sync-boost"},
	{0x20, "sw-thermal"},
	{0x40, "hw-thermal"},
	{0x80, "hw-power-brake"},
	{0x100, "display-clocks"},
	{ThrottleUnknown, "unknown"},
}

// ThrottleReasons returns the names of the known reasons in a set, joined by +; "none" if there is none.
func ThrottleReasons(set uint64) string {
	return joinReasons(func(r reason) bool { return set&r.bit != 0 })
}

// joinReasons returns the names of the reasons that hold, joined by +; "none" if none does.
func joinReasons(holds func(reason) bool) string {
	var names []string
	for _, r := range reasons {
		if holds(r) {
			names = append(names, r.name)
		}
	}
	return cmp.Or(strings.Join(names, "+"), "none")
}
