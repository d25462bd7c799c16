package leaderboard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/reports"
)

// standingsOf returns standings in the order of the names; each beats those behind the name's colon.
func standingsOf(gpu string, all ...string) (out []Standing) {
	for i, text := range all {
		name, beats, _ := strings.Cut(text, ":")
		s := Standing{Track: "batch", GPU: gpu, Dataset: "d", Algorithm: name, Rank: i + 1, Place: i + 1, Best: 1, Beats: strings.Fields(beats)}
		s.Worst = len(all) - len(s.Beats)
		out = append(out, s)
	}
	for i := range out {
		for _, o := range out {
			if slices.Contains(o.Beats, out[i].Algorithm) {
				out[i].Best++
			}
		}
	}
	return out
}

func TestAcrossCountsWhatIsKeptOpenAndReversed(t *testing.T) {
	a := Across{
		standingsOf("G", "a:b c d", "b:c d", "c", "d"),
		standingsOf("H", "b:a c d", "a:d", "c", "d"),
		append(standingsOf("I", "a", "b"), Standing{Track: "batch", GPU: "I", Dataset: "d", Algorithm: "e"}),
	}
	want := [][]string{
		{"G", "d", "0", "1", "2", "3 (3-4)", "4 (3-4)", "5", "0", "0"},
		{"H", "d", "0", "2 (2-3)", "1", "3 (2-4)", "4 (3-4)", "3", "1", "1"},
		{"I", "d", "0", "1 (1-2)", "2 (1-2)", reports.Missing, reports.Missing, "0", "5", "0"},
	}
	table := a.Table()
	if !slices.EqualFunc(table.Rows, want, slices.Equal[[]string]) {
		t.Errorf("%q\nwant\n%q", table.Rows, want)
	}
	if note := table.Notes[len(table.Notes)-1]; note != "reversed on H, d: b before a" || len(table.Notes) != 3 {
		t.Errorf("notes: %q", table.Notes)
	}
}

// The places that are possible follow from the pairs, and the place by the mean is one of them.
func TestPossiblePlacesFollowFromPairs(t *testing.T) {
	var cells []cell
	for instance := range 12 {
		cells = append(cells, cell{track: "bound", algorithm: "certified", instance: instance, metrics: `{"bound_s": 90}`})
		for i, name := range []string{"w", "x", "y", "z"} {
			makespan := 100 + float64(i*i)/12 + float64((instance*7+i*5)%11)/10
			cells = append(cells, cell{algorithm: name, instance: instance, metrics: fmt.Sprintf(`{"makespan_s": %v}`, makespan)})
		}
	}
	standings, err := ranked(database(t, cells...), algo.TrackBatch, 1, mig.Sequential)
	if err != nil || len(standings) != 4 {
		t.Fatal(standings, err)
	}
	some := 0
	for i, s := range standings {
		beaten := 0
		for j, o := range standings {
			if slices.Contains(o.Beats, s.Algorithm) {
				beaten++
				if j >= i {
					t.Errorf("%s is behind %s, which it beats", o.Algorithm, s.Algorithm)
				}
			}
		}
		if s.Best != 1+beaten || s.Worst != 4-len(s.Beats) || s.Best > i+1 || s.Worst < i+1 {
			t.Errorf("%s on place %d: %d to %d, beaten by %d, beats %q", s.Algorithm, i+1, s.Best, s.Worst, beaten, s.Beats)
		}
		some += beaten
	}
	if some == 0 || some == 6 {
		t.Errorf("%d pairs are told apart, so that the test shows little", some)
	}
}
