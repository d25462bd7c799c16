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
