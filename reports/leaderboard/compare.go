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

// series returns the side's results by dataset, and how many programs these may be of.
func (s Side) series(c *Conditions) (out map[string][]store.Series, programs map[string]int, err error) {
	f := c.filter(c.Track.Name)
	f.Algorithm, f.Version = s.Algorithm, s.Version
	all, err := s.DB.Series(f)
	if err != nil {
		return nil, nil, err
	}
	out, programs = map[string][]store.Series{}, map[string]int{}
	for _, one := range all {
		if c.Datasets == nil || slices.Contains(c.Datasets, one.Dataset) {
			out[one.Dataset] = append(out[one.Dataset], one)
		}
	}
	a, unknown := algo.Parse(s.Algorithm)
	for dataset, own := range out {
		own = newest(own)
		if out[dataset], programs[dataset], err = lastRun(s.DB, own); err != nil {
			return nil, nil, err
		}
		if unknown == nil {
			if now := having(own, a.Weights()); len(now) > 0 {
				out[dataset] = now
			}
		}
	}
	return out, programs, nil
}

// newest returns the series of the latest version.
func newest(own []store.Series) []store.Series {
	version := 0
	for _, one := range own {
		version = max(version, one.Version)
	}
	return slices.DeleteFunc(own, func(one store.Series) bool { return one.Version != version })
}

// having returns the series with the weights.
func having(own []store.Series, weights string) []store.Series {
	return slices.DeleteFunc(slices.Clone(own), func(one store.Series) bool { return one.Weights != weights })
}

// lastRun returns those of the series that have the weights of the one written last, and how many
// weights there are.
func lastRun(db *store.DB, own []store.Series) ([]store.Series, int, error) {
	all, err := db.ByAge(own)
	if err != nil || len(all) == 0 {
		return nil, 0, err
	}
	programs := map[string]bool{}
	for _, one := range all {
		programs[one.Weights] = true
	}
	return having(own, all[len(all)-1].Weights), len(programs), nil
}

// Datasets returns the datasets of which there are results under the conditions, sorted.
func (s Side) Datasets(c Conditions) ([]string, error) {
	own, _, err := s.series(&c)
	return slices.Sorted(maps.Keys(own)), err
}

// Compare compares b with a on each dataset that both have instances of, by name. Datasets that
// have changed since are compared only if both have their results from the same time. Errors are
// those of the databases, and a [*BoundError].
func Compare(c Conditions, a, b Side) ([]*Comparison, error) {
	ofA, programsA, err := a.series(&c)
	if err != nil {
		return nil, err
	}
	ofB, programsB, err := b.series(&c)
	if err != nil {
		return nil, err
	}
	var shared []string
	for _, dataset := range slices.Sorted(maps.Keys(ofA)) {
		if len(ofB[dataset]) > 0 {
			shared = append(shared, dataset)
		}
	}
	out := make([]*Comparison, len(shared))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, dataset := range shared {
		g.Go(func() (err error) {
			inA, inB := c.sameContent(ofA[dataset], ofB[dataset])
			if out[i], err = c.compare(dataset, pick{a.DB, inA}, pick{b.DB, inB}); out[i] != nil {
				out[i].ProgramsA, out[i].ProgramsB = programsA[dataset], programsB[dataset]
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
	only := func(all []store.Series, keep func(content string) bool) []store.Series {
		return slices.DeleteFunc(all, func(s store.Series) bool { return !keep(s.Content) })
	}
	isIn := func(all []store.Series) func(content string) bool {
		return func(content string) bool {
			return slices.ContainsFunc(all, func(s store.Series) bool { return s.Content == content })
		}
	}
	a = only(a, isIn(b))
	b = only(b, isIn(a))
	if len(a) < 2 {
		return a, b
	}
	if now := c.content(a); isIn(a)(now) {
		current := func(content string) bool { return content == now }
		return only(a, current), only(b, current)
	}
	return a, b
}

// A pick is some series of a database.
type pick struct {
	db     *store.DB
	series []store.Series
}

// compare reads the results of a dataset, and the bounds that either database has.
func (c *Conditions) compare(dataset string, a, b pick) (*Comparison, error) {
	at := c.Track.BoardOf(datasets.RegimeOf(dataset))
	if at < 0 {
		return nil, nil
	}
	found := c.Track.Boards[at]
	board := board{Board: found, conditions: c}
	bounds := map[instance]float64{}
	for _, db := range []*store.DB{a.db, b.db} {
		if found.Bound.Algorithm == "" {
			break
		}
		f := c.filter(found.Bound.Track)
		f.Dataset = dataset
		all, err := db.Series(f)
		if err != nil {
			return nil, err
		}
		own, err := values(db, seriesOf(all, found.Bound, dataset), found.Bound.Metric)
		if err != nil {
			return nil, err
		}
		maps.Copy(bounds, own)
	}
	var sides [2]*contender
	for i, side := range []pick{a, b} {
		if len(side.series) == 0 {
			return nil, nil
		}
		var err error
		if sides[i], err = board.contender(side.db, side.series, newSpan(nil), bounds, nil); err != nil {
			return nil, err
		}
	}
	bounded := sides[0].bounded() || sides[1].bounded()
	return newComparison(sides[0], sides[1], Metric{Name: found.Metric, Higher: found.Higher, Bounded: bounded})
}
