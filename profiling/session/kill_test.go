package session_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/session"
)

// points are where a run can be killed, in order: the stages of the instances that it
// creates and destroys, and the moments between calls. Close does the last destroy.
var points = func() (ps []string) {
	stages := func(i string, all ...devicetest.Stage) {
		for _, s := range all {
			ps = append(ps, fmt.Sprintf("%s %s", s, i))
		}
	}
	ps = append(ps, "open")
	stages("3@4", devicetest.BeforeCreate, devicetest.GPUInstance, devicetest.Created)
	ps = append(ps, "have 3@4")
	stages("1@0", devicetest.BeforeCreate, devicetest.GPUInstance, devicetest.Created)
	ps = append(ps, "have 1@0")
	stages("1@0", devicetest.BeforeDestroy, devicetest.ComputeGone, devicetest.Destroyed)
	ps = append(ps, "gone 1@0")
	stages("3@4", devicetest.BeforeDestroy, devicetest.ComputeGone, devicetest.Destroyed)
	return ps
}()

// A mortal is a GPU whose program is killed at a point: the goroutine ends there, and so does each other goroutine at
// its next call. They all hold the locks of their own folders as long as this process lives.
type mortal struct {
	*devicetest.GPU
	*bench
	mu    sync.Mutex
	point string
	dead  bool
	// journal is the text of the journal at the point.
	journal string
}

func (m *mortal) Identify() (profiling.Identity, error) {
	m.reach("")
	return m.GPU.Identify()
}

func (m *mortal) reach(point string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.dead && point != "" && point == m.point {
		m.dead, m.journal = true, m.bench.journal()
	}
	if m.dead {
		runtime.Goexit()
	}
}

// kill runs a session and kills it at a point. The journal then is in a new folder, as it was at the point: writes of
// goroutines that had not noticed the kill do not count.
func (m *mortal) kill(point string) {
	m.Helper()
	m.point = point
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		ctx := context.Background()
		s, err := session.Open(ctx, m, session.Options{Dir: m.dir})
		check(err)
		m.reach("open")
		_, _, err = s.Create(ctx, at("3g.20gb", 4))
		check(err)
		m.reach("have 3@4")
		i, _, err := s.Create(ctx, at("1g.5gb", 0))
		check(err)
		m.reach("have 1@0")
		_, err = s.Destroy(ctx, i)
		check(err)
		m.reach("gone 1@0")
		check(s.Close())
	}()
	<-ended
	synctest.Wait()
	if !m.dead {
		m.Fatalf("the run never came to %q", point)
	}
	if m.journal == "" {
		m.Error("the killed run left no journal")
	}
	m.dead, m.point, m.dir = false, "", m.TempDir()
	m.write(m.journalFile(m.GPU), m.journal)
}

// Wherever a run is killed, the next one removes its instances. TestGPUKilledAtRandomMoments does the same to processes.
func TestKilledAtEveryPoint(t *testing.T) {
	// With an instance of others, without one, and killed again while cleaning up.
	for _, variant := range []string{"others", "alone", "twice"} {
		for n, point := range points {
			if variant == "twice" && (n < slices.Index(points, "have 3@4") || n > slices.Index(points, "gone 1@0")) {
				continue // There is nothing to clean up, or half of it.
			}
			t.Run(variant+"/"+point, func(t *testing.T) {
				bubble(t, func(b *bench) {
					m := &mortal{bench: b}
					m.GPU = devicetest.New(a100, devicetest.Watch(func(s devicetest.Stage, in mig.Instance) {
						m.reach(fmt.Sprintf("%s %s", s, in))
					}))
					var others []string
					if variant == "others" {
						b.others(m, at("2g.10gb", 2))
						others = append(others, "2@2")
					}
					m.kill(point)
					if variant == "twice" {
						m.kill("compute gone 3@4")
					}
					s := b.open(m.GPU)
					b.exist(m.GPU, others...)
					b.close(s)
					b.exist(m.GPU, others...)
				})
			})
		}
	}
}
