package profiling_test

import (
	"errors"
	"testing"
	"time"

	"miglab/profiling"
)

// A load is of the samples in an interval, and of no others.
func TestWatchBetween(t *testing.T) {
	from := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	w := profiling.NewWatch(func() {})
	for i, s := range []profiling.Sample{
		{SMClock: 345, Power: 70, Temperature: 30, Throttle: 0x8},
		{SMClock: 1980, Power: 400, Temperature: 50},
		{SMClock: 1755, Power: 690, Temperature: 60, Throttle: 0x4},
		{SMClock: 1785, Power: 680, Temperature: 58, Throttle: 0x20 | 0x4},
		{SMClock: 345, Power: 70, Temperature: 40, Throttle: 0x1},
	} {
		s.At = from.Add(time.Duration(i) * profiling.SampleInterval)
		w.Add(s)
	}
	got := w.Between(from.Add(profiling.SampleInterval), from.Add(3*profiling.SampleInterval))
	want := profiling.Load{Samples: 3, ClockMin: 1755, ClockMean: 1840, ClockMax: 1980, PowerMean: 590, PowerMax: 690, TemperatureMax: 60, Throttle: "power-cap+sw-thermal"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := w.Between(from.Add(time.Hour), from.Add(2*time.Hour)); got != (profiling.Load{Throttle: "unknown"}) {
		t.Errorf("without samples: %+v", got)
	}
	var none *profiling.Watch
	none.Close()
	if got := none.Between(from, from); got != (profiling.Load{Throttle: "unknown"}) {
		t.Errorf("without a watch: %+v", got)
	}
	// Being idle is no reason.
	if got := profiling.ThrottleReasons(0x1); got != "none" {
		t.Errorf("idle: %s", got)
	}
}

// A watch samples while something runs, also after samples that fail, and ends when it is closed.
func TestWatchEvery(t *testing.T) {
	from, n := time.Now(), 0
	w := profiling.Every(func() (profiling.Sample, error) {
		if n++; n < 3 {
			return profiling.Sample{}, errors.New("the driver is busy")
		}
		return profiling.Sample{At: time.Now(), SMClock: 1000}, nil
	})
	for w.Between(from, time.Now()).Samples < 2 {
		if time.Since(from) > 10*time.Second {
			t.Fatal("there are no samples after the first that failed")
		}
		time.Sleep(time.Millisecond)
	}
	if got := w.Failures(); got != 2 {
		t.Errorf("%d failures, want 2", got)
	}
	closed := false
	w.Then(func() { closed = true }).Close()
	if !closed || n < 2 {
		t.Errorf("closed: %v after %d samples", closed, n)
	}
}
