package run

import (
	"errors"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/store"
)

// A backlog is what is left to do.
type backlog struct {
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

// splitJobs groups the jobs that a worker does side by side: consecutive ones with the same
// series, if an algorithm among them solves instances together. Each of the workers has some
// of the jobs.
func splitJobs(jobs []job, workers int) [][]job {
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

// A planned trial is one whose cells are listed.
type planned struct {
	*Trial
	// finished has the instances with a result, and listed those that were counted.
	finished, listed instances
	// jobs has the indices of the jobs by instance, for all series with the same instances.
	jobs map[int]int
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

// plan finds the shard's cells without a result and groups them by instance, in the order in which
// they are listed first. It asks the store once for each series.
func (e *Engine) plan(spans []Span) (*backlog, error) {
	p := &backlog{names: map[store.Program]string{}, models: map[string]*mig.GPU{}}
	stored, err := e.Store.Names()
	if err != nil {
		return nil, err
	}
	kept, err := registerModels(e.Store)
	if err != nil {
		return nil, err
	}
	known := map[store.Series]*planned{}
	jobs := map[[3]string]map[int]int{} // by what names the instances
	for _, span := range spans {
		s := known[span.Series]
		if s == nil {
			instances := [3]string{span.Series.Dataset, span.Series.Content, span.Series.GPU}
			if jobs[instances] == nil {
				jobs[instances] = map[int]int{}
			}
			s = &planned{Trial: span.Trial, jobs: jobs[instances]}
			known[span.Series] = s
			if err := e.Store.Finished(s.Series, s.finished.add); err != nil {
				return nil, err
			}
			if !slices.Contains(mig.GPUs(), s.gpu) {
				p.models[s.gpu.Name] = s.gpu
				p.unkept = p.unkept || !kept[s.gpu.Name]
			}
			if name := s.algorithm.Spec.Declared; stored[s.Series.Program()] != name {
				p.names[s.Series.Program()] = name
			}
		}
		for instance := span.From; instance < span.To; instance++ {
			if !s.listed.has(instance) && e.Shard.holds(s.Series, instance) {
				s.listed.add(instance)
				p.add(s, instance)
			}
		}
	}
	return p, nil
}

// add counts a cell. If it has no result, add puts it into the job of its instance.
func (p *backlog) add(s *planned, instance int) {
	p.total++
	if s.finished.has(instance) {
		p.done++
		return
	}
	i, ok := s.jobs[instance]
	if !ok {
		i = len(p.jobs)
		s.jobs[instance] = i
		p.jobs = append(p.jobs, job{instance: instance})
	}
	p.jobs[i].series = append(p.jobs[i].series, s)
}

// Open is [store.Open] for a folder whose results may be on GPU models that are not in the table of
// package mig: [mig.Lookup] then finds these. A different model of the same name, from another
// folder or a file, is an error that names both.
func Open(dir string) (*store.DB, error) {
	db, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	if _, err := registerModels(db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// registerModels makes [mig.Lookup] find the models of a database, and returns their names.
func registerModels(db *store.DB) (map[string]bool, error) {
	models, err := db.Models()
	names := map[string]bool{}
	for i := 0; err == nil && i < len(models); i++ {
		_, err = mig.ParseModel([]byte(models[i].JSON), models[i].File)
		names[models[i].Name] = true
	}
	return names, err
}
