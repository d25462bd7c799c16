// Package mfi reproduces the MFI paper: Zambianco, Fasol, Doriguzzi-Corin, "An Online
// Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds".
//
// The paper prints two tables and one worked example. Its results are figures, and only what
// the text says about them in words can be checked. published.csv has all of these numbers and
// statements. tolerances.csv has the tolerance of each kind of statement.
//
// A [reading] settles what the paper leaves open. The default reading follows its text: the
// MIG-agnostic schemes FF and RR suffer from "the allocation of MIG profiles on unfeasible
// indexes" (VI). They choose a GPU by free slices alone and reject the request if no index
// fits. The MIG-aware schemes BF-BI and WF-BI pass over such GPUs.
package mfi

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/run"
	figures "miglab/paper-figures"
)

//go:embed published.csv tolerances.csv
var files embed.FS

const (
	// simulations is the paper's number of simulations of each distribution (VI).
	simulations = 500
	// gpu is the model of its cluster; the dataset has its size, 100 GPUs.
	gpu, gpus = "A100-80GB", 100
	// heavy is the demand of Figs. 5 and 6 in percent of the cluster's capacity.
	heavy = 85
)

// Paper returns the paper with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("mfi", files)
	if err != nil {
		return figures.Paper{}, err
	}
	return figures.Paper{
		Name:  "mfi",
		Title: "MFI: An Online Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds",
		Cite:  "M. Zambianco, L. Fasol, R. Doriguzzi-Corin, Fondazione Bruno Kessler, Trento.",
		Artefacts: []figures.Artefact{
			figure1(), figure2(), table1(claims), figure3(), example(claims), table2(claims),
			figure4(claims), figure5(claims), figure6(claims), text(claims), steady(), offline(),
		},
	}, nil
}

// distributions are those of Table II.
var distributions = []string{"uniform", "skew-small", "skew-big", "bimodal"}

// stream returns the canonical dataset of a distribution with parameters, such as
// load=40.
func stream(distribution, parameters string) string {
	return figures.Dataset("mfi/" + distribution + "?" + parameters)
}

// demand is a stream of VI. It ends when the requests add up to a percentage of the
// cluster's capacity.
func demand(distribution string, percent int) string {
	return stream(distribution, fmt.Sprintf("load=%d", percent))
}

// place is a scheduler on a stream.
func place(dataset, algorithm string) run.Series {
	return run.Series{Track: algo.TrackPlacement, Dataset: dataset, GPU: gpu, Count: gpus, Algorithm: algo.MustParse(algorithm).ID}
}

// schemes are the schedulers of VI with the paper's names. MFI comes last, so that no line
// hides its line.
var (
	schemes   = []string{"FF", "RR", "BF-BI", "WF-BI", "MFI"}
	baselines = schemes[:4]
)

// A reading is one way to understand what the paper leaves open.
type reading struct {
	// name is empty for the default.
	name string
	// title and file tell the reading's figures apart.
	title, file string
	// hidden says which lines are hidden behind MFI's in Fig. 4.
	hidden string
	// strict are the schemes that choose a GPU by free slices alone, and reject if no
	// start is free on it.
	strict []string
	// f is the reading of Algorithm 1 in MFI and in the fragmentation score; empty for
	// the literal one.
	f string
}

// readings are those that the paper's figures are drawn under.
var readings = []reading{
	{"", "FF, RR strict", "", " (MFI hides BF-BI)", []string{"FF", "RR"}, ""},
	{"all strict", "all baselines strict", "-strict", "", baselines, ""},
	{"all feasible", "all baselines feasible", "-feasible", " (MFI hides BF-BI, in a-c FF, RR)", nil, ""},
}

// series is a scheme on a stream.
func (r reading) series(scheme, dataset string) run.Series {
	id := strings.ToLower(scheme)
	switch {
	case scheme == "MFI" && r.f != "":
		id += "?f=" + r.f
	case slices.Contains(r.strict, scheme):
		id += "?index=strict"
	}
	return place(dataset, id)
}

// needs lists n instances of all schemes on datasets.
func (r reading) needs(n int, dataset ...string) (out []figures.Need) {
	for d, s := range figures.Each(dataset, schemes) {
		out = append(out, figures.NeedFirst(n, r.series(s, d))...)
	}
	return out
}

// needSchemes are the needs of an artefact about all schemes under readings.
func needSchemes(readings []reading, datasets []string) func(figures.Scale) []figures.Need {
	return func(s figures.Scale) (out []figures.Need) {
		for _, r := range readings {
			out = append(out, r.needs(s.Replicates(simulations), datasets...)...)
		}
		return out
	}
}

// atDemand lists the four distributions at a demand in percent.
func atDemand(percent int) (out []string) {
	for _, d := range distributions {
		out = append(out, demand(d, percent))
	}
	return out
}
