package datasets

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/harness/mig"
)

// overlapRow is a row of a group on an H200. Its numbers are made up.
func overlapRow(group string, job, run int, kernel string, sms int, seconds float64) OverlapRate {
	return OverlapRate{
		Provenance: Provenance{"H200", "NVIDIA H200", "570.1", mig.SourcePartition, "2026-11-22"}, UUID: "u", Group: group, Job: job, Kernel: kernel,
		SMs: sms, Of: 132, Run: run, Iterations: 10, Window: mig.Seconds(10 * seconds), Iteration: mig.Seconds(seconds),
		Overlap: 1, Load: Load{Samples: 3, ClockMin: 1, ClockMean: 2, ClockMax: 3, PowerMean: 4, PowerMax: 5, TemperatureMax: 6, Throttle: "none"},
	}
}

// What is written can be read, and what no measurement gives is refused.
func TestOverlapRows(t *testing.T) {
	read := func(change func(r []OverlapRate) []OverlapRate) error {
		rows := change([]OverlapRate{
			overlapRow("gemm:60", 1, 1, "gemm", 60, 0.1),
			overlapRow("gemm:60 stream:64", 1, 1, "gemm", 60, 0.2),
			overlapRow("gemm:60 stream:64", 2, 1, "stream", 64, 0.3),
			overlapRow("gemm:all", 1, 1, "gemm", 132, 0.05),
		})
		var text bytes.Buffer
		if err := WriteHardware(&text, rows); err != nil {
			t.Fatal(err)
		}
		h, err := ReadHardware(fstest.MapFS{"a.overlap.csv": &fstest.MapFile{Data: text.Bytes()}})
		if err == nil && (len(h.Overlap) != 1 || h.Overlap[0].Rows[0] != rows[0]) {
			t.Errorf("%+v", h.Overlap)
		}
		return err
	}
	if err := read(func(r []OverlapRate) []OverlapRate { return r }); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(r []OverlapRate) []OverlapRate{
		`unknown source "whole-gpu"`: func(r []OverlapRate) []OverlapRate {
			for i := range r {
				r[i].Source = "whole-gpu"
			}
			return r
		},
		"is not followed by job 2":   func(r []OverlapRate) []OverlapRate { return r[:2] },
		"job 3; run 1 of the group":  func(r []OverlapRate) []OverlapRate { r[1].Job = 3; return r },
		"not followed by job 2":      func(r []OverlapRate) []OverlapRate { return append(r[:2], r[3]) },
		"does not follow job 1":      func(r []OverlapRate) []OverlapRate { return r[2:] },
		"run 1 of the group":         func(r []OverlapRate) []OverlapRate { return append(r, r[0]) },
		"job 1 is gemm:32":           func(r []OverlapRate) []OverlapRate { r[0].SMs = 32; return r },
		"job 1 is lu:60":             func(r []OverlapRate) []OverlapRate { r[0].Kernel = "lu"; return r },
		"133 of 132 multiprocessors": func(r []OverlapRate) []OverlapRate { r[0].SMs = 133; return r },
		"the overlap is 0.5":         func(r []OverlapRate) []OverlapRate { r[1].Overlap = 0.5; return r },
		"an iteration takes 3 s":     func(r []OverlapRate) []OverlapRate { r[1].Iteration = 3; return r },
		"0 iterations":               func(r []OverlapRate) []OverlapRate { r[1].Iterations = 0; return r },
		"run 0":                      func(r []OverlapRate) []OverlapRate { r[3].Run = 0; return r },
		"clocks from 9 to 3 MHz":     func(r []OverlapRate) []OverlapRate { r[3].ClockMin = 9; return r },
	} {
		if err := read(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// The driver rounds.
	if err := read(func(r []OverlapRate) []OverlapRate { r[0].SMs = 64; return r }); err != nil {
		t.Error(err)
	}
}

// Medians are over the runs of a group.
func TestOverlaps(t *testing.T) {
	var rows []OverlapRate
	for run, seconds := range []float64{3, 1, 2, 5} {
		rows = append(rows, overlapRow("a:8 b:8", 1, run+1, "a", 8, seconds), overlapRow("a:8 b:8", 2, run+1, "b", 8, 10*seconds))
	}
	got := Overlaps(rows)
	if len(got) != 2 || got[0].Iteration != 2.5 || got[1].Iteration != 25 || got[1].Run != 4 {
		t.Errorf("%+v", got)
	}
}

// A stub says what it is in its name or its driver's version.
func TestStub(t *testing.T) {
	for _, c := range []struct {
		name, driver string
		want         bool
	}{
		{"NVIDIA H200", "570.1", false},
		{"NVIDIA H200 emulated", "CUDA 12.8", true},
		{"NVIDIA A100-SXM4-40GB", "535.54.03-stub", true},
	} {
		p := Provenance{"H200", c.name, c.driver, mig.SourcePartition, "2026-11-22"}
		if p.Stub() != c.want {
			t.Errorf("%+v: %v", p, p.Stub())
		}
		r := overlapRow("a:8", 1, 1, "a", 8, 1)
		r.Provenance = p
		var text bytes.Buffer
		if err := WriteHardware(&text, []OverlapRate{r}); err != nil {
			t.Fatal(err)
		}
		h, err := ReadHardware(fstest.MapFS{"f.overlap.csv": {Data: text.Bytes()}})
		if got := h.Stub == "f.overlap.csv"; err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", p, h.Stub, err)
		}
	}
}
