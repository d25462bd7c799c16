package leaderboard

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/store"
)

var nan = math.NaN()

var makespan = Metric{Name: "makespan_s", Bounded: true}

// entries are an algorithm's on the instances from 0, whose bound is 10.
func entries(algorithm string, values ...float64) *contender {
	c := newContender(store.Series{
		Track: "batch", Dataset: "d", GPU: "A100", Model: "sequential", Algorithm: algorithm, Version: 1,
	})
	for i, v := range values {
		c.entries = append(c.entries, entry{instance: instance{number: i}, value: v, bound: 10, micros: 5})
	}
	c.entries[0].micros = 500 // another program ran meanwhile
	return c
}

func mustRank(t *testing.T, metric Metric, all ...*contender) []Standing {
	t.Helper()
	out, err := rankContenders(all, metric)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func near(a, b, within float64) bool {
	return math.Abs(a-b) <= within || math.IsNaN(a) && math.IsNaN(b)
}

// Worked by hand. Even and twin cannot be told apart: the differences of their gaps are
// -4 and 6 by turns, whose resampled mean is -4 + 10k/8 with k of a binomial
// distribution, at least 1 in all but 0.4 % and at most 7 in all but 0.4 %. Slow differs
// from even by 10 on each instance. Broken is best on seven instances and has no answer
// on the last.
func TestLeaderboardWorkedExample(t *testing.T) {
	even := entries("even", 11, 11, 11, 11, 11, 11, 11, 11, 10) // the last is one that the others have not
	even.standing.Budget = "1000 iterations"
	got := mustRank(t, makespan,
		entries("slow", 12, 12, 12, 12, 12, 12, 12, 12),
		entries("twin", 10.6, 11.6, 10.6, 11.6, 10.6, 11.6, 10.6, 11.6),
		entries("broken", 10.2, 10.2, 10.2, 10.2, 10.2, 10.2, 10.2, nan),
		even,
	)
	want := []Standing{
		{Rank: 1, Algorithm: "even", Wins: 1, Gap: 10, GapLow: 10, GapHigh: 10},
		{Rank: 1, Algorithm: "twin", Wins: 0, Gap: 11, GapLow: 7.25, GapHigh: 14.75},
		{Rank: 3, Algorithm: "slow", Wins: 0, Gap: 20, GapLow: 20, GapHigh: 20},
		{Rank: 4, Algorithm: "broken", Wins: 7, Failed: 1, Gap: nan, GapLow: nan, GapHigh: nan},
	}
	means := []float64{11, 11.1, 12, 0}
	if len(got) != len(want) {
		t.Fatalf("%d standings, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Algorithm != w.Algorithm || g.Rank != w.Rank || g.Wins != w.Wins || g.Failed != w.Failed || g.Instances != 8 || g.LeftOut != 1 ||
			!near(g.Gap, w.Gap, 1e-9) || !near(g.GapLow, w.GapLow, 1e-9) || !near(g.GapHigh, w.GapHigh, 1e-9) ||
			!near(g.Value.Mean, means[i], 1e-12) || g.Micros != 5 {
			t.Errorf("standing %d: %+v, want %+v with a mean of %v", i, g, w, means[i])
		}
	}
	table := Table(got)
	var text bytes.Buffer
	if err := WriteText(&text, got, nil); err != nil {
		t.Fatal(err)
	}
	const head = `
d: makespan_s, 8 instances

rank  algorithm      mean  gap_percent  gap_low  gap_high  wins  instance_us
----  ---------  --------  -----------  -------  --------  ----  -----------
   1  even       11.00000       10.000   10.000    10.000     1          5.0
`
	for _, says := range []string{
		"Leaderboard of the batch track: A100, sequential reconfiguration\n" + head,
		"broken on d (1 of 8)\n", "1 of d\n", "fewer than 10 instances, so that the intervals are too narrow: d\n", "gap_percent: ",
	} {
		if !strings.Contains(text.String(), says) {
			t.Errorf("the text does not say %q:\n%s", says, &text)
		}
	}
	if strings.Contains(text.String(), "budget: ") || !strings.Contains(strings.Join(table.Notes, "\n"), "budget: ") {
		t.Errorf("the notes of the text and of the table:\n%s\n%q", &text, table.Notes)
	}
	if row := strings.Join(table.Rows[1], ","); row != "batch,d,1,twin,1,8,makespan_s,11.10000,10.72500,11.47500,11.10000,10.00000,0,11.000,7.250,14.750,–,5.0" {
		t.Errorf("twin: %s", row)
	}
	if row := strings.Join(table.Rows[3], ","); row != "batch,d,4,broken,1,8,makespan_s,–,–,–,–,10.00000,7,–,–,–,–,5.0" {
		t.Errorf("broken: %s", row)
	}
}

// The text has a table for each dataset, without columns in which nothing stands.
func TestLeaderboardText(t *testing.T) {
	acceptance := Metric{Name: "acceptance", Higher: true}
	one, other := entries("b", 1, 1), entries("a", 0.5, 0.75)
	one.standing.Model, other.standing.Model, other.standing.Dataset = "", "", "other"
	a, b := entries("a", 11, 11, 11), entries("b", 12, 12, 12)
	a.entries[2].bound, b.entries[2].bound = nan, nan
	for name, c := range map[string]struct {
		standings   []Standing
		says, lacks []string
	}{
		"two datasets": {
			slices.Concat(mustRank(t, acceptance, one), mustRank(t, acceptance, other)),
			[]string{"Leaderboard of the batch track: A100\n\nd: acceptance, 2 instances\n\nrank  algorithm  ", "\n\nother: acceptance, 2 instances\n\nrank  algorithm"},
			[]string{"  gap_percent", "  p_holm", "  budget", "  track"},
		},
		"the first and the last cannot be told apart": {
			mustRank(t, makespan, entries("a", 11, 12), entries("b", 12, 11), entries("c", 11, 12), entries("part", 10)),
			[]string{
				"d: makespan_s, 2 instances, which do not tell the first of 3 algorithms from the last\n",
				"stand below all others: part on d (1 of 2)",
			},
			[]string{"rank  algorithm"},
		},
		"instances without a bound do not count": {mustRank(t, makespan, a, b), []string{"\nd: makespan_s, bound of 2 of 3 instances\n"}, nil},
		"nothing":                                {nil, nil, []string{"L"}},
	} {
		var out strings.Builder
		if err := WriteText(&out, c.standings, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.says {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: the text lacks %q:\n%s", name, want, &out)
			}
		}
		for _, none := range c.lacks {
			if strings.Contains(out.String(), none) {
				t.Errorf("%s: the text has %q:\n%s", name, none, &out)
			}
		}
	}
}

// ranks are those of the standings in order, by name.
func ranks(standings []Standing) string {
	var out []string
	for _, s := range standings {
		out = append(out, s.Algorithm+" "+string(rune('0'+s.Rank)))
	}
	return strings.Join(out, ", ")
}

// entriesOn are an algorithm's entries on some instances.
func entriesOn(algorithm string, instances ...int) *contender {
	c := entries(algorithm, make([]float64, len(instances))...)
	for i, n := range instances {
		c.entries[i].number, c.entries[i].value = n, 11
	}
	return c
}

func TestLeaderboardRanks(t *testing.T) {
	unknown := entries("b", 12, 12, 30)
	unknown.entries[2].bound = nan
	changed := entries("c", 11, 11, 11)
	for i := range changed.entries {
		changed.entries[i].content = "after a change"
	}
	third := 1.0 / 3
	for name, test := range map[string]struct {
		metric  Metric
		entries []*contender
		want    string
	}{
		// Every neighbour is tied, but c not with a.
		"ties are with the first": {makespan, []*contender{
			entries("a", 11, 11, 11, 11, 11, 11), entries("b", 10.5, 12, 10.5, 12, 10.5, 12), entries("c", 11.4, 11.4, 11.4, 11.4, 11.4, 11.4),
			entries("d", 10.6, 12.4, 10.6, 12.4, 10.6, 12.4), entries("e", 13, 13, 13, 13, 13, 13),
		}, "a 1, b 1, c 3, d 3, e 5"},
		"by failures": {makespan, []*contender{
			entries("two", 11, nan, nan), entries("one", 15, 15, nan), entries("none", 20, 20, 20), entries("other", nan, 15, 15), entries("all", nan, nan, nan),
			entries("slower", 16, 16, nan),
		}, "none 1, one 2, other 2, slower 4, two 5, all 6"},
		// Worse has the lower mean because it left the hard instance, but loses on the others.
		"failures elsewhere":        {makespan, []*contender{entries("better", nan, 11, 11, 90), entries("worse", 12, 12, 12, nan)}, "worse 1, better 1"},
		"a single instance":         {makespan, []*contender{entries("a", 11), entries("b", 12)}, "a 1, b 1"},
		"another content":           {makespan, []*contender{changed, entries("a", 13, 13, 13), entries("b", 12, 12, 12)}, "b 1, a 2, c 0"},
		"without a bound, left out": {makespan, []*contender{unknown, entries("a", 11, 11, 40)}, "a 1, b 2"},
		"rounding":                  {makespan, []*contender{entries("b", 10+third, 10+2*third, 11), entries("a", 10+third+4e-15, 10+2*third+4e-15, 11+4e-15)}, "a 1, b 1"},
		"higher is better":          {Metric{Name: "acceptance", Higher: true}, []*contender{entries("low", 1, 1), entries("high", 2, 2), entries("none", nan, 3)}, "high 1, low 2, none 3"},
		"towards a bound from above": {Metric{Name: "acceptance", Higher: true, Bounded: true}, []*contender{
			entries("low", 5, 6), entries("high", 9, 10), entries("none", nan, 8),
		}, "high 1, low 2, none 3"},
		"a partial run": {makespan, []*contender{
			entries("part", 10.5, 10.5), entries("a", 11, 11, 11), entries("b", 12, 12, 12), entries("more", 13, 13, 13, 13),
		}, "a 1, b 2, more 3, part 0"},
		"partial runs alone": {makespan, []*contender{entriesOn("a", 1, 2), entriesOn("b", 0, 1), entriesOn("c", 0, 2)}, ""},
		"lower is better":    {Metric{Name: "late_percent"}, []*contender{entries("low", 1, 0), entries("high", 2, 2)}, "low 1, high 2"},
		"nothing in common":  {makespan, []*contender{entriesOn("a", 0), entriesOn("b", 1)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ranks(mustRank(t, test.metric, test.entries...)); got != test.want {
				t.Errorf("%s; want %s", got, test.want)
			}
		})
	}
}

// Equal values have equal intervals, and other datasets other draws.
func TestLeaderboardIntervals(t *testing.T) {
	values := []float64{10.1, 10.7, 11.9, 10.3, 12.3, 13.1, 10.2}
	got := mustRank(t, makespan, entries("a", values...), entries("b", values...))
	other := entries("a", values...)
	other.standing.Dataset = "other"
	got = append(got, mustRank(t, makespan, other)...)
	a, b, c := got[0], got[1], got[2]
	if a.GapLow != b.GapLow || a.GapHigh != b.GapHigh || a.Value.Low != b.Value.Low || a.Value.High != b.Value.High {
		t.Errorf("of equal values: %+v and %+v", a, b)
	}
	if a.GapLow == c.GapLow && a.GapHigh == c.GapHigh {
		t.Errorf("the dataset has no part in the draws: %+v and %+v", a, c)
	}
}

// Differences that are rounding are none: all win and share a rank.
func TestLeaderboardSettlesRounding(t *testing.T) {
	for _, s := range mustRank(t, makespan, entries("a", 11, 12), entries("b", 11+4e-15, 12+4e-15)) {
		if s.Wins != 2 || s.Rank != 1 {
			t.Errorf("%+v", s)
		}
	}
}

func TestLeaderboardErrors(t *testing.T) {
	wrong := func() *contender { return entries("a", 11, 10*(1-1e-10), 9.99) }
	var below *BoundError
	const want = `a (version 1) on d, instance 2 (content ""), A100, sequential reconfiguration: makespan_s 9.99 ` +
		`lies below the certified bound 10; one of them is wrong`
	if _, err := rankContenders([]*contender{wrong()}, makespan); !errors.As(err, &below) || below.Error() != want {
		t.Errorf("below the bound: %v", err)
	}
	if _, err := rankContenders([]*contender{wrong()}, Metric{Name: "makespan_s"}); err != nil {
		t.Errorf("without bounds: %v", err)
	}
	twice := entries("a", 11, 12)
	twice.entries[1].number = 0
	if _, err := rankContenders([]*contender{twice}, makespan); err == nil || !strings.Contains(err.Error(), "two entries") {
		t.Errorf("two entries for an instance: %v", err)
	}
	if _, err := rankContenders([]*contender{entries("a", math.Inf(1), 11)}, makespan); err == nil {
		t.Error("an infinite value is ranked")
	}
}

// A bound from above is exceeded by what is higher, and the gap is what is missing.
func TestLeaderboardBoundFromAbove(t *testing.T) {
	metric := Metric{Name: "acceptance", Higher: true, Bounded: true}
	var above *BoundError
	if _, err := rankContenders([]*contender{entries("a", 9, 10*(1+1e-10), 10.01)}, metric); !errors.As(err, &above) ||
		!strings.Contains(err.Error(), "acceptance 10.01 lies above the certified bound 10") {
		t.Errorf("above the bound: %v", err)
	}
	if got := mustRank(t, metric, entries("a", 9, 8)); !near(got[0].Gap, 15, 1e-9) || got[0].Bound != 10 {
		t.Errorf("%+v; want a gap of 15 %% to 10", got[0])
	}
}

// Neither the order of entries nor that of algorithms changes a byte.
func TestLeaderboardSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := map[string][]float64{}
		for _, algorithm := range []string{"a", "b", "c", "d"} {
			drawn[algorithm] = rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(10, 12), rapid.Just(nan)), 3, 6).Draw(t, algorithm)
		}
		encode := func(order []string, permuted bool) string {
			var all []*contender
			for _, algorithm := range order {
				c := entries(algorithm, drawn[algorithm]...)
				if permuted {
					c.entries = rapid.Permutation(c.entries).Draw(t, "entries")
				}
				all = append(all, c)
			}
			standings, err := rankContenders(all, makespan)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortStableFunc(standings, func(a, b Standing) int { // the incomplete ones are in the order given
				return strings.Compare(a.Algorithm, b.Algorithm)
			})
			table := Table(standings)
			var out bytes.Buffer
			if err := table.Text(&out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		order := []string{"a", "b", "c", "d"}
		first := encode(order, false)
		if again := encode(rapid.Permutation(order).Draw(t, "permuted"), true); again != first {
			t.Fatalf("%s\nbecame\n%s", first, again)
		}
	})
}
