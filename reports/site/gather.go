package site

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/track"
	"miglab/reports/leaderboard"
)

// shownInstances is how many instances of a dataset the site draws.
const shownInstances = 3

// A trackContest is a contest with its track.
type trackContest struct {
	*track.Track
	track.Contest
}

func trackContests() (out []trackContest) {
	for _, t := range track.All() {
		for _, c := range t.Contests {
			out = append(out, trackContest{t, c})
		}
	}
	return out
}

func (c trackContest) series(dataset, algorithm string) store.Series {
	return store.Series{
		Track: c.Track.Name, Dataset: dataset, GPU: c.Contest.GPU, Count: c.GPUs, Model: c.Model.String(),
		Algorithm: algorithm,
	}
}

// Gather computes the missing results of all tracks' contests, and returns the data of the site except the papers. A
// quick site has few instances. Gather returns boards of the contests' datasets and of all results that neither
// contests nor papers ask for: a user ran them.
func Gather(
	ctx context.Context, e *run.Engine, models *mig.Catalog, quick bool, papers []run.Span,
) (d Data, err error) {
	var spans []run.Span
	for _, c := range trackContests() {
		n := c.Instances
		if quick {
			n = shownInstances
		}
		spansOfContest, err := run.Competition(models, c.series("", ""), c.Algorithms, c.Datasets, n)
		if err != nil {
			return d, err
		}
		spans = append(spans, spansOfContest...)
	}
	if err := e.Run(ctx, spans); err != nil {
		return d, err
	}
	userConditions, err := ownDatasets(e.Store, models, slices.Concat(spans, papers))
	if err != nil {
		return d, err
	}
	if d.Boards, err = boards(e.Store, contestConditions(userConditions)); err != nil {
		return d, err
	}
	for _, c := range trackContests() {
		drawn, err := c.instances(ctx, e.Store, models)
		if err != nil {
			return d, err
		}
		d.Instances = append(d.Instances, drawn...)
	}
	d.Algorithms = rankedAlgorithms(d.Boards)
	return d, nil
}

// GatherOwn returns the boards of all results in the store, and runs nothing.
func GatherOwn(db *store.DB, models *mig.Catalog) (d Data, err error) {
	userConditions, err := ownDatasets(db, models, nil)
	if err == nil {
		d.Boards, err = boards(db, userConditions)
	}
	d.Algorithms = rankedAlgorithms(d.Boards)
	return d, err
}

// rankedAlgorithms returns the algorithms of this program that the boards rank.
func rankedAlgorithms(boards []Board) (out []algo.Spec) {
	ranked := map[[2]string]bool{}
	for _, b := range boards {
		for _, s := range b.Standings {
			ranked[[2]string{b.Track, algorithmName(s.Algorithm)}] = true
		}
	}
	for _, track := range distinct(boards, func(b Board) string { return b.Track }) {
		out = append(out, matching(algo.All(track), func(s algo.Spec) bool {
			return ranked[[2]string{track, s.Name}]
		})...)
	}
	return out
}

// ownDatasets returns the conditions and datasets of the stored series that asked lacks in any content, version and
// weights. It returns an error for an unknown track or GPU.
func ownDatasets(db *store.DB, models *mig.Catalog, asked []run.Span) (out []leaderboard.Conditions, err error) {
	plain := func(s store.Series) store.Series {
		s.Content, s.Version, s.Weights = "", 0, ""
		return s
	}
	known := map[store.Series]bool{}
	for _, span := range asked {
		known[plain(span.Series)] = true
	}
	all, err := db.Series(store.Filter{})
	for _, s := range all {
		t, err := track.Lookup(s.Track)
		if err != nil {
			return nil, err
		}
		if t.Reference || known[plain(s)] {
			continue
		}
		c := leaderboard.Conditions{Track: t, Count: 1, Datasets: []string{s.Dataset}}
		if c.GPU, err = models.Lookup(s.GPU); err != nil {
			return nil, err
		}
		if t.Reconfigures {
			c.Count = s.Count
			if c.Model, err = mig.ParseReconfiguration(s.Model); err != nil {
				return nil, err
			}
		}
		out = addConditions(out, c)
	}
	return out, err
}

// addConditions adds datasets to the board of their conditions, which may be a new one.
func addConditions(all []leaderboard.Conditions, c leaderboard.Conditions) []leaderboard.Conditions {
	i := slices.IndexFunc(all, func(o leaderboard.Conditions) bool {
		return o.Track == c.Track && o.GPU == c.GPU && o.Count == c.Count && o.Model == c.Model
	})
	if i < 0 {
		return append(all, c)
	}
	for _, dataset := range c.Datasets {
		if !slices.Contains(all[i].Datasets, dataset) {
			all[i].Datasets = append(all[i].Datasets, dataset)
		}
	}
	return all
}

