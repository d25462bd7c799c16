package run

import (
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/store"
)

// A plan is what is left to do.
type plan struct {
	jobs []job
	// total counts the shard's cells and done those that have a result.
	total, done int
	// names are those of programs outside this one that the store lacks.
	names map[store.Program]string
	// models are those that the results are on and that no table has, by name. unkept means that the
	// store lacks one.
	models map[string]*mig.GPU
	unkept bool
}

// A job is the missing cells of one instance.
type job struct {
	instance int
	series   []*planned
}

// together returns at most how many instances of the job's kind are worth solving at once.
func (j *job) together() int {
	n := 1
	for _, s := range j.series {
		n = max(n, s.together())
	}
	return n
}

// split groups the jobs that a worker does side by side: consecutive ones with the same
// series, if an algorithm among them solves instances together. Each of the workers has some
// of the jobs.
func split(jobs []job, workers int) [][]job {
	var out [][]job
	for share := max(1, len(jobs)/workers); len(jobs) > 0; {
		most := min(jobs[0].together(), share, len(jobs))
		n := 1
		for n < most && slices.Equal(jobs[n].series, jobs[0].series) {
			n++
		}
		out = append(out, jobs[:n])
		jobs = jobs[n:]
	}
	return out
}

// A planned series is one that cells are listed of.
type planned struct {
	*resolved
	stored store.Series
	// finished has the instances with a result, and queued those in jobs.
	finished, queued instances
	group            int
}

// instances is a set of instances. The zero value is empty.
type instances struct {
	// The instances 0 to dense-1 are in the set, and those of others.
	dense  int
	others map[int]bool
}

func (s *instances) has(instance int) bool {
	return instance >= 0 && instance < s.dense || s.others[instance]
}

func (s *instances) add(instance int) {
	if instance == s.dense {
		s.dense++
	}
	if instance < s.dense {
		return
	}
	if s.others == nil {
		s.others = map[int]bool{}
	}
	s.others[instance] = true
}

// plan finds the shard's cells without a result and groups them by instance, in
// the order in which they are listed first. It asks the store once for each series.
func (e *Engine) plan(cells []Cell) (*plan, error) {
	p := &plan{names: map[store.Program]string{}, models: map[string]*mig.GPU{}}
	stored, err := e.Store.Names()
	if err != nil {
		return nil, err
	}
	kept, err := registerModels(e.Store)
	if err != nil {
		return nil, err
	}
	known := map[Series]*planned{}
	groups := map[Group]int{}
	jobs := map[[2]int]int{} // by group and instance
	for span := range Spans(cells) {
		s := known[span.Series]
		if s == nil {
			var err error
			if s, err = e.plannedSeries(span.Cell(span.From)); err != nil {
				return nil, err
			}
			g, ok := groups[span.Series.Group()]
			if !ok {
				g = len(groups)
				groups[span.Series.Group()] = g
			}
			s.group = g
			known[span.Series] = s
			if !slices.Contains(mig.GPUs(), s.gpu) {
				p.models[s.gpu.Name] = s.gpu
				p.unkept = p.unkept || !kept[s.gpu.Name]
			}
			if name := s.algorithm.Spec.Declared; stored[s.stored.Program()] != name {
				p.names[s.stored.Program()] = name
			}
		}
		if err := s.checkVersion(span.Cell(span.From)); err != nil {
			return nil, err
		}
		for instance := span.From; instance < span.To; instance++ {
			if s.queued.has(instance) || !e.Shard.holds(span.Series.Group(), instance) {
				continue
			}
			p.total++
			if s.finished.has(instance) {
				p.done++
				continue
			}
			s.queued.add(instance)
			at := [2]int{s.group, instance}
			j, ok := jobs[at]
			if !ok {
				j = len(p.jobs)
				jobs[at] = j
				p.jobs = append(p.jobs, job{instance: instance})
			}
			p.jobs[j].series = append(p.jobs[j].series, s)
		}
	}
	return p, nil
}

// plannedSeries resolves the series of a cell and asks the store for what it has of it.
func (e *Engine) plannedSeries(c Cell) (*planned, error) {
	r, err := resolveCell(c)
	if err != nil {
		return nil, err
	}
	s := &planned{resolved: r, stored: c.Stored(c.Version)}
	return s, e.Store.Finished(s.stored, s.finished.add)
}

// resolveCell resolves a cell, which must be canonical.
func resolveCell(c Cell) (*resolved, error) {
	r, err := resolve(c.Series)
	if err != nil {
		return nil, err
	}
	if r.series != c.Series {
		return nil, fmt.Errorf("cell %v is not canonical, or its tasks file has changed; make cells with Series.Cells", c)
	}
	return r, r.checkVersion(c)
}

func (r *resolved) checkVersion(c Cell) error {
	if now := r.algorithm.Spec.Version; c.Version != now {
		return fmt.Errorf("cell %v cannot be computed; the algorithm is at version %d", c, now)
	}
	return nil
}
