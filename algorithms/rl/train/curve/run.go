package curve

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"miglab/harness/spec"
)

//go:embed runs/*.csv
var files embed.FS

// Shipped returns the project's own runs, whose curves are part of the program, by the name of the agent, with
// ascending seeds. All runs of an agent have points at the same steps, as far as the shorter one goes. It panics if a
// file is damaged.
var Shipped = sync.OnceValue(func() map[string][]Run {
	all := map[string][]Run{}
	for _, file := range spec.Must(fs.Glob(files, "runs/*.csv")) {
		name := strings.TrimSuffix(path.Base(file), ".csv")
		at := strings.LastIndex(name, "-seed")
		run := RunOf(spec.Must(Read(bytes.NewReader(spec.Must(files.ReadFile(file))), file)))
		run.Seed = spec.Must(strconv.Atoi(name[at+len("-seed"):]))
		all[name[:at]] = append(all[name[:at]], run)
	}
	for _, runs := range all {
		slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	return all
})

// A Run holds the scores of an agent during one run of its training.
type Run struct {
	Seed int
	// Steps has the steps of training of each point, ascending. There is at least one point.
	Steps  []float64
	Scores []float64 // the points' scores, as in [Point]
	Rate   float64   // the learning rate at the end
	Return float64   // the mean return of the episodes that ended in the last segment; NaN if none did
}

// RunOf returns the run of a curve. Its seed is 0.
func RunOf(points []Point) (r Run) {
	for _, p := range points {
		r.Steps, r.Scores = append(r.Steps, float64(p.Steps)), append(r.Scores, p.Score)
		r.Rate, r.Return = p.LearningRate, p.Return
	}
	return r
}

// Last returns the number of steps of the whole training.
func (r *Run) Last() float64 { return r.Steps[len(r.Steps)-1] }

// At returns the score after a number of steps: the score of the last point so far, or of the first point if all points
// come later.
func (r *Run) At(steps float64) float64 {
	i := 0
	for i+1 < len(r.Steps) && r.Steps[i+1] <= steps {
		i++
	}
	return r.Scores[i]
}

// Final returns the score at the end.
func (r *Run) Final() float64 { return r.Scores[len(r.Scores)-1] }

// Least returns the lowest score.
func (r *Run) Least() float64 { return slices.Min(r.Scores) }

// reachTolerance is the share by which a score may exceed another score and still count as reaching it, because curves
// fluctuate.
const reachTolerance = 0.1

// Reaches returns the number of steps until the curve falls to a score or to at most a tenth above it, where less is
// better. It panics if the curve never does.
func (r *Run) Reaches(score float64) float64 {
	i := slices.IndexFunc(r.Scores, func(v float64) bool { return v <= score+float64(reachTolerance*math.Abs(score)) })
	if i < 0 {
		panic(fmt.Sprintf("curve: a run whose lowest score is %v never comes near %v", r.Least(), score))
	}
	return r.Steps[i]
}

// Converges returns the number of steps until the curve comes within a tenth of its lowest score, which is the best
// where less is better.
func (r *Run) Converges() float64 { return r.Reaches(r.Least()) }
