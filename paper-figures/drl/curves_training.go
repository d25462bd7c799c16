package drl

import (
	"maps"
	"slices"
	"strings"

	figures "miglab/paper-figures"
)

// ownAgent is the prefix of our agents' names, deadlineAgent that of the deadline report's.
const (
	ownAgent      = "agent-"
	deadlineAgent = "rl-deadline-"
)

// training lists every run of the project, and shows how our own agents learn.
func (all curves) training(*figures.Data) (*figures.Output, error) {
	var lines, own []line
	for _, name := range slices.Sorted(maps.Keys(all)) {
		shown := name
		if strings.HasPrefix(name, deadlineAgent) {
			shown += ", late [%]"
		}
		lines = append(lines, line{shown, name})
		if workload, ours := strings.CutPrefix(name, ownAgent); ours {
			own = append(own, line{workload, name})
		}
	}
	t := all.table("All agents that the project trained", lines,
		"agents are named by what they learn from: agent-ANY from all workloads, half of the batches by each reading of the generator",
		"agent-*: the project's own, scored with sequential reconfiguration",
		"rl-deadline-*: of the deadline report, scored by the share of late jobs; d3qn: of the hierarchical paper, by the relative throughput",
		"*-rodinia: scored on full batches of the public Rodinia kernels")
	chart := all.chart("Learning of our own agents, by what they learn from", own)
	chart.X.Label = "Training steps [million]"
	return new(figures.Output).Table("training", t).Figure("training", chart.Title, chart), nil
}
