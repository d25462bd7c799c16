// Package deadline reproduces the deadline report: "Reinforcement Learning for GPU
// Scheduling with MIG Partitioning: Improved Implementation and Experimental
// Analysis", technical report, December 2025.
//
// published.csv has every number that the report prints about schedules and about its
// setting, and some of its sentences as tests. margins.csv has the margins that are not the
// default, and causes.csv the causes of deviations.
//
// The report evaluates on ten days, which the dataset deadline/report draws again from the
// seeds of the report's notebook. On these days a heuristic has one value, without a sampling
// error, and a number about an agent varies between training runs alone. Other readings take
// other days, see [otherDays].
//
// The report prints energies with the unit MJ, but they are watt-minutes over 10^6, a sixtieth
// of a megajoule. Claims call the unit MW min, and our own tables use megajoules.
package deadline

import (
	"embed"

	figures "miglab/paper-figures"
)

//go:embed published.csv margins.csv causes.csv
var files embed.FS

// Paper returns the report with its artefacts.
func Paper() (figures.Paper, error) {
	claims, err := figures.LoadClaims("deadline", files)
	if err != nil {
		return figures.Paper{}, err
	}
	return figures.Paper{
		Name:  "deadline",
		Title: "Deadline report: Reinforcement Learning for GPU Scheduling with MIG Partitioning",
		Cite:  "Improved Implementation and Experimental Analysis, technical report, December 5, 2025.",
		Terms: []figures.Term{
			{Name: "late", Meaning: "the share of a day's jobs that are completed after their deadline"},
			{Name: "tardiness", Meaning: "the mean over all jobs of the minutes between deadline and completion; 0 for a job in time"},
			{Name: "slack", Meaning: "the time from arrival to deadline, in durations of the job on a whole GPU; relaxed deadlines have 2 to 4 of them, tight ones 1 to 1.5"},
			{Name: "episode", Meaning: "one day of jobs, about 4150"},
			{Name: "EFT", Meaning: "earliest finish time: the free slice on which the job would end first, by durations averaged over similar sizes as in the report's code"},
			{Name: "Largest-First, Smallest-First, Random", Meaning: "the largest, the smallest and any free slice"},
			{Name: "RL-PPO", Meaning: "the report's agent, trained here by proximal policy optimization (PPO) with the settings of Table 5"},
			{Name: "original and enhanced settings", Meaning: "the two columns of Table 5, each with its own observation (Table 4) and reward (3.5)"},
			{Name: "MW min", Meaning: "megawatt-minutes, 60 MJ; the report calls them MJ"},
			{Name: "std", Meaning: "the standard deviation over the ten days as a whole population, which Table 7 prints after ±"},
		},
		Claims: claims,
		Artefacts: []figures.Artefact{
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
		},
	}, nil
}
