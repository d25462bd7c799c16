package render

import (
	"fmt"
	"strings"

	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// A why has the values for the words about a row's verdict.
type why struct {
	*manifest.Row
	TrainingRun string
}

// reason says why a row of a paper has its verdict; empty if the verdict needs no reason.
func reason(p *manifest.Paper, r *manifest.Row) string {
	return strings.Join(strings.Fields(words("why", why{r, p.TrainingRun})), " ")
}

// words returns the text of a template that cannot fail, because all of its values are plain numbers and texts.
func words(name string, data any) string {
	text, err := show(name, data)
	if err != nil {
		panic("render: " + err.Error())
	}
	return text
}

// surely is the number of training runs whose spread tells the error of the paper's single run well enough to say that
// no further run settles a number.
const surely = 10

// Surely returns [surely] for the template.
func (w why) Surely() int { return surely }

// FewRuns reports whether the spread of the training runs is not known well.
func (w why) FewRuns() bool { return w.Replicate == verdict.TrainingRuns && w.Replicates < surely }

// NeedsRuns reports whether further training runs could settle the number, and the detail does not say what they cost.
func (w why) NeedsRuns() bool {
	o := w.Why.Open
	return o != nil && w.Replicate == verdict.TrainingRuns && w.Replicates < max(o.Enough, surely) &&
		!strings.Contains(w.Why.Detail, w.TrainingRun)
}

// Runs is the number of replicates, for example 3 training runs.
func (w why) Runs() string { return countText(w.Replicates, w.Replicate) }

// Enough is the number of replicates that would settle the number.
func (w why) Enough() string {
	return countText(verdict.TwoDigits(max(w.Why.Open.Enough, w.Replicates+1)), w.Replicate)
}

// PrintError is half of the 95 % interval of the printed number.
func (w why) PrintError() string { return fmt.Sprintf("%.2g", 1.96*w.Why.Open.PrintSE) }

// countText returns a number of replicates with their unit.
func countText(n int, unit verdict.Unit) string {
	if n == 1 {
		return "1 " + strings.TrimSuffix(string(unit), "s")
	}
	return fmt.Sprintf("%d %s", n, unit)
}
