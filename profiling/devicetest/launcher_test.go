package devicetest_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/kernel"
)

func TestLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, second := devicetest.New(a100), devicetest.New(a100, devicetest.Number(1))
		l := &devicetest.Launcher{
			GPUs: []*devicetest.GPU{d, second},
			Times: map[string]map[mig.Slices]mig.Seconds{
				"lud": {1: 10, 3: 4}, "big": {1: mig.Seconds(math.Inf(1))}, "crash": {1: 1},
			},
			Crash: map[string]bool{"crash": true}, Slowdown: map[string]float64{"lud": 0.5},
		}
		one, three, far := create(t, d, on(a100, 1, 0)), create(t, d, on(a100, 3, 4)), create(t, second, on(a100, 1, 0))
		stale := create(t, d, on(a100, 1, 1))
		destroy(t, d, stale)
		for _, c := range []struct {
			kernel  kernel.Kernel
			on      profiling.Instance
			status  kernel.Status
			seconds mig.Seconds
			took    time.Duration
		}{
			{kernel.Kernel{Name: "lud"}, one, kernel.OK, 10, 10 * time.Second},
			{kernel.Kernel{Name: "lud"}, three, kernel.OK, 4, 4 * time.Second},
			{kernel.Kernel{Name: "lud", Timeout: time.Minute}, far, kernel.OK, 10, 10 * time.Second},
			{kernel.Kernel{Name: "lud", Timeout: time.Second}, one, kernel.Timeout, 0, time.Second},
			{kernel.Kernel{Name: "big"}, one, kernel.OutOfMemory, 0, 0},
			{kernel.Kernel{Name: "crash"}, one, kernel.Crash, 0, time.Second},
			{kernel.Kernel{Name: "lud"}, stale, kernel.Crash, 0, 0},
		} {
			start := time.Now()
			out, err := l.Launch(t.Context(), &c.kernel, c.on)
			if c.seconds == 0 {
				c.seconds = mig.Seconds(math.Inf(1))
			}
			if err != nil || out.Status != c.status || out.Seconds != c.seconds || time.Since(start) != c.took || out.Start != start || out.End != start.Add(c.took) {
				t.Errorf("%s on %v: %+v, %v after %v", c.kernel.Name, c.on, out, err, time.Since(start))
			}
			if (out.Detail == "") != (out.Status == kernel.OK) {
				t.Errorf("%s on %v: status %s with detail %q", c.kernel.Name, c.on, out.Status, out.Detail)
			}
			if ps, err := d.Processes(); err != nil || len(ps) > 0 {
				t.Errorf("%s left processes %v, %v", c.kernel.Name, ps, err)
			}
		}
		if _, err := l.Launch(t.Context(), &kernel.Kernel{Name: "lud"}, create(t, second, on(a100, 2, 2))); err == nil {
			t.Error("a kernel runs that has no time on size 2")
		}
	})
}

func TestLaunchBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := devicetest.New(a100)
		l := &devicetest.Launcher{
			GPUs:  []*devicetest.GPU{d},
			Times: map[string]map[mig.Slices]mig.Seconds{"noisy": {1: 100}, "soft": {1: 10}}, Slowdown: map[string]float64{"soft": 0.5},
		}
		one, two, three := create(t, d, on(a100, 1, 0)), create(t, d, on(a100, 1, 1)), create(t, d, on(a100, 1, 2))
		for _, i := range []profiling.Instance{one, two} {
			go l.Launch(t.Context(), &kernel.Kernel{Name: "noisy"}, i)
		}
		synctest.Wait()
		if ps, err := d.Processes(); err != nil || len(ps) != 2 || ps[0].PID == ps[1].PID || ps[0].Name != "noisy" {
			t.Errorf("processes %v, %v", ps, err)
		}
		wants(t, d.Destroy(one.ID), profiling.ErrBusy, "destroy instance 0")
		if out, err := l.Launch(t.Context(), &kernel.Kernel{Name: "soft"}, three); err != nil || out.Seconds != 20 {
			t.Errorf("beside two others: %+v, %v; want 20 s", out, err)
		}
		time.Sleep(time.Minute * 2)
		if out, err := l.Launch(t.Context(), &kernel.Kernel{Name: "soft"}, three); err != nil || out.Seconds != 10 {
			t.Errorf("alone: %+v, %v; want 10 s", out, err)
		}
	})
}

func TestLaunchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := devicetest.New(a100)
		l := &devicetest.Launcher{GPUs: []*devicetest.GPU{d}, Times: map[string]map[mig.Slices]mig.Seconds{"lud": {1: 10}}}
		i := create(t, d, on(a100, 1, 0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		for range 2 {
			if _, err := l.Launch(ctx, &kernel.Kernel{Name: "lud"}, i); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("error %v after %v", err, time.Since(start))
			}
		}
		if ps, err := d.Processes(); err != nil || len(ps) > 0 {
			t.Errorf("processes %v, %v", ps, err)
		}
		go func() {
			time.Sleep(time.Second)
			d.Lose()
		}()
		for range 2 { // while it runs, and before
			if out, err := l.Launch(t.Context(), &kernel.Kernel{Name: "lud"}, i); err != nil || out.Status != kernel.Crash {
				t.Errorf("on a lost GPU: %+v, %v", out, err)
			}
		}
	})
}
