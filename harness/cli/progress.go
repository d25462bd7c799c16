package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Progress shows how much work is done and how long the rest will take: as a bar on a terminal, and
// elsewhere as a line every ten seconds.
type Progress struct {
	// terminal says that there is a bar.
	terminal bool

	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
	forecast
}

// sayEvery is how often the forecast is made, and how often there is a line where there is no terminal.
const sayEvery = 10 * time.Second

// A forecast says how long the rest of some work will take, from the speed of all that was done. Units differ, and
// quick ones may come first. So it grows by at most a half at a time, and beyond the time that has passed it shrinks by
// at most a third.
type forecast struct {
	// start counts the work that was done before the first call, at began. It does not count for the speed.
	start       int
	began, made time.Time
	// share is the share of the work since then that is done, by its costs; 0 if these are not known.
	share float64
	// left is the forecast that was made then; 0 without a forecast.
	left time.Duration
}

// make makes the forecast.
func (f *forecast) make(done, total int, now time.Time) {
	passed := now.Sub(f.made)
	if done > f.start {
		share := cmp.Or(f.share, float64(done-f.start)/float64(total-f.start))
		left := time.Duration(float64(now.Sub(f.began)) * (1 - share) / share)
		if f.left > 0 {
			left = min(max(left, (f.left-passed)*2/3), max(f.left, passed)*3/2)
		}
		f.left = left
	}
	f.made = now
}

// NewProgress returns the progress of work that is counted in something, for example cells.
func NewProgress(w io.Writer, what string) *Progress {
	f, ok := w.(*os.File)
	return &Progress{terminal: ok && term.IsTerminal(int(f.Fd())), w: w, what: what}
}

// SetShare says, before a call of Set, which share of the work since the first call is done, where units differ in
// cost.
func (p *Progress) SetShare(share float64) { p.share = share }

// Set shows how many units are done.
func (p *Progress) Set(done, total int) {
	now := time.Now()
	if done == total { // what comes after this is other work
		p.Done()
		return
	}
	if p.began.IsZero() {
		p.forecast = forecast{start: done, began: now, made: now, share: p.share}
	}
	due := now.Sub(p.made) >= sayEvery
	if due {
		p.make(done, total, now)
	}
	if !p.terminal {
		if due {
			fmt.Fprintf(p.w, "%s: %d of %d done%s\n", p.what, done, total, p.rest())
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total-done,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what),
			progressbar.OptionSetPredictTime(false), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionFullWidth())
	}
	if due {
		p.bar.Describe(p.what + p.rest())
	}
	// A bar that cannot be drawn does not stop the work.
	_ = p.bar.Set(done - p.start)
}

// rest words the forecast.
func (p *Progress) rest() string {
	if p.left == 0 {
		return ""
	}
	return ", about " + p.left.Round(time.Second).String() + " left"
}

// Done takes the bar away.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	p.bar, p.forecast = nil, forecast{}
}

// RunUnits does work that is counted in units, such as cells, and shows how much of it is done: work tells
// the progress, and may print when all is done. Where it was interrupted and does not say itself what it kept, the
// same command goes on with it.
func RunUnits(c *cobra.Command, unit string, work func(p *Progress) error) error {
	p := NewProgress(c.ErrOrStderr(), unit)
	err := work(p)
	p.Done()
	interrupted := InterruptedError{Kept: "what was computed is kept, run the same command again to go on"}
	if errors.Is(err, context.Canceled) && !errors.As(err, &interrupted) {
		return interrupted
	}
	return err
}