// contestConditions returns the conditions of the contests and others, with all datasets of the same conditions.
func contestConditions(others []leaderboard.Conditions) (conditions []leaderboard.Conditions) {
	for _, c := range trackContests() {
		here := leaderboard.Conditions{
			Track: c.Track, GPU: mig.MustLookup(c.Contest.GPU), Count: c.GPUs, Model: c.Model,
		}
		for _, dataset := range c.Datasets {
			here.Datasets = append(here.Datasets, datasets.MustParse(dataset).ID())
		}
		conditions = addConditions(conditions, here)
	}
	for _, c := range others {
		conditions = addConditions(conditions, c)
	}
	return conditions
}

func boards(db *store.DB, conditions []leaderboard.Conditions) (out []Board, err error) {
	for _, c := range conditions {
		b := Board{Track: c.Track.Name, About: map[string]string{}}
		b.GPU, b.Model = leaderboard.Circumstances(store.Series{
			Track: c.Track.Name, GPU: c.GPU.Name, Count: c.Count, Model: c.Model.String(),
		})
		if b.Standings, err = leaderboard.Standings(db, c); err != nil {
			return nil, err
		}
		for standings := range leaderboard.ByDataset(b.Standings) {
			b.About[standings[0].Dataset] = about(standings[0].Dataset)
		}
		out = append(out, b)
	}
	return out, nil
}

// about describes a dataset by its family and by the parameters that are given or say how large an instance is; "" if
// this program does not know it.
func about(dataset string) string {
	name, given, _ := strings.Cut(dataset, "?")
	all := datasets.List()
	i := slices.IndexFunc(all, func(d datasets.Family) bool {
		family, _, _ := strings.Cut(d.Name, "?")
		return family == name
	})
	if i < 0 {
		return ""
	}
	values := map[string]string{}
	for _, p := range all[i].Params {
		if p.Name == "n" || p.Name == "gpus" {
			values[p.Name] = p.Default
		}
	}
	for pair := range strings.SplitSeq(given, "&") {
		key, value, _ := strings.Cut(pair, "=")
		values[key] = value
	}
	out := name + ": " + all[i].Doc + ", from " + all[i].Source
	for _, p := range all[i].Params {
		if values[p.Name] != "" {
			out += fmt.Sprintf("; %s=%s: %s", p.Name, values[p.Name], p.Doc)
		}
	}
	if assumed := datasets.Assumed(dataset); assumed != "" {
		out += ". Assumed: " + assumed
	}
	return out
}

// instances schedules the first instances of the contest's datasets again, to draw them, if the track is Drawn.
func (c trackContest) instances(ctx context.Context, db *store.DB, models *mig.Catalog) (out []Instance, err error) {
	if !c.Drawn {
		return nil, nil
	}
	for _, dataset := range c.Datasets {
		spec, err := datasets.Parse(dataset)
		if err != nil {
			return nil, err
		}
		n := shownInstances
		if have := spec.Instances(); have > 0 {
			n = min(n, have)
		}
		reference := c.Boards[c.BoardOf(datasets.RegimeOf(dataset), "")].Bound
		bound := c.series(dataset, reference.Algorithm)
		bound.Track = reference.Track
		bounds, err := run.SpanOf(models, bound, n)
		if err != nil {
			return nil, err
		}
		lower, err := bounds.Values(db, reference.Metric)
		if err != nil {
			return nil, err
		}
		instances := make([]Instance, n)
		for i := range instances {
			instances[i] = Instance{Track: c.Name, Dataset: dataset, Number: i, Lower: mig.Seconds(lower[i])}
		}
		for _, id := range c.Algorithms {
			trial, err := run.Resolve(models, c.series(dataset, id))
			if err != nil {
				return nil, err
			}
			for i := range instances {
				if err := instances[i].schedule(ctx, trial); err != nil {
					return nil, err
				}
			}
		}
		out = append(out, instances...)
	}
	return out, nil
}

// schedule adds a schedule, unless the algorithm cannot schedule the instance.
func (in *Instance) schedule(ctx context.Context, trial *run.Trial) error {
	p, answer, err := trial.Schedule(ctx, in.Number)
	if _, ok := errors.AsType[*algo.InfeasibleError](err); ok {
		return nil
	}
	if err != nil {
		return err
	}
	in.Problem = p
	in.Plans = append(in.Plans, Plan{Algorithm: trial.Series.Algorithm, Schedule: answer})
	in.Proven = in.Proven || math.Abs(float64(answer.Makespan()/in.Lower-1)) < stats.RoundingError
	return nil
}
