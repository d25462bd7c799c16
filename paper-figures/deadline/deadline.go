// Package deadline reproduces the deadline report: "Reinforcement Learning for GPU Scheduling with MIG
// Partitioning: Improved Implementation and Experimental Analysis", technical report, December 2025.
//
// published.csv has every number that the report prints about schedules and about its
// setting, and some of its sentences as tests. script.csv lists where our training differs from the authors' script.
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
	p, err := figures.Load("deadline", files)
	p.Title = "Deadline report: Reinforcement Learning for GPU Scheduling with MIG Partitioning"
	p.Cite = "Improved Implementation and Experimental Analysis, technical report, December 5, 2025."
	p.Artefacts = []figures.Artefact{
		{Name: "table1", Title: "configuration of the original notebook", Build: table1},
		{Name: "table2", Title: "what each step of the report changed", Build: table2},
		{Name: "table3", Title: "speed of environments", Build: table3, Timed: true},
		{Name: "table4", Title: "observation of the original and the enhanced agent", Build: table4},
		{Name: "table5", Title: "the agent's original and enhanced settings on both kinds of deadlines", Build: table5},
		{Name: "table6", Title: "the original notebook and the enhanced agent", Build: table6},
		{Name: "table7", Title: "late jobs, tardiness and energy of the agent and four heuristics", Build: table7},
		{Name: "table8", Title: "the agent's improvement over heuristics", Build: table8},
		{Name: "table9", Title: "the agent against the best heuristic, by tightness of deadlines", Build: table9},
		{Name: "table10", Title: "recommendations by scenario", Build: table10},
		{Name: "tight", Title: "what holds under tight deadlines in general (2.5.1)", Build: tightDeadlines},
		{Name: "text", Title: "numbers and statements in the text", Build: text},
		{Name: "heuristics", Title: "all schedulers, relaxed and tight deadlines", Build: heuristics},
		{Name: "late", Title: "late jobs of all schedulers, the agent included", Build: lateJobs},
		{Name: "energy", Title: "the agent with energy in its reward, as released and charged rightly", Build: energies},
		{Name: "slack", Title: "late jobs and tardiness against the slack of deadlines", Build: slack},
		{Name: "pareto", Title: "energy against late jobs, all heuristics", Build: pareto},
	}
	return p, err
}
