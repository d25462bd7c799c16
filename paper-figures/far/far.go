// Package far reproduces the FAR paper: Villarrubia, Costero, Igual, Olcoz,
// "Leveraging Multi-Instance GPUs through moldable task scheduling", Journal of
// Parallel and Distributed Computing 204 (2025) 105128.
//
// published.csv has every number that the paper prints, except scheduling times, which are
// in timings.csv. tolerances.csv has the tolerances that differ from the default.
package far

import (
	"embed"
	"fmt"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/track"
	figures "miglab/paper-figures"
)

//go:embed published.csv tolerances.csv timings.csv
var files embed.FS

// The paper's numbers of executions (6.3) and of batches (6.7.1).
const (
	executions = 1000
	batches    = 1001
)

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("far", files)
	if err != nil {
		return figures.Paper{}, err
	}
	timings, err := figures.ReadCSV[publishedTime]("far", files, "timings.csv")
	if err != nil {
		return figures.Paper{}, err
	}
	hardware := datasets.Hardware()
	return figures.Paper{
		Name:  "far",
		Title: "FAR: Leveraging Multi-Instance GPUs through moldable task scheduling",
		Cite:  "J. Villarrubia, L. Costero, F. D. Igual, K. Olcoz, Journal of Parallel and Distributed Computing 204 (2025) 105128.",
		Artefacts: []figures.Artefact{
			figure1(), figures.ReconfigurationTable(claims, hardware), figure2(), figure3(), table2(claims, hardware), figure4(), figures5and6(claims),
			figures7to9(), factors(claims), figure10(), table3(claims, hardware), figure11(), rodinia(claims), figure12(), optimum(),
			table4(claims), a30(claims), table5(claims), table6(claims), table7and8(claims, 7), table7and8(claims, 8),
			table9(claims), text(claims, hardware), timing(timings),
		},
	}, nil
}

// synthetic is a workload of 6.3 with further parameters, such as psup=50.
func synthetic(w workload, n int, parameters string) string {
	s := fmt.Sprintf("far/%s+%s?n=%d", w.scaling, w.times, n)
	if parameters != "" {
		s += "&" + parameters
	}
	return figures.Dataset(s)
}

// workload is a scaling class with a range of times, as the paper names them.
type workload struct{ scaling, times string }

func (w workload) String() string { return w.scaling + " " + w.times }

var (
	scalings = []string{"POORSCALING", "MIXEDSCALING", "GOODSCALING"}
	// wide are the rows of Tables 4 and 9, workloads those of 5 to 8.
	wide, workloads = listWorkloads()
)

func listWorkloads() (wide, all []workload) {
	for _, s := range scalings {
		wide = append(wide, workload{s, "WIDETIMES"})
		all = append(all, workload{s, "NARROWTIMES"}, workload{s, "WIDETIMES"})
	}
	return wide, all
}

// batch, stream and bound are series on A100s.
func batch(dataset, algorithm string, model mig.Reconfiguration) run.Series {
	return run.Series{Track: algo.TrackBatch, Dataset: dataset, GPU: "A100", Count: 1, Algorithm: algo.MustParse(algorithm).ID, Model: model}
}

func stream(dataset, algorithm string) run.Series {
	s := batch(dataset, algorithm, mig.Sequential)
	s.Track = algo.TrackStream
	return s
}

func bound(dataset, name string) run.Series {
	s := batch(dataset, name, mig.Sequential)
	s.Track = algo.TrackBound
	return s
}

// on returns the series on another GPU.
func on(gpu string, count int, s run.Series) run.Series {
	s.GPU, s.Count = gpu, count
	return s
}

// makespan is the metric of most numbers.
const makespan = track.MetricMakespan

// over returns, by instance, the makespan of one series over that of another.
func over(d *figures.Data, a, b run.Series) []float64 {
	return figures.Ratios(d.Values(a, makespan), d.Values(b, makespan))
}

// area is the area bound of the instances of a series.
func area(s run.Series) run.Series { return on(s.GPU, s.Count, bound(s.Dataset, "area")) }

// rho returns, by instance, the makespan over the area bound (FAR 6.4).
func rho(d *figures.Data, s run.Series) []float64 {
	return figures.Ratios(d.Values(s, makespan), d.Values(area(s), track.MetricBound))
}

// needRho lists what rho reads.
func needRho(s run.Series, n int) []figures.Need { return figures.NeedFirst(n, s, area(s)) }
