package schedule_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// processorTime is what this process has computed so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cheapest is the processor time of the cheapest of three calls.
func cheapest(t *testing.T, call func()) time.Duration {
	t.Helper()
	least := time.Duration(1<<63 - 1)
	for range 3 {
		before := processorTime(t)
		call()
		least = min(least, processorTime(t)-before)
	}
	return least
}

// Eight times as many placements may take 8 times as long and some more for sorting;
// quadratic work takes 64 times as long.
func TestDecodeAndCheckGrowLinearly(t *testing.T) {
	work := func(n int) time.Duration {
		p, s := alternating(n)
		var b bytes.Buffer
		if err := schedule.Encode(&b, p, s); err != nil {
			t.Fatal(err)
		}
		return cheapest(t, func() {
			s, err := schedule.Decode(bytes.NewReader(b.Bytes()), p)
			if err != nil {
				t.Fatal(err)
			}
			if found := schedule.Check(p, s); found != nil {
				t.Fatal(found[0])
			}
		})
	}
	small, large := work(5_000), work(40_000)
	if large > 24*small {
		t.Errorf("5,000 placements take %v and 40,000 take %v of processor time", small, large)
	}
}

// A program that answers with too many placements must not hold the run.
func TestManyViolationsGrowLinearly(t *testing.T) {
	work := func(n int) time.Duration {
		p, s := alternating(20)
		for i := range n {
			s.Placements = append(s.Placements, s.Placements[i])
		}
		return cheapest(t, func() {
			_, err := schedule.Measure(p, s)
			invalid, ok := errors.AsType[*schedule.InvalidError](err)
			if !ok || len(invalid.Violations) < n || len(err.Error()) > 2000 {
				t.Fatalf("%d placements too many: %.200v", n, err)
			}
		})
	}
	small, large := work(5_000), work(40_000)
	if large > 24*small {
		t.Errorf("5,000 placements too many take %v and 40,000 take %v of processor time", small, large)
	}
}

func TestAnUnknownNameOfManyBytesIsNotCompared(t *testing.T) {
	p := schedule.Problem{GPU: a100}
	for i := range 1000 {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint("task ", i), map[mig.Slices]mig.Seconds{1: 1}))
	}
	name := strings.Repeat("x", 1<<20)
	text := strings.Replace(small, `"gaussian"`, `"`+name+`"`, 1)
	_, err := schedule.Decode(strings.NewReader(text), p)
	if err == nil || !strings.Contains(err.Error(), "unknown task") || len(err.Error()) > 1000 {
		t.Errorf("%.300v", err)
	}
}
