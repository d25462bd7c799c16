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

// Progress shows how much work is done and how long the rest will take. It shows a bar on a terminal, and otherwise
// prints a line every ten seconds.
type Progress struct {
	// terminal says that w is a terminal.
	terminal bool

	w io.Writer
	// noun names the units of work, for example cells.
	noun string
	bar  *progressbar.ProgressBar
	forecast
}

// sayEvery is the time between two forecasts, and between two lines if there is no terminal.
const sayEvery = 10 * time.Second

// longestForecast caps forecasts, so that they and their multiples fit a [time.Duration].
const longestForecast = 1000 * 24 * time.Hour

// leastShare is the share of the work before which there is no forecast in the first minute: a few units say little.
const leastShare = 0.005

// A forecast says how long the rest of some work will take, at the mean speed so far. It changes slowly, because quick
// units may come first.
type forecast struct {
	// start is the number of units that were done at the first call, at time began. They do not count for the speed.
	start int
	began time.Time
	// share is the share of the work since began that is done, by cost; 0 if the costs are unknown.
	share float64
	// left is the last forecast, from time made; 0 without a forecast.
	left time.Duration
	made time.Time
}

// update makes a new forecast.
func (f *forecast) update(done, total int, now time.Time) {
	passed, since := now.Sub(f.made), now.Sub(f.began)
	share := cmp.Or(f.share, float64(done-f.start)/float64(total-f.start))
	if done > f.start && (share >= leastShare || since >= time.Minute) {
		rest := float64(since) * (1 - share) / share
		left := time.Duration(min(rest, float64(longestForecast)))
		if f.left > 0 {
			least, most := (f.left-passed)*2/3, max(f.left, passed)*3/2
			left = min(max(left, least), most, longestForecast)
		}
		f.left = left
	}
	f.made = now
}

// NewProgress returns the progress of work that is counted in units with this noun, for example cells.
func NewProgress(w io.Writer, noun string) *Progress {
	f, ok := w.(*os.File)
	return &Progress{terminal: ok && term.IsTerminal(int(f.Fd())), w: w, noun: noun}
}

// SetShare sets the share of the work since the first call of Set that is done, by cost. Call it before Set if units
// differ in cost.
func (p *Progress) SetShare(share float64) { p.share = share }

// Set shows how many units are done.
func (p *Progress) Set(done, total int) {
	now := time.Now()
	if done == total { // later calls are about other work
		p.Done()
		return
	}
	if p.began.IsZero() {
		p.forecast = forecast{start: done, began: now, made: now, share: p.share}
	}
	due := now.Sub(p.made) >= sayEvery
	if due {
		p.update(done, total, now)
	}
	if !p.terminal {
		if due {
			fmt.Fprintf(p.w, "%s: %d of %d done%s\n", p.noun, done, total, p.rest())
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total-done,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.noun),
			progressbar.OptionSetPredictTime(false), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionFullWidth())
	}
	if due {
		p.bar.Describe(p.noun + p.rest())
	}
	// A bar that cannot be drawn does not stop the work.
	_ = p.bar.Set(done - p.start)
}

// rest returns the forecast as text; "" without a forecast.
func (p *Progress) rest() string {
	if p.left == 0 {
		return ""
	}
	return ", about " + p.left.Round(time.Second).String() + " left"
}

// Done removes the bar and the forecast.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	p.bar, p.forecast = nil, forecast{}
}

// RunUnits does work that is counted in units, such as cells, and shows its progress, which work sets. An interruption
// becomes an [InterruptedError]: if work returns none, it says that the same command continues the work.
func RunUnits(c *cobra.Command, noun string, work func(p *Progress) error) error {
	p := NewProgress(c.ErrOrStderr(), noun)
	err := work(p)
	p.Done()
	interrupted := InterruptedError{Kept: "what was computed is kept, run the same command again to go on"}
	if errors.Is(err, context.Canceled) && !errors.As(err, &interrupted) {
		return interrupted
	}
	return err
}
