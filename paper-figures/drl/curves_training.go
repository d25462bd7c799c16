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
func training(all curves) figures.Artefact {
	return figures.Artefact{
		Name: "training", Title: "all agents that the project trained",
		Build: func(*figures.Data) (*figures.Output, error) {
			if err := all.check(slices.Sorted(maps.Keys(all))...); err != nil {
				return nil, err
			}
			var lines, own []line
			for _, name := range slices.Sorted(maps.Keys(all)) {
				switch shown, ours := strings.CutPrefix(name, ownAgent); {
				case ours:
					own = append(own, line{shown, name})
					lines = append(lines, line{name, name})
				case strings.HasPrefix(name, deadlineAgent):
					lines = append(lines, line{name + ", late [%]", name})
				default:
					lines = append(lines, line{name, name})
				}
			}
			t := all.table("All agents that the project trained", lines)
			t.Notes = append(
				t.Notes,
				"agents are named by what they learn from: agent-ANY from all workloads, half of the batches by each reading of the generator",
				"agent-*: the project's own, scored with sequential reconfiguration",
				"rl-deadline-*: of the deadline report, scored by the share of late jobs",
			)
			out := figures.Found().Table("training", t)
			if chart := all.chart("Learning of our own agents, by what they learn from", own); chart != nil {
				chart.X.Label = "Training steps [million]"
				out.Figure("training", chart.Title, chart)
			}
			return out, nil
		},
	}
}
