package deadline

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/rl/agents"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

func load(t *testing.T) *figures.Claims {
	t.Helper()
	c, err := figures.LoadClaims("deadline", files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func paper(t *testing.T) figures.Paper {
	t.Helper()
	p, err := Paper()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTablesAreComplete counts the numbers that the report prints: an end of a range
// is one.
func TestTablesAreComplete(t *testing.T) {
	c := load(t)
	for artefact, want := range map[string]int{
		"table2": 2 + 2 + 3,                 // two ranges of late jobs, three values
		"table6": (2 + 1 + 2) * 2,           // original, enhanced and improvement, of late jobs and tardiness
		"table7": 5 * 3 * 2,                 // five methods, three quantities, each with its deviation
		"table8": 4 * 2,                     // four baselines, two reductions
		"table9": (2 + 1) + (1 + 1),         // late jobs and the distance to the best heuristic
		"text":   3 + 2 + 4 + 1 + 3 + 2 + 4, // counts, shares, slacks, steps, orders of Tables 7 and 10, the agent's, tight deadlines
	} {
		if n := len(c.Of(artefact)); n != want {
			t.Errorf("%s has %d numbers, want %d", artefact, n, want)
		}
	}
}

// TestTable8FollowsFromTable7 guards both against typing errors: the reductions are
// those of the printed means, up to the rounding of these.
func TestTable8FollowsFromTable7(t *testing.T) {
	c := load(t)
	for _, m := range methods {
		for q, half := range map[string]float64{late.name: 0.05, tardiness.name: 0.005} {
			base, agents := c.Get("table7", m.title+" "+q).Published, c.Get("table7", "RL-PPO "+q).Published
			low, high := (1-(agents+half)/(base-half))*100, (1-(agents-half)/(base+half))*100
			if got := c.Get("table8", m.title+" "+q+" reduction").Published; got < low-0.05 || got > high+0.05 {
				t.Errorf("%s, %s: Table 8 has %v %%, Table 7 gives %.2f to %.2f", m.title, q, got, low, high)
			}
		}
	}
}

func TestNeedsNameWhatExists(t *testing.T) {
	for _, quick := range []bool{false, true} {
		for _, a := range paper(t).Artefacts {
			for _, n := range a.Needs(figures.Scale{Quick: quick}) {
				canonical, err := n.Series.Canonical()
				canonical.Content, canonical.Weights = "", ""
				if err != nil {
					t.Errorf("%s: %v", a.Name, err)
				} else if canonical != n.Series {
					t.Errorf("%s needs %v, canonically %v", a.Name, n.Series, canonical)
				}
			}
		}
	}
}

// TestAllSchedulersAreShown fails when the track has one more than this package, or the
// agent one more training.
func TestAllSchedulersAreShown(t *testing.T) {
	shown := map[string]bool{}
	for _, s := range schedulers {
		shown[s.algorithm] = true
	}
	for _, a := range agents {
		shown[algo.MustParse(a.algorithm).ID] = true
	}
	n := 0
	for _, s := range algo.All(algo.TrackDispatch) {
		ids := []string{s.Name}
		if s.Name == agent.algorithm {
			ids = nil
			for _, v := range s.Params[0].Values {
				ids = append(ids, algo.MustParse(s.Name+"?"+s.Params[0].Name+"="+v).ID)
			}
		}
		for _, id := range ids {
			n++
			if !shown[id] {
				t.Errorf("%s is missing", id)
			}
		}
	}
	if len(shown) != n {
		t.Errorf("%d schedulers are shown, there are %d", len(shown), n)
	}
}

// TestAgentsEpisodes: what an agent costs is bounded.
func TestAgentsEpisodes(t *testing.T) {
	for _, c := range []struct {
		scheduler
		dataset string
		want    int
	}{
		{agent, relaxed, many},
		{agent, tight, sweep},
		{originalRelaxed, relaxed, sweep},
		{largest, tight, many},
	} {
		if n := need(figures.Scale{}, c.dataset, many, c.scheduler)[0].N; n != c.want {
			t.Errorf("%s on %s: %d episodes, want %d", c.title, c.dataset, n, c.want)
		}
	}
}

// TestQuickRun builds every artefact and finds every claim once by default.
func TestQuickRun(t *testing.T) {
	dir := t.TempDir()
	p := paper(t)
	r := figures.Reproduction{
		Engine: func() (*run.Engine, error) {
			st, err := store.Open(filepath.Join(dir, "store"))
			return &run.Engine{Store: st}, err
		},
		Papers: []figures.Paper{p}, Dir: dir, Scale: figures.Scale{Quick: true},
	}
	rows, left, err := r.Run(context.Background())
	if err != nil || left != 0 {
		t.Fatalf("%d left, %v", left, err)
	}
	found := map[string]int{}
	for _, row := range rows {
		if !strings.Contains(row.Claim, " [") {
			found[row.Artefact]++
		}
	}
	claims := load(t)
	for _, a := range p.Artefacts {
		if n := len(claims.Of(a.Name)); found[a.Name] != n {
			t.Errorf("%s: %d findings for %d claims", a.Name, found[a.Name], n)
		}
	}
}

func TestDeviation(t *testing.T) {
	// The population's standard deviation of these is 2 (mean 5, squares adding up to 32).
	values := []float64{2, 4, 4, 4, 5, 5, 7, 9}
	m, err := deviation(values)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Value-2) > 1e-12 {
		t.Errorf("%v, want 2", m.Value)
	}
	// Jackknife: (n-1)/n times the squares of the leave-one-out values about their mean.
	var left []float64
	mean := 0.0
	for i := range values {
		var rest []float64
		for j, v := range values {
			if j != i {
				rest = append(rest, v)
			}
		}
		left = append(left, populationSD(rest))
		mean += left[i] / 8
	}
	sum := 0.0
	for _, v := range left {
		sum += (v - mean) * (v - mean)
	}
	if want := math.Sqrt(7. / 8 * sum); math.Abs(m.SE-want) > 1e-12 {
		t.Errorf("standard error %v, want %v", m.SE, want)
	}
	const quantile7 = 2.364624 // Student's t, 7 degrees of freedom, 97.5 %
	if math.Abs((m.High-m.Value)-quantile7*m.SE) > 1e-5 || m.Low > m.Value {
		t.Errorf("%+v", m)
	}
}

// TestDeviations takes two evaluations of 10 with the deviations 1 and 3.
func TestDeviations(t *testing.T) {
	var values []float64
	for i := range 20 {
		v := 1.0
		if i >= 10 {
			v = 3
		}
		if i%2 == 0 {
			v = -v
		}
		values = append(values, 50+v)
	}
	m, err := deviations(values)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Value-2) > 1e-12 || math.Abs(m.SE-math.Sqrt2) > 1e-12 {
		t.Errorf("%+v, want 2 and the deviation of 1 and 3, the root of 2", m)
	}
}

// TestReduction takes the ratio of means, not the mean of ratios, and the jackknife's
// standard error, to which that of the linearised ratio comes near.
func TestReduction(t *testing.T) {
	var values, base []float64
	for i := range 200 {
		b := 30 + float64(i*37%40)
		base = append(base, b)
		values = append(values, 0.9*b+float64(i*53%11-5))
	}
	m, err := reduction(values, base)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(v []float64) (s float64) {
		for _, x := range v {
			s += x
		}
		return s
	}
	a, b := sum(values), sum(base)
	if want := 100 * (1 - a/b); math.Abs(m.Value-want) > 1e-9 {
		t.Errorf("%v, want %v", m.Value, want)
	}
	squares := 0.0
	for i := range values {
		left := 100 * (1 - (a-values[i])/(b-base[i]))
		squares += (left - m.Value) * (left - m.Value)
	}
	const quantile199 = 1.971957 // Student's t, 199 degrees of freedom, 97.5 %
	want := quantile199 * math.Sqrt(199./200*squares)
	if half := m.High - m.Value; math.Abs(half/want-1) > 0.01 || math.Abs(m.Value-m.Low-half) > 1e-9 {
		t.Errorf("%+v, want ± %v", m, want)
	}
	// A difference that is the same share of every episode is known exactly.
	for i := range base {
		values[i] = base[i] / 2
	}
	if m, err = reduction(values, base); err != nil || math.Abs(m.Value-50) > 1e-9 || m.High-m.Low > 1e-9 {
		t.Errorf("%+v, %v; want 50 exactly", m, err)
	}
	if _, err = reduction(values, base[1:]); err == nil {
		t.Error("unpaired values have a reduction")
	}
}

func TestOnFront(t *testing.T) {
	all := []point{{1, 9}, {2, 5}, {3, 5}, {4, 1}, {5, 1}, {4, 1}}
	for i, want := range []bool{true, true, false, true, false, true} {
		if got := onFront(all[i], all); got != want {
			t.Errorf("%v on the front of %v: %v", all[i], all, got)
		}
	}
}
