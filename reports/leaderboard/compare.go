package leaderboard

import (
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/store"
)

// A Side is a result that is compared.
type Side struct {
	DB *store.DB
	// Algorithm is its canonical ID.
	Algorithm string
	// Version is the algorithm's; 0 means the latest that there is for a dataset.
	Version int
}

func (s Side) results(c *Conditions) (map[string]results, error) {
	f := c.filter(c.Track.Name)
	f.Algorithm, f.Version = s.Algorithm, s.Version
	all, err := s.DB.Series(f)
	if err != nil {
		return nil, err
	}
	a, unknown := algo.Parse(s.Algorithm)
	out := map[string]results{}
	for dataset, own := range c.byDataset(all) {
		own = newest(own)
		r, err := lastRun(s.DB, own)
		if err != nil {
			return nil, err
		}
		if unknown == nil {
			if present := withWeights(own, a.Weights()); len(present) > 0 {
				r.series = present
			}
		}
		out[dataset] = r
	}
	return out, nil
}

func newest(own []store.Series) []store.Series {
	version := 0
	for _, one := range own {
		version = max(version, one.Version)
	}
	return slices.DeleteFunc(own, func(one store.Series) bool { return one.Version != version })
}

func withWeights(own []store.Series, weights string) []store.Series {
	return slices.DeleteFunc(slices.Clone(own), func(one store.Series) bool { return one.Weights != weights })
}

// lastRun returns those of the series that have the weights of the one written last.
func lastRun(db *store.DB, own []store.Series) (results, error) {
	all, err := db.ByAge(own)
	if err != nil || len(all) == 0 {
		return results{}, err
	}
	programs := map[string]bool{}
	for _, one := range all {
		programs[one.Weights] = true
	}
	return results{withWeights(own, all[len(all)-1].Weights), len(programs)}, nil
}

// Datasets returns the datasets of which there are results under the conditions, sorted.
func (s Side) Datasets(c Conditions) ([]string, error) {
	own, err := s.results(&c)
	return slices.Sorted(maps.Keys(own)), err
}

// Compare compares b with a on each dataset that both have instances of, by name. Datasets that
// have changed since are compared only if both have their results from the same time. Errors are
// those of the databases, and a [*BoundError].
func Compare(c Conditions, a, b Side) ([]*Comparison, error) {
	ofA, err := a.results(&c)
	if err != nil {
		return nil, err
	}
	ofB, err := b.results(&c)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(ofA))
	out := make([]*Comparison, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, dataset := range names {
		g.Go(func() (err error) {
			inA, inB := ofA[dataset], ofB[dataset]
			inA.series, inB.series = c.sameContent(inA.series, inB.series)
			if len(inA.series) == 0 {
				return nil
			}
			if out[i], err = c.compare(dataset, [2]*store.DB{a.DB, b.DB}, [2]results{inA, inB}); out[i] != nil {
				out[i].ProgramsA, out[i].ProgramsB = inA.programs, inB.programs
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(c *Comparison) bool { return c == nil })
	adjustHolm(out)
	return out, nil
}

// sameContent leaves the series of contents that both have; if one of these is the content that
// the dataset has now, of that one.
func (c *Conditions) sameContent(a, b []store.Series) (inA, inB []store.Series) {
	isIn := func(all []store.Series, content string) bool {
		return slices.ContainsFunc(all, func(s store.Series) bool { return s.Content == content })
	}
	a = slices.DeleteFunc(a, func(s store.Series) bool { return !isIn(b, s.Content) })
	b = slices.DeleteFunc(b, func(s store.Series) bool { return !isIn(a, s.Content) })
	if len(a) < 2 {
		return a, b
	}
	if now := c.content(a); isIn(a, now) {
		another := func(s store.Series) bool { return s.Content != now }
		return slices.DeleteFunc(a, another), slices.DeleteFunc(b, another)
	}
	return a, b
}

// compare reads the results of a dataset, and the bounds that either database has.
func (c *Conditions) compare(dataset string, dbs [2]*store.DB, of [2]results) (*Comparison, error) {
	at := c.Track.BoardOf(datasets.RegimeOf(dataset))
	if at < 0 {
		return nil, nil
	}
	board := board{Board: c.Track.Boards[at], conditions: c}
	bounds := map[instance]float64{}
	if board.Bound.Algorithm != "" {
		for _, db := range dbs {
			f := c.filter(board.Bound.Track)
			f.Dataset = dataset
			all, err := db.Series(f)
			if err != nil {
				return nil, err
			}
			own, err := values(db, seriesOf(all, board.Bound, dataset), board.Bound.Metric)
			if err != nil {
				return nil, err
			}
			maps.Copy(bounds, own)
		}
	}
	var sides [2]*contender
	for i := range sides {
		var err error
		if sides[i], err = board.contender(dbs[i], of[i].series, newSpan(nil), bounds, nil); err != nil {
			return nil, err
		}
	}
	bounded := sides[0].bounded() || sides[1].bounded()
	return newComparison(sides[0], sides[1], Metric{Name: board.Metric, Higher: board.Higher, Bounded: bounded})
}
