// Package deadline reproduces the deadline report: "Reinforcement Learning for GPU Scheduling with MIG
// Partitioning: Improved Implementation and Experimental Analysis", technical report, December 2025.
//
// claims.csv has every number that the report prints about schedules and about its
// setting, and some of its sentences as tests. training.csv lists where our training differs from the authors' script.
//
// The report evaluates on ten days, which the dataset deadline/report draws again from the seeds of the
// report's notebook. On these days a heuristic has one value, without a sampling error, and a number about an
// agent varies between training runs alone. Other readings take other days, see [allDays].
//
// The report prints energies with the unit MJ, but they are watt-minutes over 10^6, a sixtieth
// of a megajoule. Claims call the unit MW min, and our own tables use megajoules.
package deadline

import (
	"embed"

	figures "miglab/paper-figures"
)

//go:embed *.csv
var files embed.FS

// Paper returns the report with its artefacts.
func Paper() (figures.Paper, error) {
	return figures.Load("deadline", files, figures.Builds{
		"table1": table1, "table2": table2, "table3": table3, "table4": table4, "table5": table5, "table6": table6,
		"table7": table7, "table8": table8, "table9": table9, "table10": table10, "tight": tightDeadlines, "text": text,
		"heuristics": heuristics, "late": lateJobs, "energy": energies, "slack": slack, "pareto": pareto,
		"formulation": slackAndSettings, "load": load,
		"versions": versions,
	})
}
