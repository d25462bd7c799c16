// Package miso reproduces MISO: B. Li, T. Patel, S. Samsi, V. Gadepally, D. Tiwari, "MISO: Exploiting Multi-Instance
// GPU Capability on Multi-Tenant Systems for Machine Learning", SoCC 2022.
//
// The authors published the training times of their jobs on A100 instances and the scripts of their run on 8 GPUs. The
// jobs are simulated here with these times. The numbers are from the abstract and the paper's conclusion.
package miso

import (
	"embed"
	"fmt"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

//go:embed *.csv
var files embed.FS

const (
	// orders is the number of random orders of the jobs here.
	orders = 100
	// paperOrders is the number of orders that the authors' script runs.
	paperOrders = 1
	// gpus is the number of GPUs that the script has by default.
	gpus = 8
	// seed gives orders that no earlier result of this project had: claims and tests were written before the run.
	seed = 2
)

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("miso", files,
		figures.Show("completion", "average job completion time of the schemes on MISO's 100 jobs and 8 A100",
			completion),
	)
}

// A reading settles what the abstract leaves open.
type reading struct {
	name string
	gap  int // the time between two jobs, in seconds
	// profile is how long a GPU's jobs stand still while MISO profiles them under MPS, in seconds. In truth they work
	// slower than alone: the script's 30 s under MPS are as if they stood still, and 0 as if they lost no time.
	profile int
	optsta  string // the algorithm of OptSta: best or scripted
}

const (
	// best finds the best partition for each order of the jobs.
	best = "optsta"
	// scripted has the partition of the authors' script for every order.
	scripted = "optsta?p=2-2-3"
)

// inChart shortens the names of readings for the chart.
var inChart = strings.NewReplacer("every ", "", " under MPS", "", "3+2+2", "scripted")

func (r reading) String() string { return r.name }

// readings lists the readings. The first one is the default.
var readings = []reading{
	{"every 60 s, no work under MPS", 60, 30, best},
	{"every 60 s, full work under MPS", 60, 0, best},
	{"every 100 s, no work under MPS", 100, 30, best},
	{"every 100 s, full work under MPS", 100, 0, best},
	{"every 60 s, no work under MPS, 3+2+2", 60, 30, scripted},
	{"every 60 s, full work under MPS, 3+2+2", 60, 0, scripted},
	{"every 100 s, no work under MPS, 3+2+2", 100, 30, scripted},
	{"every 100 s, full work under MPS, 3+2+2", 100, 0, scripted},
}

// schemes lists what the paper compares, by its names.
var schemes = []string{"NoPart", "OptSta", "MISO", "Oracle"}

// times returns the mean completion time of a scheme for each order of the jobs, in seconds.
func (r reading) times(d *figures.Data, scheme string) []float64 {
	algorithm := "nopart"
	switch scheme {
	case "OptSta":
		algorithm = r.optsta
	case "MISO":
		algorithm = fmt.Sprintf("miso-stream?profile=%d", r.profile)
	case "Oracle":
		algorithm = "miso-oracle"
	}
	dataset := figures.Dataset(fmt.Sprintf("miso/stream?gap=%d&seed=%d", r.gap, seed))
	s := figures.Series(algo.TrackStream, dataset, "A100", algo.MustParse(algorithm).ID, mig.Sequential)
	s.Count = gpus
	return d.Values(s, orders, track.MetricFlow)
}

// ratio returns the mean over the orders of a scheme's completion time over another's.
func (r reading) ratio(d *figures.Data, scheme, other string) figures.Measurement {
	return d.MeanOf(figures.Ratios(r.times(d, scheme), r.times(d, other)), verdict.Draws, paperOrders)
}

// completion measures the numbers of the abstract and of the conclusion, and draws the schemes relative to NoPart.
func completion(d *figures.Data) {
	t := d.Table("completion", "Average job completion time, and relative to NoPart [%]",
		reports.Left("reading").PlusMinus("NoPart [s]").PlusMinus(schemes[1:]...),
		fmt.Sprintf("means over %d random orders of the 100 jobs, ± half of the 95 %% confidence interval",
			d.Scale.Replicates(orders)),
		"the paper's own sampling error is taken to be that of one order, because the authors' script runs one",
		"MISO below NoPart or OptSta and above Oracle are means over the orders of a quotient, not quotients of means")
	chart := reports.Bars{
		Title:  "Average job completion time relative to NoPart",
		X:      reports.Axis{Label: "Time between jobs, work while MISO profiles, OptSta's partition if scripted"},
		Y:      reports.Axis{Label: "Relative to NoPart"},
		Groups: make([]reports.BarGroup, len(schemes)),
	}
	for r, values := range figures.Under(d, readings) {
		values[claim.Of("MISO below NoPart")] = r.ratio(d, "MISO", "NoPart").Affine(-100, 100)
		values[claim.Of("MISO below OptSta")] = r.ratio(d, "MISO", "OptSta").Affine(-100, 100)
		values[claim.Of("MISO above Oracle")] = r.ratio(d, "MISO", "Oracle").Affine(100, -100)

		row := []any{r.name, figures.PlusMinus(d.MeanOf(r.times(d, "NoPart"), verdict.Draws, paperOrders), 0)}
		chart.Categories = append(chart.Categories, inChart.Replace(r.name))
		for i, scheme := range schemes {
			m := r.ratio(d, scheme, "NoPart")
			chart.Groups[i].Name = scheme
			chart.Groups[i].Add(m.Value, m.Low, m.High)
			if i > 0 {
				row = append(row, figures.PlusMinus(m.Affine(100, 0), 1))
			}
		}
		t.Row(row...)
	}
	d.Figure("completion", chart.Title, chart)
}
