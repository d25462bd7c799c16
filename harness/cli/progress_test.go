package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Where there is no terminal, a line every ten seconds says how far the work is, from the speed
// of what was done since the first call.
func TestProgressWithoutTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := NewProgress(&b, "cells")
		for done := 40; done <= 100; done++ {
			p.Set(done, 100)
			time.Sleep(time.Second)
		}
		p.Done()
		want := "cells: 50 of 100 done, about 50s left\ncells: 60 of 100 done, about 40s left\ncells: 70 of 100 done, about 30s left\n" +
			"cells: 80 of 100 done, about 20s left\ncells: 90 of 100 done, about 10s left\n"
		if b.String() != want {
			t.Errorf("%s\nwant %s", b.String(), want)
		}
	})
}

func TestProgressOfQuickWorkIsSilent(t *testing.T) {
	var b strings.Builder
	p := NewProgress(&b, "cells")
	for done := range 101 {
		p.Set(done, 100)
	}
	p.Done()
	if b.Len() > 0 {
		t.Errorf("%q was printed", b.String())
	}
}

// However the costs of units change, the forecast moves a little at a time. It reaches the speed of all that was done,
// also where quick units came first.
func TestForecastsDoNotJump(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		costs := rapid.SliceOfN(rapid.Float64Range(0.001, 100), 1, 20).Draw(t, "costs")
		length := rapid.IntRange(1, 200).Draw(t, "length")
		total := length * len(costs)
		var f forecast
		began := time.Unix(0, 0)
		f.began, f.made = began, began
		now := began
		for done := range total {
			now = now.Add(time.Duration(costs[done/length] * float64(time.Second)))
			passed, last := now.Sub(f.made), f.left
			if passed < sayEvery {
				continue
			}
			f.update(done+1, total, now)
			if last > 0 && (f.left < (last-passed)*2/3 || f.left > max(last, passed)*3/2) {
				t.Fatalf("%v after %v is %v", last, passed, f.left)
			}
		}
	})
	f := forecast{began: time.Unix(0, 0), made: time.Unix(0, 0)}
	for i := range 100 { // quick units hide how long the others take
		f.update(1000+i, 1200, time.Unix(int64(10*(i+1)), 0))
	}
	if want := 1000. / 1099 * 101; f.left.Seconds() < want-1 || f.left.Seconds() > want+1 {
		t.Errorf("%v is left, want %.0f s", f.left, want)
	}
}

// A tiny share is no overflow: the forecast is capped, also where it follows another one.
func TestForecastOfATinyShare(t *testing.T) {
	f := forecast{began: time.Unix(0, 0), made: time.Unix(0, 0), share: 1e-18}
	for i := range 1000 {
		f.update(1, 1000, time.Unix(int64(10*(i+6)), 0))
		if f.left <= 0 || f.left > longestForecast {
			t.Fatalf("%v is left", f.left)
		}
	}
}

// The first units of much work say little: 1 of 8 million after ten seconds became "about 24000h left", from which the
// forecast came down in five minutes.
func TestFirstForecastWaitsForAShare(t *testing.T) {
	f := forecast{began: time.Unix(0, 0), made: time.Unix(0, 0)}
	for i, share := range []float64{1e-9, 1e-5, 0.004} {
		f.share = share
		if f.update(1+i, 8_000_000, time.Unix(int64(10*(i+1)), 0)); f.left != 0 {
			t.Errorf("%v is left after a share of %v", f.left, share)
		}
	}
	f.share = 0.02
	if f.update(10, 8_000_000, time.Unix(40, 0)); f.left != 1960*time.Second {
		t.Errorf("%v is left, want 32m40s", f.left)
	}
}
