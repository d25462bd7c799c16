package run

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/store"
)

// A backlog is the shard's cells. Its jobs are listed piece by piece, because all cells may not fit in memory.
type backlog struct {
	series []*planned
	shard  Shard
	spans  []plannedSpan
	// total counts the shard's cells, and done counts the cells with a result.
	total, done int
	// names has the external programs whose declared name is not in the store yet.
	names map[store.Program]string
	// models has the GPU models of the results that are not in the table of package mig, by name. unkept
	// means that the store lacks one of them.
	models map[string]*mig.GPU
	unkept bool
}

// A plannedSpan is a span with the earlier spans of its series.
type plannedSpan struct {
	Span
	of      *planned
	earlier []Span
}

// A job is the missing cells of one instance.
type job struct {
	instance int
	series   []*planned
}

// groupSize returns the largest number of instances of the job's kind that an algorithm solves at once.
func (j *job) groupSize() int {
	n := 1
	for _, s := range j.series {
		n = max(n, s.groupSize())
	}
	return n
}

// splitJobs groups consecutive jobs with the same series that one worker does together, if an algorithm among the
// series solves instances together. The groups are small enough that each worker gets some of the jobs.
func splitJobs(jobs []job, workers int) [][]job {
	var out [][]job
	for share := max(1, len(jobs)/workers); len(jobs) > 0; {
		most := min(jobs[0].groupSize(), share, len(jobs))
		n := 1
		for n < most && slices.Equal(jobs[n].series, jobs[0].series) {
			n++
		}
		out = append(out, jobs[:n])
		jobs = jobs[n:]
	}
	return out
}

// rounds is the number of rounds in which a run goes through all kinds of jobs. With more rounds, the time left is
// known better, and each commit of the store changes more pages.
const rounds = 16

// mixJobs orders the parts of splitJobs so that each round has an equal share of every kind of job, and the first round
// some of every kind. After it the cost of every series is known, though one cell costs thousands of times as much as
// another. Within a round the order is random.
func mixJobs(parts [][]job) [][]job {
	type turn struct {
		round int
		order uint64
		jobs  []job
	}
	rng := rand.New(rand.NewPCG(1, 2))
	turns := make([]turn, 0, len(parts))
	for len(parts) > 0 {
		kind := 1
		for kind < len(parts) && slices.Equal(parts[kind][0].series, parts[0][0].series) {
			kind++
		}
		order := rng.Uint64()
		for i, jobs := range parts[:kind] {
			turns = append(turns, turn{round: (i*rounds + kind - 1) / kind, order: order, jobs: jobs})
		}
		parts = parts[kind:]
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.order, b.order))
	})
	out := make([][]job, len(turns))
	for i, t := range turns {
		out[i] = t.jobs
	}
	return out
}

// shareDone returns the share of the run's work that is done. It assumes that a remaining cell takes the mean time of
// its series, or of all series while its own series has no finished cell.
func (p *backlog) shareDone() float64 {
	spent, timed := 0.0, 0
	for _, s := range p.series {
		spent += s.spent.Seconds()
		timed += s.timed
	}
	left := 0.0
	for _, s := range p.series {
		mean := spent / float64(max(timed, 1))
		if s.timed > 0 {
			mean = s.spent.Seconds() / float64(s.timed)
		}
		left += float64(float64(s.left) * mean)
	}
	if left == 0 {
		return 1
	}
	return spent / (spent + left)
}

// count counts a cell that the run computed.
func (s *planned) count(took time.Duration) {
	s.spent += took
	s.timed++
	s.left--
}

// A planned trial is one whose cells are listed.
type planned struct {
	*Trial
	// left counts the shard's cells without a result. timed counts the cells that the run computed, and spent is their
	// time.
	left, timed int
	spent       time.Duration
	spans       []Span
	// finished has the instances with a result.
	finished instances
	// jobs has the indices of the piece's jobs by instance, for all series with the same instances.
	jobs map[int]int
}

// pieceSize is the number of instances of every series that are planned at a time.
const pieceSize = 1 << 14

// instances is a set of instances: a bit each, in arrays for pieceSize instances.
type instances map[int]*[pieceSize / 64]uint64

func (s instances) contains(instance int) bool {
	bits := s[instance/pieceSize]
	return bits != nil && bits[instance%pieceSize/64]>>(instance%64)&1 == 1
}

