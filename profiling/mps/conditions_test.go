package mps

import (
	"strings"
	"testing"
	"time"

	"miglab/profiling"
)

// Samples have the time that nvidia-smi says; lines that are none are left out.
func TestReadSamples(t *testing.T) {
	w := profiling.NewWatch(func() {})
	readSamples(strings.NewReader(strings.Join([]string{
		"2026/11/22 21:00:00.100, 345, 70.10, 30, 0x0000000000000001",
		"2026/11/22 21:00:00.200, 1980, 400.00, 50, 0x0000000000000004",
		"2026/11/22 21:00:00.300, 1755, [N/A], [N/A], [N/A]",
		"Unable to determine the device handle for GPU: Unknown Error",
		"yesterday, 1, 1, 1, 0x1",
	}, "\n")), w)
	from := time.Date(2026, 11, 22, 21, 0, 0, 0, time.Local)
	got := w.Between(from.Add(150*time.Millisecond), from.Add(time.Hour))
	want := profiling.Load{Samples: 2, ClockMin: 1755, ClockMean: 1867.5, ClockMax: 1980, PowerMean: 200, PowerMax: 400, TemperatureMax: 50, Throttle: "power-cap+unknown"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := w.Failures(); n != 2 {
		t.Errorf("%d lines are no samples, want 2", n)
	}
}
