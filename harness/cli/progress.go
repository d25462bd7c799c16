package cli

import (
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
	// Terminal says that there is a bar.
	Terminal bool

	w    io.Writer
	what string
	bar  *progressbar.ProgressBar
	// start is what was done before the first call, at began. It does not count for the speed.
	start       int
	began, said time.Time
}

// sayEvery is how often there is a line where there is no terminal.
const sayEvery = 10 * time.Second

// NewProgress returns the progress of work that is counted in something, for example cells.
func NewProgress(w io.Writer, what string) *Progress {
	f, ok := w.(*os.File)
	return &Progress{Terminal: ok && term.IsTerminal(int(f.Fd())), w: w, what: what}
}

// Set shows how many units are done.
func (p *Progress) Set(done, total int) {
	now := time.Now()
	if done == total { // what comes after this is other work
		p.Done()
		return
	}
	if p.began.IsZero() {
		p.start, p.began, p.said = done, now, now
	}
	if !p.Terminal {
		if now.Sub(p.said) >= sayEvery {
			p.said = now
			fmt.Fprintln(p.w, p.line(done, total, now))
		}
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(total-done,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what),
			progressbar.OptionSetPredictTime(true), progressbar.OptionShowCount(), progressbar.OptionShowIts(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
			progressbar.OptionFullWidth())
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set(done - p.start)
}

// line words how far the work is.
func (p *Progress) line(done, total int, now time.Time) string {
	text := fmt.Sprintf("%s: %d of %d done", p.what, done, total)
	if done > p.start {
		left := time.Duration(float64(now.Sub(p.began)) / float64(done-p.start) * float64(total-done))
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	return text
}

// Done takes the bar away.
func (p *Progress) Done() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
	p.bar, p.began = nil, time.Time{}
}

// RunUnits does work that is counted in units, such as cells, and shows how much of it is done: work tells
// progress, and may print when all is done. Where it was interrupted and does not say itself what it kept, the
// same command goes on with it.
func RunUnits(c *cobra.Command, unit string, work func(progress func(done, total int)) error) error {
	p := NewProgress(c.ErrOrStderr(), unit)
	err := work(p.Set)
	p.Done()
	interrupted := InterruptedError{Kept: "what was computed is kept, run the same command again to go on"}
	if errors.Is(err, context.Canceled) && !errors.As(err, &interrupted) {
		return interrupted
	}
	return err
}
