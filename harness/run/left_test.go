package run

import (
	"embed"
	"math"
	"math/rand/v2"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"miglab/harness/algo"
	"miglab/harness/cli"
	"miglab/harness/strictcsv"
	"miglab/harness/track"
)

//go:embed testdata/costs.csv
var recorded embed.FS

// A recordedKind is the instances of a dataset that have the same series, in a cold miglab reproduce.
type recordedKind struct {
	Instances int `csv:"instances"`
	Cells     int `csv:"cells"`    // of an instance
	Together  int `csv:"together"` // instances that are solved at once
	// Mean and Deviation are of the wall time of an instance, in microseconds.
	Mean      float64 `csv:"mean_us"`
	Deviation float64 `csv:"deviation_us"`
}

// A promise is a line of progress: what it said is left, and when.
type promise struct{ at, left time.Duration }

// promises keeps lines of progress.
type promises struct {
	began time.Time
	made  []promise
}

var leftText = regexp.MustCompile(`about (\S+) left`)

func (p *promises) Write(line []byte) (int, error) {
	left, err := time.ParseDuration(leftText.FindStringSubmatch(string(line))[1])
	p.made = append(p.made, promise{time.Since(p.began), left})
	return len(line), err
}

// A replayed kind is a recorded one with a time for each instance.
type replayed struct {
	recordedKind
	took []time.Duration
}

// backlogOf makes the jobs of recorded kinds, a tenth of the instances, and draws how long each takes.
func backlogOf(kinds []recordedKind) (p *backlog, jobs []job, all map[*planned]*replayed) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, all = &backlog{}, map[*planned]*replayed{}
	for _, k := range kinds {
		spec := algo.Spec{Together: k.Together}
		s := &planned{Trial: &Trial{track: track.Dispatch, algorithm: algo.Algorithm{Spec: spec}}}
		p.series = append(p.series, s)
		all[s] = &replayed{recordedKind: k}
		sigma := math.Sqrt(math.Log1p(math.Pow(k.Deviation/k.Mean, 2)))
		for i := range k.Instances {
			jobs = append(jobs, job{instance: i, series: []*planned{s}})
			us := k.Mean * math.Exp(sigma*rng.NormFloat64()-sigma*sigma/2) // log-normal with this mean and deviation
			all[s].took = append(all[s].took, time.Duration(us/10*float64(time.Microsecond)))
			s.left += k.Cells
			p.total += k.Cells
		}
	}
	return p, jobs, all
}

// TestTimeLeftOfReproduce replays recorded costs of a cold miglab reproduce on two workers with a fake clock. From the first
// quarter on, the time left is off by less than 30 %.
func TestTimeLeftOfReproduce(t *testing.T) {
	kinds := strictcsv.Embedded[recordedKind](recorded, "testdata/costs.csv")
	synctest.Test(t, func(t *testing.T) {
		const workers = 2
		p, jobs, replay := backlogOf(kinds)
		said := &promises{began: time.Now()}
		bar := cli.NewProgress(said, "cells")
		bar.Set(0, p.total)
		told := time.Now()
		var mu sync.Mutex
		var working sync.WaitGroup
		parts := mixJobs(splitJobs(jobs, workers))
		for range workers {
			working.Go(func() {
				for {
					mu.Lock()
					if len(parts) == 0 {
						mu.Unlock()
						return
					}
					part := parts[0]
					parts = parts[1:]
					mu.Unlock()
					s := part[0].series[0]
					for _, j := range part {
						kind := replay[s]
						time.Sleep(kind.took[j.instance])
						mu.Lock()
						for range kind.Cells {
							s.count(kind.took[j.instance] / time.Duration(kind.Cells))
						}
						p.done += kind.Cells
						if time.Since(told) >= reportEvery {
							told = time.Now()

							bar.SetShare(p.shareDone())
							bar.Set(p.done, p.total)
						}
						mu.Unlock()
					}
				}
			})
		}
		working.Wait()
		end := time.Since(said.began)
		worst := 0.0
		for _, m := range said.made {
			off := float64(m.left)/float64(end-m.at) - 1
			t.Logf("%v of %v: %v left, %+.0f %%", m.at, end, m.left, 100*off)
			if m.at >= end/4 {
				worst = max(worst, math.Abs(off))
			}
		}
		if worst > 0.3 {
			t.Errorf("the time left is off by up to %.0f %%", 100*worst)
		}
	})
}
