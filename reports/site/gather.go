package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	"miglab/reports/leaderboard"
)

// shownInstances is how many instances of a dataset the site draws.
const shownInstances = 3

// A meeting is a contest of a track.
type meeting struct {
	*track.Track
	track.Contest
}

func meetings() []meeting {
	var out []meeting
	for _, t := range track.All() {
		for _, c := range t.Contests {
			out = append(out, meeting{t, c})
		}
	}
	return out
}

func (m meeting) series() run.Series {
	return run.Series{Track: m.Track.Name, GPU: m.Contest.GPU, Count: 1, Model: m.Model}
}

// Gather runs the contests of all tracks, as far as the results are not there yet, and returns
// the boards, the instances and the facts of the site. A quick site has few instances. Errors are
// those of the engine and of [leaderboard.Standings].
func Gather(ctx context.Context, e *run.Engine, quick bool) (Data, error) {
	var d Data
	var cells []run.Cell
	for _, m := range meetings() {
		n := m.Instances
		if quick {
			n = shownInstances
		}
		own, err := run.Competition(m.series(), m.Algorithms, m.Datasets, n)
		if err != nil {
			return d, err
		}
		cells = append(cells, own...)
	}
	r, err := e.Run(ctx, cells)
	if err != nil {
		return d, err
	}
	if d.Boards, err = boards(e, cells); err != nil {
		return d, err
	}
	for _, m := range meetings() {
		own, err := m.instances(ctx, e, r)
		if err != nil {
			return d, err
		}
		d.Instances = append(d.Instances, own...)
	}
	d.Facts = facts(cells)
	d.Algorithms = ranked(d.Boards)
	return d, nil
}

// ranked returns the algorithms of this program that the boards rank.
func ranked(boards []Board) []Algorithm {
	var out []Algorithm
	for _, s := range algo.All("") {
		isRanked := func(b Board) bool {
			return b.Track == string(s.Track) && slices.ContainsFunc(b.Standings, func(st leaderboard.Standing) bool {
				return algorithmName(st.Algorithm) == s.Name
			})
		}
		if !track.Of(s.Track).Reference && slices.ContainsFunc(boards, isRanked) {
			out = append(out, Algorithm{
				Name: s.Name, Track: string(s.Track), Version: s.Version,
				Summary: s.Summary, Cite: s.Cite, Source: s.Source, Params: s.Params,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Algorithm) int {
		return cmp.Compare(firstBoard(boards, a.Track), firstBoard(boards, b.Track))
	})
	return out
}

func firstBoard(boards []Board, track string) int {
	return slices.IndexFunc(boards, func(b Board) bool { return b.Track == track })
}

// boards makes the leaderboards of the datasets that the cells are of.
func boards(e *run.Engine, cells []run.Cell) ([]Board, error) {
	type place struct {
		track algo.Track
		gpu   string
	}
	shown := map[place][]string{}
	for _, c := range cells {
		at := place{c.Track, c.GPU}
		if !slices.Contains(shown[at], c.Dataset) {
			shown[at] = append(shown[at], c.Dataset)
		}
	}
	var out []Board
	for _, m := range meetings() {
		b := Board{Track: string(m.Track.Name), GPU: m.Contest.GPU}
		if m.Reconfigures {
			b.Model = m.Model.String()
		}
		if slices.ContainsFunc(out, func(o Board) bool { return o.Track == b.Track && o.GPU == b.GPU && o.Model == b.Model }) {
			continue
		}
		var err error
		b.Standings, err = leaderboard.Standings(e.Store, leaderboard.Conditions{
			Track: m.Track, GPU: m.Contest.GPU, Count: 1, Model: m.Model, Datasets: shown[place{m.Track.Name, m.Contest.GPU}],
		})
		if err != nil {
			return nil, err
		}
		b.About = map[string]string{}
		for own := range leaderboard.ByDataset(b.Standings) {
			b.About[own[0].Dataset] = about(own[0].Dataset)
		}
		out = append(out, b)
	}
	return out, nil
}

// about says what a dataset is: what its family is, and its parameters that are given or that say
// how large an instance is. It is empty for a dataset that this program does not know.
func about(dataset string) string {
	name, given, _ := strings.Cut(dataset, "?")
	all := datasets.List()
	i := slices.IndexFunc(all, func(d datasets.Info) bool {
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
	out := name + ": " + all[i].Summary + ", from " + all[i].Source
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

// instances schedules the first instances of the meeting's datasets again. Only instances of a
// single batch are drawn.
func (m meeting) instances(ctx context.Context, e *run.Engine, r run.Results) ([]Instance, error) {
	if !m.Drawn {
		return nil, nil
	}
	var out []Instance
	for _, d := range m.Datasets {
		spec, err := datasets.Parse(d)
		if err != nil {
			return nil, err
		}
		n := shownInstances
		if have := spec.Instances(); have > 0 {
			n = min(n, have)
		}
		board := m.Boards[m.BoardOf(datasets.RegimeOf(d))]
		bound := m.series()
		bound.Track, bound.Dataset, bound.Algorithm = board.Bound.Track, d, board.Bound.Algorithm
		lower, err := r.Values(bound, 0, n, board.Bound.Metric)
		if err != nil {
			return nil, err
		}
		own := make([]Instance, n)
		for i := range own {
			own[i] = Instance{Dataset: d, Number: i, Lower: mig.Seconds(lower[i])}
		}
		for _, id := range m.Algorithms {
			s := m.series()
			s.Dataset, s.Algorithm = d, id
			cells, err := s.Cells(n)
			if err != nil {
				return nil, err
			}
			for i, cell := range cells {
				p, answer, err := e.Schedule(ctx, cell)
				if _, ok := errors.AsType[*algo.InfeasibleError](err); ok {
					continue
				}
				if err != nil {
					return nil, err
				}
				own[i].Problem = p
				own[i].Plans = append(own[i].Plans, Plan{Algorithm: id, Schedule: answer})
				own[i].Proven = own[i].Proven || math.Abs(float64(answer.Makespan()/own[i].Lower-1)) < 1e-9
			}
		}
		out = append(out, own...)
	}
	return out, nil
}

// revision returns the commit of the source: what the Makefile has written beside the program, or
// what go build has put into it.
func revision() string {
	commit, modified := "unknown", false
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				modified = s.Value == "true"
			}
		}
	}
	if program, err := os.Executable(); err == nil {
		if beside, err := os.ReadFile(program + ".revision"); err == nil {
			commit, modified = strings.CutSuffix(strings.TrimSpace(string(beside)), "-modified")
		}
	}
	if modified {
		commit += " and changes that are not committed"
	}
	return commit
}

func facts(cells []run.Cell) []Fact {
	out := []Fact{
		{Group: "Program", Name: "revision of the source", Value: revision()},
		{Group: "Program", Name: "Go", Value: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		{Group: "Program", Name: "seeds", Value: "every instance's random numbers come from a hash of its dataset and number; the parameter seed of a dataset is 1 unless its name says otherwise"},
	}
	seen := map[Fact]bool{}
	add := func(f Fact) {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	for _, c := range cells {
		add(Fact{Group: "Datasets", Name: c.Dataset + " on " + c.GPU, Value: "content " + c.Content})
	}
	for _, c := range cells {
		version := fmt.Sprintf("version %d", c.Version)
		if c.Weights != "" {
			version += ", weights " + c.Weights
		}
		add(Fact{Group: "Algorithms", Name: c.Algorithm + " (" + string(c.Track) + ")", Value: version})
	}
	return out
}
