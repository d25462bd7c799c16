package reports_test

import (
	"fmt"
	"os"

	"miglab/reports"
)

// One table is written as text, CSV, Markdown and LaTeX.
func ExampleTable() {
	t := reports.Table{
		Columns: reports.Left("algorithm").Right("seconds"),
		Rows: [][]string{
			{"far", reports.Fixed(12.609, 2)},
			{"treedp", reports.Fixed(11.077, 2)},
		},
	}
	for _, format := range []string{"text", "markdown"} {
		if err := t.Encode(os.Stdout, format); err != nil {
			fmt.Println(err)
		}
		fmt.Println()
	}
	// Output:
	// algorithm  seconds
	// ---------  -------
	// far          12.61
	// treedp       11.08
	//
	// | algorithm | seconds |
	// | --------- | ------: |
	// | far       |   12.61 |
	// | treedp    |   11.08 |
}

// Algorithms are ranked by paired differences. Two of the three cannot be told apart.
func ExampleLeaderboard() {
	var entries []reports.Entry
	for i := range 20 {
		value := 100 + float64(i*7%5)
		e := reports.Entry{Track: "batch", Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: "a", Version: 1, Instance: i, Value: value}
		entries = append(entries, e)
		e.Algorithm, e.Value = "b", value+float64(i%2*2-1) // now better, now worse
		entries = append(entries, e)
		e.Algorithm, e.Value = "c", value+20
		entries = append(entries, e)
	}
	standings, err := reports.Leaderboard(entries, reports.Metric{Name: "makespan_s"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range standings {
		fmt.Printf("%d %s %.1f\n", s.Rank, s.Algorithm, s.Value.Mean)
	}
	// Output:
	// 1 a 102.0
	// 1 b 102.0
	// 3 c 122.0
}
