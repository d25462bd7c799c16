package leaderboard

import (
	"fmt"
	"slices"

	"miglab/datasets"
	"miglab/reports"
)

// Influence sets the standings on datasets that differ in one parameter beside each other: for
// each algorithm its mean with the 95 % interval and the bound, for each value of the parameter. An
// assumption that is a parameter shows there how much it decides. Standings without a mean, and
// datasets of which there is one value only, are left out; without any others the table has no
// rows.
func Influence(standings []reports.Standing, parameter string) reports.Table {
	var rests, values []string
	at := map[[3]string]*reports.Standing{} // by rest, value and algorithm
	for i := range standings {
		s := &standings[i]
		rest, value, ok := datasets.Apart(s.Dataset, parameter)
		if !ok || s.Rank == 0 || s.Failed > 0 {
			continue
		}
		at[[3]string{rest, value, s.Algorithm}] = s
		rests, values = once(rests, rest), once(values, value)
	}
	slices.Sort(values)
	t := reports.Table{Title: "Influence of the parameter " + parameter, Columns: reports.Left("dataset", "algorithm", "metric")}
	for _, v := range values {
		t.Columns = t.Columns.Right(v, v+"_low", v+"_high", v+"_bound", v+"_rank")
	}
	for _, rest := range rests {
		for i := range standings {
			s := &standings[i]
			if at[[3]string{rest, values[0], s.Algorithm}] != s {
				continue // one row for each algorithm, in the order of the first value's board
			}
			row := []string{rest, s.Algorithm, s.Metric}
			for _, v := range values {
				of := at[[3]string{rest, v, s.Algorithm}]
				if of == nil {
					row = nil
					break
				}
				row = append(row, reports.Fixed(of.Value.Mean, 5), reports.Fixed(of.Value.Low, 5), reports.Fixed(of.Value.High, 5), reports.Fixed(of.Bound, 5), fmt.Sprint(of.Rank))
				if of.Assumes != "" {
					t.Notes = once(t.Notes, "assumed: "+of.Assumes)
				}
			}
			if len(values) > 1 && row != nil {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

// once appends a text that is not there yet.
func once(all []string, text string) []string {
	if slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}
