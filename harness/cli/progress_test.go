package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
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
