package site

import (
	"slices"
	"testing"

	"miglab/datasets"
)

// A board of the contests has only datasets of contests under its conditions, each once.
func TestContestConditionsKeepModelsApart(t *testing.T) {
	all := contestConditions(nil)
	if len(all) == 0 {
		t.Fatal("there are no contests")
	}
	for _, c := range all {
		var want []string
		for _, contest := range trackContests() {
			if contest.Track != c.Track || contest.Contest.GPU != c.GPU.Name || contest.GPUs != c.Count || contest.Model != c.Model {
				continue
			}
			for _, dataset := range contest.Datasets {
				id := datasets.MustParse(dataset).ID()
				if !slices.Contains(want, id) {
					want = append(want, id)
				}
			}
		}
		if !slices.Equal(c.Datasets, want) {
			t.Errorf("%s, %s, %d GPUs, %v: datasets %v, want %v", c.Track.Name, c.GPU, c.Count, c.Model, c.Datasets, want)
		}
	}
}
