package leaderboard

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/reports"
)

// A Side is one of the two algorithms that are compared, with the database of its results.
type Side struct {
	DB *store.DB
	// Algorithm is its canonical ID.
	Algorithm string
	// Version 0 means the latest version with results on a dataset.
	Version int
}

// results returns the series of the side by dataset. Of the results of one version, those of the algorithm's present
// weights count, or of the weights that ran last if there are none.
func (s Side) results(c *Conditions) (map[string][]store.Series, error) {
	f := c.filter(c.Track.Name)
	f.Algorithm, f.Version = s.Algorithm, s.Version
	all, err := s.DB.Series(f)
	if err != nil {
		return nil, err
	}
	a, unknown := algo.Parse(s.Algorithm)
	byDataset := c.byDataset(all)
	for dataset, own := range byDataset {
		own = newestVersion(own)
		var counting []store.Series
		if unknown == nil {
			counting = withWeights(own, a.Weights())
		}
		if len(counting) == 0 {
			if counting, err = lastRun(s.DB, own); err != nil {
				return nil, err
			}
		}
		byDataset[dataset] = counting
	}
	return byDataset, nil
}

// newestVersion keeps the series of the latest version. It reuses the memory of own.
func newestVersion(own []store.Series) []store.Series {
	version := 0
	for _, one := range own {
		version = max(version, one.Version)
	}
	return slices.DeleteFunc(own, func(one store.Series) bool { return one.Version != version })
}

// withWeights returns the series of the given weights.
func withWeights(own []store.Series, weights string) []store.Series {
	return slices.DeleteFunc(slices.Clone(own), func(one store.Series) bool { return one.Weights != weights })
}

// lastRun returns the series that have the weights of the one written last.
func lastRun(db *store.DB, own []store.Series) ([]store.Series, error) {
	all, err := db.ByAge(own)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return withWeights(own, all[len(all)-1].Weights), nil
}

// Datasets returns the datasets on which the side has results under the conditions, sorted.
func (s Side) Datasets(c Conditions) ([]string, error) {
	own, err := s.results(&c)
	return slices.Sorted(maps.Keys(own)), err
}

