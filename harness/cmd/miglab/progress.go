package main

import (
	"cmp"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar with the time left, on terminals only.
type progress struct {
	w     io.Writer
	what  string
	bar   *progressbar.ProgressBar
	start int
}

func newProgress(w io.Writer, what string) *progress {
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		w = nil
	}
	return &progress{w: w, what: what}
}

// set shows how many units are done. Those done before the first call do not
// count for the speed.
func (p *progress) set(done, total int) {
	if p.w == nil {
		return
	}
	if p.bar == nil {
		p.start = done
		if done == total {
			return
		}
		p.bar = progressbar.NewOptions(total-done,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what),
			progressbar.OptionSetPredictTime(true), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set(done - p.start)
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