func (s instances) add(instance int) {
	bits := s[instance/pieceSize]
	if bits == nil {
		bits = new([pieceSize / 64]uint64)
		s[instance/pieceSize] = bits
	}
	bits[instance%pieceSize/64] |= 1 << (instance % 64)
}

// plan finds and counts the shard's cells and those without a result. It asks the store once for each series.
func (e *Engine) plan(ctx context.Context, spans []Span) (*backlog, error) {
	p := &backlog{shard: e.Shard, names: map[store.Program]string{}, models: map[string]*mig.GPU{}}
	stored, err := e.Store.Names()
	if err != nil {
		return nil, err
	}
	kept, err := e.Store.Models()
	if err != nil {
		return nil, err
	}
	known := map[store.Series]*planned{}
	jobs := map[[3]string]map[int]int{} // by dataset, content and GPU
	for _, span := range spans {
		if span.From < 0 {
			return nil, &datasets.IndexError{Dataset: span.Series.Dataset, Index: span.From}
		}
		s := known[span.Series]
		if s == nil {
			names := [3]string{span.Series.Dataset, span.Series.Content, span.Series.GPU}
			if jobs[names] == nil {
				jobs[names] = map[int]int{}
			}
			s = &planned{Trial: span.Trial, finished: instances{}, jobs: jobs[names]}
			known[span.Series] = s
			p.series = append(p.series, s)
			if err := e.Store.Finished(s.Series, s.finished.add); err != nil {
				return nil, err
			}
			if !slices.Contains(mig.GPUs(), s.gpu) {
				if err := p.addModel(s.gpu, kept); err != nil {
					return nil, err
				}
			}
			name := s.algorithm.Spec.Declared
			if stored[s.Series.Program()] != name {
				p.names[s.Series.Program()] = name
			}
		}
		p.spans = append(p.spans, plannedSpan{span, s, s.spans})
		s.spans = append(s.spans, span)
	}
	err = p.eachPiece(ctx, func(first int) error {
		p.each(first, func(s *planned, instance int) {
			p.total++
			if s.finished.contains(instance) {
				p.done++
			} else {
				s.left++
			}
		})
		return nil
	})
	return p, err
}

// addModel adds a GPU model, which the store may have kept. Another one of its name is a [*store.ModelError].
func (p *backlog) addModel(g *mig.GPU, kept []store.Model) error {
	p.models[g.Name] = g
	i := slices.IndexFunc(kept, func(m store.Model) bool { return m.Name == g.Name })
	if i >= 0 && kept[i].JSON != string(g.Definition()) {
		return &store.ModelError{Name: g.Name, First: kept[i].File, Second: "this run"}
	}
	p.unkept = p.unkept || i < 0
	return nil
}

// eachPiece calls use for the first instance of every piece, until it returns an error or ctx ends.
func (p *backlog) eachPiece(ctx context.Context, use func(first int) error) error {
	end := 0
	for _, span := range p.spans {
		end = max(end, span.To)
	}
	for first := 0; first < end; first += pieceSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := use(first); err != nil {
			return err
		}
	}
	return nil
}

// each calls use for the shard's cells of a piece, in the order in which they are listed first.
func (p *backlog) each(first int, use func(s *planned, instance int)) {
	for _, s := range p.spans {
		for instance := max(first, s.From); instance < min(first+pieceSize, s.To); instance++ {
			listed := slices.ContainsFunc(s.earlier, func(e Span) bool { return e.Has(instance) })
			if s.Has(instance) && !listed && p.shard.holds(s.Series, instance) {
				use(s.of, instance)
			}
		}
	}
}

// piece returns the cells of a piece that have no result, grouped by instance.
func (p *backlog) piece(first int) (jobs []job) {
	for _, s := range p.spans {
		clear(s.of.jobs)
	}
	p.each(first, func(s *planned, instance int) {
		if s.finished.contains(instance) {
			return
		}
		i, ok := s.jobs[instance]
		if !ok {
			i = len(jobs)
			s.jobs[instance] = i
			jobs = append(jobs, job{instance: instance})
		}
		jobs[i].series = append(jobs[i].series, s)
	})
	return jobs
}

// Open opens a folder as [store.Open] does and adds the GPU models of its results to a catalog. A different model of
// the same name, from another folder or a file, is an error that names both.
func Open(dir string, models *mig.Catalog) (*store.DB, error) {
	db, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	kept, err := db.Models()
	for i := 0; err == nil && i < len(kept); i++ {
		_, err = models.Parse([]byte(kept[i].JSON), kept[i].File)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}
