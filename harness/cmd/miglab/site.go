package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"miglab/harness/track"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	"miglab/reports"
	"miglab/reports/site"
)

// A meeting is algorithms of a track that compete on some datasets.
type meeting struct {
	track      algo.Track
	gpu        string
	model      mig.Reconfiguration
	datasets   []string
	algorithms []string
	instances  int
}

// meetings are those of the site: what each track is about, on the data of its paper.
var meetings = func() []meeting {
	drl := []string{"drl/POORSCALING", "drl/GOODSCALING", "drl/MIXSCALINGUNIFORM", "drl/MIXSCALINGEXTREME", "drl/WIDETIMES"}
	streams := make([]string, len(drl))
	for i, d := range drl {
		streams[i] = d + "?batches=8"
	}
	some := []string{drl[0], drl[1], drl[4]}
	batch := []string{"far", "treedp", "lns", "miso", "fixpartbest", "nomig"}
	queues := []string{"time-sharing", "mig-only", "mps-only", "mig-mps-default", "greedy", "local", "d3qn"}
	return []meeting{
		{algo.TrackBatch, "A100", mig.Sequential, append(slices.Clone(drl), "rodinia"), append(slices.Clone(batch), "agent"), 200},
		{algo.TrackBatch, "A100", mig.Parallel, some, batch, 100},
		{algo.TrackBatch, "A30", mig.Sequential, some, batch, 100},
		{algo.TrackBatch, "H100", mig.Sequential, some, append(slices.Clone(batch), "agent"), 100},
		{algo.TrackStream, "A100", mig.Sequential, streams, []string{"far-concat", "agent-stream", "lns-stream"}, 30},
		{algo.TrackPlacement, "A100-80GB", mig.Sequential, []string{"mfi/uniform?load=85", "mfi/skew-small?load=85", "mfi/skew-big?load=85", "mfi/bimodal?load=85"}, []string{"mfi", "mfi-weighted", "fgd", "value-table", "ff", "rr", "bf-bi", "wf-bi"}, 50},
		{algo.TrackPlacement, "A100-80GB", mig.Sequential, []string{"mfi/uniform?lifespan=steady"}, []string{"mfi", "mfi-weighted", "fgd", "value-table", "ff", "rr", "bf-bi", "wf-bi"}, 20},
		{algo.TrackDispatch, "A100", mig.Sequential, []string{"deadline/relaxed", "deadline/tight"}, []string{"eft", "eft-true", "largest-first", "smallest-first", "energy-aware", "least-slack", "look-ahead", "random", "rl-deadline"}, 20},
		{algo.TrackCorun, "A100", mig.Sequential, []string{"corun/queues"}, queues, 12},
		{algo.TrackCorun, "A100", mig.Sequential, []string{"corun/unseen"}, queues, 20},
	}
}()

// shownInstances is how many instances of a dataset the site draws.
const shownInstances = 3

func newSite() *cobra.Command {
	var results, out string
	var quick bool
	var workers int
	c := &cobra.Command{
		Use:   "site",
		Short: "Write leaderboards, claims and schedules as a static web site",
		Long: "site runs the algorithms of each track on its paper's data, as far as the results are not there yet, and writes\n" +
			"a folder that opens from disk: leaderboards of all tracks, the claims and figures of the papers as far as\n" +
			"miglab reproduce has written them, schedules side by side, and where it all comes from. Other algorithms that\n" +
			"were run on the same datasets are in it, too.",
		Example: "  miglab site\n  miglab site --quick\n  miglab site --out /tmp/site",
		RunE: func(c *cobra.Command, _ []string) error {
			if workers < 0 {
				return fmt.Errorf("--workers %d: at least 0", workers)
			}
			if quick && !c.Flags().Changed("results") {
				results = filepath.Join(results, "quick")
			}
			if !c.Flags().Changed("out") {
				out = filepath.Join(results, "site")
			}
			st, err := store.Open(filepath.Join(results, "store"))
			if err != nil {
				return err
			}
			progress := newProgress(c.ErrOrStderr(), "cells")
			defer progress.done()
			e := &run.Engine{Store: st, Workers: workers, Progress: progress.set}
			data, err := siteData(c.Context(), e, results, quick)
			if err != nil {
				return rankingError(err)
			}
			progress.done()
			if err := site.Write(out, data); err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), filepath.Join(out, "index.html"))
			return nil
		},
	}
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	c.Flags().StringVar(&out, "out", "", "folder to write (default: site in the results)")
	c.Flags().BoolVar(&quick, "quick", false, "few instances, into results/quick/site")
	c.Flags().IntVar(&workers, "workers", 0, "cells computed at a time; 0 means one a processor")
	return c
}

// siteData runs the meetings and gathers what the site shows.
func siteData(ctx context.Context, e *run.Engine, results string, quick bool) (site.Data, error) {
	var d site.Data
	var cells []run.Cell
	for _, m := range meetings {
		n := m.instances
		if quick {
			n = shownInstances
		}
		own, err := competition(m.series(), m.algorithms, m.datasets, n)
		if err != nil {
			return d, err
		}
		cells = append(cells, own...)
	}
	r, err := e.Run(ctx, cells)
	if err != nil {
		return d, err
	}
	if d.Boards, err = siteBoards(e.Store, cells); err != nil {
		return d, err
	}
	for _, m := range meetings {
		if m.track != algo.TrackBatch {
			continue
		}
		own, err := siteInstances(ctx, e, r, m)
		if err != nil {
			return d, err
		}
		d.Instances = append(d.Instances, own...)
	}
	all, err := papers()
	if err != nil {
		return d, err
	}
	if d.Claims, err = siteClaims(results); err != nil {
		return d, err
	}
	for _, p := range all {
		own, err := siteFigures(p, results)
		if err != nil {
			return d, err
		}
		d.Figures = append(d.Figures, own...)
	}
	d.Facts = siteFacts(cells)
	return d, nil
}

