package run

import (
	"context"
	"slices"
	"time"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/store"
)

// A backlog is the cells of a run that are in the engine's shard. Its jobs are listed piece by piece, because all cells
// may not fit in memory.
type backlog struct {
	// series has each series once, in the order in which the spans list them.
	series      []*planned
	shard       Shard
	spans       []plannedSpan
	total, done int // total counts the shard's cells, and done counts the cells with a result
	// models has the GPU models of the results that are not in the table of package mig, by name. unkept
	// means that the store lacks one of them.
	models map[string]*mig.GPU
	unkept bool
}

// A plannedSpan is a span with its series and the spans of that series that are listed before it.
type plannedSpan struct {
	Span
	of      *planned
	earlier []Span
}

// A planned series is a trial and the state of its cells.
type planned struct {
	*Trial
	// left counts the shard's cells without a result. timed counts the cells that the run computed, and spent is their
	// time.
	left, timed int
	spent       time.Duration
	spans       []Span
	finished    instances // the instances with a result
	// jobs maps an instance to the index of its job in the piece. Series with the same instances share the map.
	jobs map[int]int
}

// count counts a cell that the run computed.
func (s *planned) count(took time.Duration) {
	s.spent += took
	s.timed++
	s.left--
}

// shareDone returns the share of the run's work that is done, by time. It assumes that a remaining cell takes the mean
// time of its series, or of all series while its own series has no finished cell.
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

// pieceSize is the number of instances of every series that are planned at a time.
const pieceSize = 1 << 14

// instances is a set of instances. Each piece of pieceSize instances has an array with a bit for each instance.
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

// plan counts the shard's cells and those without a result. It asks the store once for each series.
func (e *Engine) plan(ctx context.Context, spans []Span) (*backlog, error) {
	p := &backlog{shard: e.Shard, models: map[string]*mig.GPU{}}
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
			if err := e.Store.Finished(s.Series, s.finished.add); err != nil {
				return nil, err
			}
			if err := p.addModel(s.gpu, kept); err != nil {
				return nil, err
			}
			p.series = append(p.series, s)
		}
		p.spans = append(p.spans, plannedSpan{Span: span, of: s, earlier: s.spans})
		s.spans = append(s.spans, span)
	}
	return p, p.eachPiece(ctx, func(first int) error {
		p.each(first, p.countCell)
		return nil
	})
}

// countCell counts a cell of the shard.
func (p *backlog) countCell(s *planned, instance int) {
	p.total++
	if s.finished.contains(instance) {
		p.done++
	} else {
		s.left++
	}
}

// addModel adds a GPU model unless it is in the table of package mig. The store may have kept it; a different model of
// its name there is a [*store.ModelError].
func (p *backlog) addModel(g *mig.GPU, kept []store.Model) error {
	if slices.Contains(mig.GPUs(), g) {
		return nil
	}
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

// each calls use once for each cell of the shard in a piece, in the order of the spans.
func (p *backlog) each(first int, use func(s *planned, instance int)) {
	for _, s := range p.spans {
		for instance := max(first, s.From); instance < min(first+pieceSize, s.To); instance++ {
			listed := slices.ContainsFunc(s.earlier, func(e Span) bool { return e.Has(instance) })
			if !listed && p.shard.holds(s.Series, instance) {
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
