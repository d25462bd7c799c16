package profiling_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"miglab/datasets"
	"miglab/profiling"
)

// A load is of the samples in an interval, and of no others.
func TestWatchBetween(t *testing.T) {
	from := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	w := new(profiling.Watch)
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
	want := datasets.Load{Samples: 3, ClockMin: 1755, ClockMean: 1840, ClockMax: 1980, PowerMean: 590, PowerMax: 690, TemperatureMax: 60, Throttle: "power-cap+sw-thermal"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := w.Between(from.Add(time.Hour), from.Add(2*time.Hour)); got != (datasets.Load{Throttle: "unknown"}) {
		t.Errorf("without samples: %+v", got)
	}
	var none profiling.Watch
	none.Close()
	if got := none.Between(from, from); got != (datasets.Load{Throttle: "unknown"}) {
		t.Errorf("without a watch: %+v", got)
	}
	// Being idle is no reason.
	if got := profiling.ThrottleReasons(0x1); got != "none" {
		t.Errorf("idle: %s", got)
	}
}

// The loads of two times are one of both; the order of the reasons stays that of the driver.
func TestLoadsTogether(t *testing.T) {
	a := datasets.Load{Samples: 1, ClockMin: 1755, ClockMean: 1755, ClockMax: 1755, PowerMean: 690, PowerMax: 690, TemperatureMax: 60, Throttle: "sw-thermal"}
	b := datasets.Load{Samples: 3, ClockMin: 1800, ClockMean: 1855, ClockMax: 1980, PowerMean: 590, PowerMax: 600, TemperatureMax: 50, Throttle: "power-cap+sw-thermal"}
	want := datasets.Load{Samples: 4, ClockMin: 1755, ClockMean: 1830, ClockMax: 1980, PowerMean: 615, PowerMax: 690, TemperatureMax: 60, Throttle: "power-cap+sw-thermal"}
	join := profiling.Join
	if got := join(a, b); got != want || join(b, a) != want {
		t.Errorf("%+v, %+v, want %+v", got, join(b, a), want)
	}
	unknown := datasets.Load{Throttle: "unknown"}
	if join(unknown, a) != a || join(a, unknown) != a || join(unknown, unknown) != unknown {
		t.Errorf("times without samples change the others: %+v, %+v", join(unknown, a), join(a, unknown))
	}
}

// A watch samples ten times a second.
func TestWatchSamplesTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := time.Now()
		w := profiling.NewWatch(func() (profiling.Sample, error) { return profiling.Sample{At: time.Now()}, nil }, func() {})
		defer w.Close()
		time.Sleep(10*time.Second + time.Millisecond)
		if n := w.Between(from, time.Now()).Samples; n != 101 {
			t.Errorf("%d samples in ten seconds, want 101", n)
		}
	})
}

// A watch samples while something runs, also after samples that fail, and ends when it is closed.
func TestWatchEvery(t *testing.T) {
	from, n, closed := time.Now(), 0, false
	w := profiling.NewWatch(func() (profiling.Sample, error) {
		if n++; n < 3 {
			return profiling.Sample{}, errors.New("the driver is busy")
		}
		return profiling.Sample{At: time.Now(), SMClock: 1000}, nil
	}, func() { closed = true })
	for w.Between(from, time.Now()).Samples < 2 { // until go test has no more patience
		time.Sleep(time.Millisecond)
	}
	if got := w.Failures(); got != 2 {
		t.Errorf("%d failures, want 2", got)
	}
	w.Close()
	w.Close() // does no harm
	if !closed || n < 2 {
		t.Errorf("closed: %v after %d samples", closed, n)
	}
}
