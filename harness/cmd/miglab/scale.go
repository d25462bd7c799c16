package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/site"
)

// scaleTitle is the title of a track's figure.
const scaleTitle = "Cost against size: the algorithms of the %s track"

func newScale() *cobra.Command {
	var results string
	var limit time.Duration
	var most int
	c := &cobra.Command{
		Use:   "scale",
		Short: "Measure time and memory of every algorithm against the size of its instances",
		Long: "scale runs every batch, stream and placement algorithm of this program on instances of 10, 14, 20, 30, 50, 70, 100 ... tasks\n" +
			"(placement: GPUs), until one takes longer than the limit or cannot be solved, and writes tables and figures into the\n" +
			"folder scale of the results. miglab site shows them. Times are of this machine, one instance a point.",
		Example: "  miglab scale\n  miglab scale --limit 10s --most 1000000",
		RunE: func(c *cobra.Command, _ []string) error {
			for _, t := range track.All() {
				if t.Sized == nil {
					continue
				}
				costs, err := costsOf(c.Context(), t, limit, most)
				if err != nil {
					return err
				}
				if err := saveCosts(filepath.Join(results, "scale", string(t.Name)), t, costs); err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), filepath.Join(results, "scale", string(t.Name)+".csv"))
			}
			return nil
		},
	}
	addFlag(c, &limit, "limit", "1s", duration, "an algorithm ends with the first size that takes longer")
	addFlag(c, &most, "most", "100000", atLeast(10), "largest number of tasks or GPUs")
	c.Flags().StringVar(&results, "results", "results", "folder with the results")
	return c
}

// sizes are the first digits of the sizes.
var sizes = []int{10, 14, 20, 30, 50, 70}

// costsOf measures the algorithms of a track, by name and size. An algorithm that needs parameters
// is left out.
func costsOf(ctx context.Context, t *track.Track, limit time.Duration, most int) ([]reports.Cost, error) {
	var out []reports.Cost
	for _, s := range algo.All(t.Name) {
		a, err := algo.ParseFor(s.Name, t.Name)
		if err != nil {
			continue
		}
		_, _ = costOf(ctx, t, a, sizes[0], 5*limit) // loads what a trained algorithm has learned
		for n, i := sizes[0], 0; n <= most; i++ {
			c, err := costOf(ctx, t, a, n, 5*limit)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				break // its size ends before this one
			}
			out = append(out, c)
			if c.Seconds > limit.Seconds() {
				break
			}
			n = n / sizes[i%len(sizes)] * append(sizes, 100)[i%len(sizes)+1]
		}
	}
	return out, nil
}

// costOf solves one instance of a size.
func costOf(ctx context.Context, t *track.Track, a algo.Algorithm, n int, limit time.Duration) (reports.Cost, error) {
	g := mig.MustLookup(t.GPU)
	in, err := datasets.MustParse(t.Sized(n)).Instance(g, 0)
	if err != nil {
		return reports.Cost{}, err
	}
	p := track.Problem{GPU: g, Count: 1, Payload: in}
	if t.Count != nil {
		p.Count = t.Count(in)
	}
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	answer, err := t.Solve(ctx, a, p)
	runtime.ReadMemStats(&after)
	return reports.Cost{Algorithm: a.ID, Size: n, Seconds: answer.Took.Seconds(), MB: float64(after.TotalAlloc-before.TotalAlloc) / 1e6}, err
}

// saveCosts writes the table and the figure of a track.
func saveCosts(base string, t *track.Track, costs []reports.Cost) error {
	size := "Tasks"
	if t.Count != nil {
		size = "GPUs"
	}
	title := fmt.Sprintf(scaleTitle, t.Name)
	if err := os.MkdirAll(filepath.Dir(base), 0o777); err != nil {
		return err
	}
	table := reports.CostTable(title, costs)
	if err := atomicfile.WriteFile(base+".csv", func(w io.Writer) error { return table.CSV(w) }); err != nil {
		return err
	}
	return reports.SaveFigure(base, reports.CostFigure(title, size, costs))
}

// addScale adds the figures that miglab scale has written, if it has.
func addScale(d *site.Data, results string) error {
	for _, t := range track.All() {
		svg, err := os.ReadFile(filepath.Join(results, "scale", string(t.Name)+".svg"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		d.Figures = append(d.Figures, site.Figure{Paper: "scale", Artefact: string(t.Name), Title: fmt.Sprintf(scaleTitle, t.Name), SVG: svg})
	}
	return nil
}
