package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far work is and how long it will go on: as a bar on a terminal, and
// elsewhere as a line every ten seconds.
type progress struct {
	w        io.Writer
	what     string
	terminal bool
	bar      *progressbar.ProgressBar
	// start is what was done before the first call, at began. It does not count for the speed.
	start       int
	began, said time.Time
}

// sayEvery is how often there is a line where there is no terminal.
const sayEvery = 10 * time.Second

func newProgress(w io.Writer, what string) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, what: what, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// set shows how many units are done.
func (p *progress) set(done, total int) {
	now := time.Now()
	if p.began.IsZero() {
		p.start, p.began, p.said = done, now, now
	}
	if !p.terminal {
		if now.Sub(p.said) >= sayEvery && done < total {
			p.said = now
			fmt.Fprintln(p.w, p.line(done, total, now))
		}
		return
	}
	if p.bar == nil {
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

// line words how far the work is.
func (p *progress) line(done, total int, now time.Time) string {
	text := fmt.Sprintf("%s: %d of %d done", p.what, done, total)
	if done > p.start {
		left := time.Duration(float64(now.Sub(p.began)) / float64(done-p.start) * float64(total-done))
		text += ", about " + left.Round(time.Second).String() + " left"
	}
	return text
}

// done takes the bar away.
func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// width is how many columns the terminal has that w is: COLUMNS, if that is set, or what the
// terminal says; 0 if w is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	n, _, _ := term.GetSize(int(f.Fd())) // 0 if it does not say
	return n
}
