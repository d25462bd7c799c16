// Package deadline reproduces the deadline report: "Reinforcement Learning for GPU Scheduling with MIG
// Partitioning: Improved Implementation and Experimental Analysis", technical report, December 2025.
//
// claims.csv has every number that the report prints about schedules and about its setting, and some of its sentences
// as tests. training.csv says where the report's text, the authors' notebook and our agents train differently.
//
// The report evaluates on ten days, which the dataset deadline/report draws again from the seeds of the
// report's notebook. On these days a heuristic has one value, without a sampling error, and a number about an
// agent varies between training runs alone. Other readings take other days, see [allDays].
//
// The report prints energies with the unit MJ, but they are watt-minutes over 10^6: 1 MW min is
// 60 MJ. Claims call the unit MW min, and our own tables use megajoules.
package deadline

import (
	"embed"

	figures "miglab/paper-figures"
)

//go:embed *.csv
var files embed.FS

// Paper returns the report with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("deadline", files,
		figures.Show("table1", "configuration of the original notebook", table1),
		figures.Show("table2", "what each step of the report changed", table2),
		figures.Time("table3", "speed of environments", table3),
		figures.Show("table4", "observation of the original and the enhanced agent", table4),
		figures.Show("table5", "the agent's original and enhanced settings on both kinds of deadlines", table5),
		figures.Show("table6", "the original notebook and the enhanced agent", table6),
		figures.Show("table7", "late jobs, tardiness and energy of the agent and four heuristics", table7),
		figures.Show("table8", "the agent's improvement over heuristics", table8),
		figures.Show("table9", "the agent against the best heuristic, by tightness of deadlines", table9),
		figures.Show("table10", "recommendations by scenario", table10),
		figures.Show("tight", "what holds under tight deadlines in general (2.5.1)", tightDeadlines),
		figures.Show("text", "numbers and statements in the text", text),
		figures.Show("heuristics", "all schedulers, relaxed and tight deadlines", heuristics),
		figures.Show("formulation", "slack of deadlines and settings of the agent, one changed at a time",
			slackAndSettings),
		figures.Show("load", "late jobs at other arrival rates than those of the training", load),
		figures.Show("versions", "the versions of Table 2, each with the agent and the environment of its own notebook",
			versions),
	)
}
