package verdict_test

import (
	"fmt"

	"miglab/paper-figures/verdict"
)

// A paper prints a mean of 1.22 over 1000 executions, and we measured ten.
func ExampleJudge() {
	claim := verdict.Claim{Relation: verdict.Equal, Published: 1.22, Decimals: 2, Margin: -1}
	measured, err := verdict.MeanOf([]float64{1.21, 1.24, 1.22, 1.23, 1.20, 1.22, 1.23, 1.21, 1.22, 1.24}, verdict.Executions, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	j := verdict.Judge(claim, measured)
	fmt.Printf("%s: %.3f lies in [%.3f, %.3f]; the margin is %.4f\n", j.Verdict, measured.Value, j.Low, j.High, claim.DefaultMargin())
	// Output: REPRODUCED: 1.222 lies in [1.213, 1.231]; the margin is 0.0244
}
