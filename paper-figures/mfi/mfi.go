// Package mfi reproduces the MFI paper: Zambianco, Fasol, Doriguzzi-Corin, "An Online
// Fragmentation-Aware GPU Scheduler for Multi-Tenant MIG-based Clouds".
//
// The paper prints two tables and one worked example. Its results are figures, and only what
// the text says about them in words can be checked.
//
// A [reading] settles what the paper leaves open, such as when a baseline rejects. VI, the section of the
// experiments, calls FF and RR alone MIG-agnostic, and does not say what BF-BI and WF-BI do with a GPU that has no free
// index. By default they pass over it, which is inferred. In V-A and Fig. 3 two example schemes, best fit and load
// balancing, choose a GPU by its free slices and then fail if no index fits: as a reading, all four baselines are so
// strict. The score F of both is the one that gives the worked example of V-B, a number that the authors printed.
package mfi

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

//go:embed *.csv
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
	return figures.Load("mfi", files,
		states("figure1", "Fig. 1. Fragmentation by arrival and termination, an example", fragmentation()),
		figures.Show("figure2", "Fig. 2. The profiles of A100-80GB at all their indexes", figure2),
		figures.Show("table1", "MIG profiles of A100 and where they may start", table1),
		states("figure3", "Fig. 3. Rejections by (a) best fit and (b) load balancing, an example", rejections()),
		figures.Show("example",
			"the worked example of the fragmentation score F (V-B): slices 2, 3 and 5 of GPU 2 are occupied",
			example),
		figures.Show("table2", "distributions of the requested profiles", table2),
		figures.Show("figure4", "the schemes under different load, profiles uniformly distributed", figure4),
		figures.Show("figure5", "the schemes under four distributions of profiles, at a demand of 85 %", figure5),
		figures.Show("figure6", "average fragmentation score by scheme and distribution, at a demand of 85 %", figure6),
		figures.Show("text", "numbers of the abstract, at a demand of 85 %", text),
		figures.Show("steady", "acceptance of the paper's schemes in steady state, under each reading", steady),
	)
}

// distributions are the ones in Table II.
var distributions = []string{"uniform", "skew-small", "skew-big", "bimodal"}

// stream returns the canonical dataset of a distribution with parameters, such as load=40.
func stream(distribution, parameters string) string {
	return figures.Dataset("mfi/" + distribution + "?" + parameters)
}

// demand returns a stream of VI. It ends when the requests add up to a percentage of the cluster's capacity.
func demand(distribution string, percent int) string {
	return stream(distribution, fmt.Sprintf("load=%d", percent))
}

// place returns a scheduler on a stream.
func place(dataset, algorithm string) store.Series {
	return store.Series{
		Track: algo.TrackPlacement, Dataset: dataset, GPU: gpu, Count: gpus, Algorithm: algo.MustParse(algorithm).ID,
	}
}

// schemes are the schedulers of VI with the paper's names. MFI comes last, so that no line hides its line.
var (
	schemes   = []string{"FF", "RR", "BF-BI", "WF-BI", "MFI"}
	baselines = schemes[:4]
	agnostic  = schemes[:2] // the schemes that VI calls MIG-agnostic
)

// A reading is one way to understand what the paper leaves open.
type reading struct {
	// name is the name in readings.csv, which says where the reading comes from.
	name string
	// strict are the schemes that choose a GPU by free slices alone, and reject if no start is free on it. With literal
	// they reject if the first free slice is no start of the profile.
	strict  []string
	literal bool
	// f is the reading of Algorithm 1 in MFI and in the fragmentation score; empty for the literal one.
	f string
}

const startFree = "start-free"

// readings are whole readings of the paper. The first one is the default. The first two are the descriptions of the
// baselines in VI and V-A.
var readings = []reading{
	{name: "VI: FF and RR strict", strict: agnostic, f: startFree},
	{name: "V-A: all strict", strict: baselines, f: startFree},
	{name: "VI: first free slice", strict: agnostic, literal: true, f: startFree},
	{name: "VI: F literal", strict: agnostic},
	{name: "VI: F partial", strict: agnostic, f: "partial"},
	{name: "F literal", strict: baselines},
	{name: "F partial", strict: baselines, f: "partial"},
	{name: "all feasible", f: startFree},
}

func (r reading) series(scheme, dataset string) store.Series {
	id := strings.ToLower(scheme)
	switch {
	case scheme == "MFI" && r.f != "":
		id += "?f=" + r.f
	case slices.Contains(r.strict, scheme) && r.literal:
		id += "?index=slice"
	case slices.Contains(r.strict, scheme):
		id += "?index=strict"
	}
	return place(dataset, id)
}

// values returns a metric of a scheme on a stream, by simulation.
func (r reading) values(d *figures.Data, scheme, dataset, metric string) []float64 {
	return d.Values(r.series(scheme, dataset), simulations, metric)
}

func (r reading) String() string { return r.name }

// underDescriptions measures two further readings, one for each description of the baselines. Their names have the
// section and the given name.
func underDescriptions(d *figures.Data, name string, measure func(*measured)) {
	underReadings(d, figures.Map(readings[:2], func(r reading) reading {
		section, _, _ := strings.Cut(r.name, ":")
		r.name = section + ": " + name
		return r
	}), measure)
}

func underReadings(d *figures.Data, readings []reading, measure func(*measured)) {
	for r, values := range figures.Under(d, readings) {
		measure(&measured{reading: r, d: d, values: values, runs: simulations, paper: simulations})
	}
}

// atDemand lists the four distributions at a demand in percent.
func atDemand(percent int) []string {
	return figures.Map(distributions, func(distribution string) string { return demand(distribution, percent) })
}