func (m meeting) series() run.Series {
	return run.Series{Track: m.track, GPU: m.gpu, Count: 1, Model: m.model}
}

// siteBoards makes the leaderboards of the datasets that the cells are of.
func siteBoards(st *store.Store, cells []run.Cell) ([]site.Board, error) {
	all, err := collect(st)
	if err != nil {
		return nil, err
	}
	shown := map[place]bool{}
	for _, c := range cells {
		shown[place{c.Track, c.Dataset, c.GPU}] = true
	}
	var out []site.Board
	for _, m := range meetings {
		b := site.Board{Track: string(m.track), GPU: m.gpu, Model: m.model.String()}
		if !reconfigures(m.track) {
			b.Model = ""
		}
		if slices.ContainsFunc(out, func(o site.Board) bool { return o.Track == b.Track && o.GPU == b.GPU && o.Model == b.Model }) {
			continue
		}
		standings, err := all.standings(m.track, m.gpu, 1, m.model)
		if err != nil {
			return nil, err
		}
		standings = slices.DeleteFunc(standings, func(s reports.Standing) bool { return !shown[place{m.track, s.Dataset, m.gpu}] })
		b.Table = reports.LeaderboardTable(standings)
		out = append(out, b)
	}
	return out, nil
}

// siteInstances schedules the first instances of a meeting's datasets again.
func siteInstances(ctx context.Context, e *run.Engine, r run.Results, m meeting) ([]site.Instance, error) {
	var out []site.Instance
	for _, d := range m.datasets {
		spec, err := datasets.Parse(d)
		if err != nil {
			return nil, err
		}
		n := shownInstances
		if have := spec.Instances(); have > 0 {
			n = min(n, have)
		}
		bound := m.series()
		bound.Track, bound.Dataset, bound.Algorithm = algo.TrackBound, d, certified.algorithm
		lower, err := r.Values(bound, 0, n, track.MetricBound)
		if err != nil {
			return nil, err
		}
		own := make([]site.Instance, n)
		for i := range own {
			own[i] = site.Instance{Dataset: d, Number: i, Lower: mig.Seconds(lower[i])}
		}
		for _, id := range m.algorithms {
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
				own[i].Plans = append(own[i].Plans, site.Plan{Algorithm: id, Schedule: answer})
				own[i].Proven = own[i].Proven || math.Abs(float64(answer.Makespan()/own[i].Lower-1)) < 1e-9
			}
		}
		out = append(out, own...)
	}
	return out, nil
}

// siteClaims reads what miglab reproduce has judged, if it has.
func siteClaims(results string) ([]site.Claim, error) {
	path := filepath.Join(results, "claims.csv")
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := figures.ReadRows(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var out []site.Claim
	for _, r := range rows {
		out = append(out, site.Claim{
			Paper: r.Paper, Artefact: r.Artefact, Name: r.Claim, Published: r.Published, Measured: r.Measured,
			Low: r.Low, High: r.High, Tolerance: r.Tolerance, Unit: r.Unit, Verdict: string(r.Verdict), Reason: r.Reason,
		})
	}
	return out, nil
}

// image is a figure in a paper's report.
var image = regexp.MustCompile(`(?m)^!\[([^\]]*)\]\(([^)]+)\.svg\)$`)

// siteFigures reads a paper's figures and tables, in the order of its report, if it has
// been written.
func siteFigures(p figures.Paper, results string) ([]site.Figure, error) {
	dir := filepath.Join(results, p.Name)
	report, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []site.Figure
	for _, found := range image.FindAllStringSubmatch(string(report), -1) {
		svg, err := os.ReadFile(filepath.Join(dir, found[2]+".svg"))
		if err != nil {
			return nil, err
		}
		out = append(out, site.Figure{Paper: p.Name, Artefact: found[2], Title: found[1], SVG: svg})
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, path := range tables {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		title, rest, _ := bytes.Cut(text, []byte("\n"))
		out = append(out, site.Figure{
			Paper: p.Name, Artefact: strings.TrimSuffix(filepath.Base(path), ".txt"), Title: string(title), Text: strings.TrimLeft(string(rest), "\n"),
		})
	}
	return out, nil
}

// siteFacts says where the site comes from.
func siteFacts(cells []run.Cell) []site.Fact {
	revision, modified := "unknown", ""
	facts := []site.Fact{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = " and changes that are not committed"
			}
		}
	}
	facts = append(facts,
		site.Fact{Group: "Program", Name: "revision of the source", Value: revision + modified},
		site.Fact{Group: "Program", Name: "Go", Value: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH},
		site.Fact{Group: "Program", Name: "seeds", Value: "every instance's random numbers come from a hash of its dataset and number; the parameter seed of a dataset is 1 unless its name says otherwise"},
	)
	seen := map[site.Fact]bool{}
	add := func(f site.Fact) {
		if !seen[f] {
			seen[f] = true
			facts = append(facts, f)
		}
	}
	for _, c := range cells {
		add(site.Fact{Group: "Datasets", Name: c.Dataset + " on " + c.GPU, Value: "content " + c.Content})
	}
	for _, c := range cells {
		version := fmt.Sprintf("version %d", c.Version)
		if c.Weights != "" {
			version += ", weights " + c.Weights
		}
		add(site.Fact{Group: "Algorithms", Name: c.Algorithm + " (" + string(c.Track) + ")", Value: version})
	}
	return facts
}