// Compare compares b with a on each dataset of which both have the same instances, in the order of the names. It
// returns the errors of the databases and of ranking, such as a [*BoundError].
func Compare(c Conditions, a, b Side) ([]*Comparison, error) {
	allA, err := a.results(&c)
	if err != nil {
		return nil, err
	}
	allB, err := b.results(&c)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(allA))
	out := make([]*Comparison, len(names))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, dataset := range names {
		g.Go(func() (err error) {
			if inA, inB := c.sameContent(allA[dataset], allB[dataset]); len(inA) > 0 {
				out[i], err = c.compare(dataset, [2]*store.DB{a.DB, b.DB}, [2][]store.Series{inA, inB})
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

// sameContent keeps the series of the dataset's present content if both sides have it, else of all contents that both
// have.
func (c *Conditions) sameContent(a, b []store.Series) (inA, inB []store.Series) {
	var both []string
	for _, s := range a {
		if slices.ContainsFunc(b, func(o store.Series) bool { return o.Content == s.Content }) {
			both = append(both, s.Content)
		}
	}
	if len(both) > 1 {
		if now, err := run.Content(c.Track, a[0].Dataset, c.GPU); err == nil && slices.Contains(both, now) {
			both = []string{now}
		}
	}
	other := func(s store.Series) bool { return !slices.Contains(both, s.Content) }
	return slices.DeleteFunc(a, other), slices.DeleteFunc(b, other)
}

// compare compares two sides on a dataset, with the bounds that either database has. It returns nil, nil if no board
// ranks the dataset or the sides share no instance.
func (c *Conditions) compare(dataset string, dbs [2]*store.DB, series [2][]store.Series) (*Comparison, error) {
	at := c.Track.BoardOf(datasets.RegimeOf(dataset), c.RankBy)
	if at < 0 {
		return nil, nil
	}
	b := board{Board: c.Track.Boards[at], conditions: c, bounds: map[instance]float64{}}
	if b.Bound.Algorithm != "" {
		for _, db := range dbs {
			all, err := c.reference(db, b.Bound, dataset)
			if err != nil {
				return nil, err
			}
			own, err := valuesByInstance(db, all[dataset], b.Bound.Metric)
			if err != nil {
				return nil, err
			}
			maps.Copy(b.bounds, own)
		}
	}
	var sides [2]*contender
	for i := range sides {
		var err error
		if sides[i], err = b.contender(dbs[i], series[i], math.MaxInt); err != nil {
			return nil, err
		}
	}
	bounded := sides[0].hasBounds() || sides[1].hasBounds()
	return newComparison(sides[0], sides[1], Metric{Name: b.Metric, Higher: b.Higher, Bounded: bounded})
}

// A Comparison compares two results on the instances of a dataset that both have. Differences are B minus A. Low and
// high ends are 95 % intervals by [stats.Resample].
type Comparison struct {
	Dataset string
	Metric  Metric
	// Instances counts the compared instances. LeftOut counts those that only one was run on or whose bound is unknown.
	Instances, LeftOut int
	// MissingB counts the instances that A was run on and B was not.
	MissingB int
	// FailedA and FailedB count the instances without a valid answer. Means are over those that both solved.
	FailedA, FailedB int
	// A and B are means of the metric, and Difference is B minus A; NaN if no instance was solved by both.
	A, B, Difference, Low, High float64
	// GapA and GapB are mean gaps in percent, and Gap is GapB minus GapA; also NaN without a bound.
	GapA, GapB, Gap, GapLow, GapHigh float64
	// P is the two-sided probability of [stats.Wilcoxon] for the paired gaps, or for the metric where it has no bound.
	// [Compare] adjusts it for all its comparisons to PHolm. Both are NaN if no instance was solved by both.
	P, PHolm float64
	// Wins, Ties and Losses are B's. An answer wins against a missing one.
	Wins, Ties, Losses int
	// Worst are the instances on which B is worse than A, the worst first.
	Worst []Pair
}

// A Pair has the results of A and B on one instance.
type Pair struct {
	Dataset  string
	Instance int
	// A and B are values of the metric; NaN without a valid answer.
	A, B float64
	// By is how much B is worse: points of the gap, or units of the metric without a bound; +Inf if B failed.
	By float64
}

// newComparison compares two results of a dataset. It returns nil, nil if they have no instance in common.
func newComparison(a, b *contender, metric Metric) (*Comparison, error) {
	has := map[instance]bool{}
	for _, e := range b.entries {
		has[e.instance] = true
	}
	missing := 0
	for _, e := range a.entries {
		if !has[e.instance] {
			missing++
		}
	}
	both, _, err := findContenders([]*contender{a, b}, metric)
	if err != nil || both == nil {
		return nil, err
	}
	s := &a.standing
	c := &Comparison{Dataset: s.Dataset, Metric: metric, Instances: s.Instances, LeftOut: s.LeftOut, MissingB: missing}
	c.score(a, b)
	return c, c.summarize(a, b)
}

// score counts failures, wins, ties and losses, and lists the losses.
func (c *Comparison) score(a, b *contender) {
	for i, lossA := range a.losses {
		lossB := b.losses[i]
		p := Pair{
			Dataset: c.Dataset, Instance: a.entries[i].number, A: a.values[i], B: b.values[i], By: lossB - lossA,
		}
		if math.IsNaN(lossA) {
			c.FailedA++
		}
		if math.IsNaN(lossB) {
			c.FailedB++
			p.By = math.Inf(1)
		}
		switch {
		case math.IsNaN(lossA) && math.IsNaN(lossB) || lossA == lossB:
			c.Ties++
		case math.IsNaN(lossA) || lossB < lossA:
			c.Wins++
		default:
			c.Losses++
			c.Worst = append(c.Worst, p)
		}
	}
	sortWorst(c.Worst)
}

// sortWorst sorts pairs, those on which B is worst first.
func sortWorst(pairs []Pair) {
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.By, a.By) })
}

// summarize sets the means, their intervals and P, over the instances that both solved.
func (c *Comparison) summarize(a, b *contender) error {
	nan := math.NaN()
	c.A, c.B, c.Difference, c.Low, c.High = nan, nan, nan, nan, nan
	c.GapA, c.GapB, c.Gap, c.GapLow, c.GapHigh = nan, nan, nan, nan, nan
	c.P, c.PHolm = nan, nan
	worse := pairedDifferences(b, a)
	if len(worse) == 0 {
		return nil
	}
	var valuesA, valuesB, differences, gapsA, gapsB []float64
	for i, value := range a.values {
		if other := b.values[i]; !math.IsNaN(value) && !math.IsNaN(other) {
			valuesA, valuesB = append(valuesA, value), append(valuesB, other)
			differences = append(differences, other-value)
			gapsA, gapsB = append(gapsA, a.losses[i]), append(gapsB, b.losses[i])
		}
	}
	c.A, c.B, c.Difference = mean(valuesA), mean(valuesB), mean(differences)
	r, err := stats.Resample([][]float64{differences, worse}, a.standing.seed())
	if err != nil {
		return err
	}
	defer r.Release()
	c.Low, c.High = r.Interval(0)
	if c.Metric.Bounded {
		c.GapA, c.GapB, c.Gap = mean(gapsA), mean(gapsB), mean(worse)
		c.GapLow, c.GapHigh = r.Interval(1)
	}
	t, err := stats.Wilcoxon(worse)
	c.P, c.PHolm = t.P, t.P
	return err
}

// adjustHolm sets PHolm of comparisons that are made together.
func adjustHolm(all []*Comparison) {
	var p []float64
	var tested []*Comparison
	for _, c := range all {
		if !math.IsNaN(c.P) {
			p, tested = append(p, c.P), append(tested, c)
		}
	}
	for i, adjusted := range stats.Holm(p) {
		tested[i].PHolm = adjusted
	}
}

// Better returns 1 if B is certainly better than A, -1 if it is certainly worse, and 0 otherwise. Certain means that
// PHolm is below 5 % and the interval of the mean difference excludes 0; the interval alone decides the sign.
func (c *Comparison) Better() int {
	low, high := c.GapLow, c.GapHigh
	switch {
	case c.Metric.Bounded:
	case c.Metric.Higher:
		low, high = -c.High, -c.Low
	default:
		low, high = c.Low, c.High
	}
	switch certain := c.PHolm < 1-stats.Confidence; {
	case certain && high < 0:
		return 1
	case certain && low > 0:
		return -1
	}
	return 0
}

// Worse returns by how much B is worse than A, in percent of the mean of A: 0 if it is not, +Inf if B failed on more
// instances, or is worse than a mean of zero.
func (c *Comparison) Worse() float64 {
	worse := c.Difference
	if c.Metric.Higher {
		worse = -worse
	}
	switch {
	case c.FailedB > c.FailedA:
		return math.Inf(1)
	case worse > 0:
		return 100 * worse / math.Abs(c.A)
	}
	return 0
}

// ComparisonTable lists comparisons of results that are called a and b. The notes explain the columns and sum up.
func ComparisonTable(title, a, b string, all []*Comparison) reports.Table {
	t := reports.Table{
		Title: title,
		Columns: reports.Left("dataset").Right("instances").Left("metric").Right(
			"a_mean", "b_mean", "difference", "diff_low", "diff_high", "a_gap", "b_gap", "gap_points", "gap_low",
			"gap_high", "p_holm", "wins", "ties", "losses", "a_failed", "b_failed", "worst", "worst_by"),
		Notes: comparisonNotes(a, b, all),
	}
	for _, c := range all {
		worst, by := reports.Missing, reports.Missing
		if len(c.Worst) > 0 {
			worst, by = strconv.Itoa(c.Worst[0].Instance), reports.Fixed(c.Worst[0].By, ValueDecimals)
		}
		t.Row(c.Dataset, c.Instances, c.Metric.Name,
			reports.Cells(ValueDecimals, c.A, c.B, c.Difference, c.Low, c.High),
			reports.Cells(PercentDecimals, c.GapA, c.GapB, c.Gap, c.GapLow, c.GapHigh), formatProbability(c.PHolm),
			c.Wins, c.Ties, c.Losses, c.FailedA, c.FailedB, worst, by)
	}
	return t
}

// comparisonNotes explains the columns, and lists the datasets by [Comparison.Better] and the worst instances.
func comparisonNotes(a, b string, all []*Comparison) []string {
	notes := []string{
		fmt.Sprintf("a: %s; b: %s; difference: b less a, the mean over the instances that both solved, with "+
			"diff_low to diff_high its 95 %% bootstrap interval; gap_points: the same of the gaps to the bound, which "+
			"are in percent", a, b),
		"p_holm: Wilcoxon's signed-rank test of the gaps, or of the metric where it has no bound, by Holm's " +
			"adjustment for the datasets; wins, ties and losses are those of b; worst: the instance where b is worst " +
			"against a, by worst_by points of the gap, or units of the metric",
	}
	verdicts := map[int][]string{} // datasets by the result of Better
	var leftOut, few []string
	var pairs []Pair
	for _, c := range all {
		pairs = append(pairs, c.Worst...)
		if c.Instances < fewInstances {
			few = append(few, c.Dataset)
		}
		verdicts[c.Better()] = append(verdicts[c.Better()], c.Dataset)
		if c.LeftOut > 0 {
			leftOut = append(leftOut, fmt.Sprintf("%d of %s", c.LeftOut, c.Dataset))
		}
	}
	sortWorst(pairs)
	const mostWorst = 5
	var worst []string
	for _, p := range pairs[:min(mostWorst, len(pairs))] {
		worst = append(worst, fmt.Sprintf("%s instance %d (%s against %s)", p.Dataset, p.Instance,
			reports.Fixed(p.B, 3), reports.Fixed(p.A, 3)))
	}
	return appendNotes(notes, []note{
		{"b is better (p_holm below 0.05, and the interval excludes zero)", verdicts[1]},
		{"b is worse (p_holm below 0.05, and the interval excludes zero)", verdicts[-1]},
		{"not told apart (it takes p_holm and the interval; a leaderboard asks the interval alone)", verdicts[0]},
		{fewNote, few},
		{"instances left out because only one was run on them or their bound is not known", leftOut},
		{"instances where b is worst against a", worst},
	})
}
