package drl

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/harness/curve"
	"miglab/harness/run"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

// header is the first line of a learning curve.
var header = curve.Header() + "\n"

// curveText is a learning curve with a point each 1000 steps.
func curveText(scores ...float64) string {
	var b strings.Builder
	b.WriteString(header)
	for i, v := range scores {
		fmt.Fprintf(&b, "%d,%v,-1,14,4,0,1,0.5,0.001,0\n", 1000*(i+1), v)
	}
	return b.String()
}

// filesOf are curves by the names of their files.
func filesOf(texts map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, text := range texts {
		files["curves/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func TestCurvesThatAreThere(t *testing.T) {
	all := loadCurves(curveFiles)
	if err := all.check(slices.Collect(maps.Keys(all))...); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("there are none")
	}
}

func TestLoadCurves(t *testing.T) {
	all := loadCurves(filesOf(map[string]string{
		"a-b-seed10.csv": curveText(30, 20), "a-b-seed2.csv": curveText(40, 10), "c-seed1.csv": curveText(7), "d-seed1.csv": "",
	}))
	// What is wrong with d concerns nobody else.
	if err := all.check("a-b", "c", "nobody"); err != nil {
		t.Fatal(err)
	}
	if all.check("c", "d") == nil || len(all.together("d")) != 0 {
		t.Error("d is used")
	}
	runs := all["a-b"]
	if len(runs) != 2 || runs[0].seed != 2 || runs[1].seed != 10 || len(all["c"]) != 1 {
		t.Fatalf("%+v", all)
	}
	if !slices.Equal(runs[0].steps, []float64{1000, 2000}) || !slices.Equal(runs[0].scores, []float64{40, 10}) {
		t.Errorf("%+v", runs[0])
	}
	mean, low, high := all.mean("a-b")
	if !slices.Equal(mean, []float64{35, 15}) || !slices.Equal(low, []float64{30, 10}) || !slices.Equal(high, []float64{40, 20}) {
		t.Errorf("mean %v, band from %v to %v", mean, low, high)
	}
}

func TestWrongCurves(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"no seed", map[string]string{"a.csv": curveText(1)}, "curves/a.csv: the name is not AGENT-seedK.csv"},
		{"seed 0", map[string]string{"a-seed0.csv": curveText(1)}, "curves/a-seed0.csv: the name is not AGENT-seedK.csv"},
		{"seed beyond all", map[string]string{"a-seed99999999999999999999.csv": curveText(1)}, "too large"},
		{"no curve", map[string]string{"a-seed1.csv": curveText(1) + "2000,1\n"}, "curves/a-seed1.csv:3: "},
		{"other steps", map[string]string{"a-seed1.csv": curveText(1), "a-seed2.csv": curveText(1, 2)}, "curves/a-seed2.csv: its steps differ from those of seed 1"},
	} {
		all := loadCurves(filesOf(c.files))
		if err := all.check(slices.Sorted(maps.Keys(all))...); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one with %q", c.name, err, c.says)
		}
	}
}

// ofScores is the course of a curve with a point each 1000 steps.
func ofScores(scores ...float64) *course {
	points, err := curve.Read(strings.NewReader(curveText(scores...)), "test")
	if err != nil {
		panic(err)
	}
	c := courseOf(points)
	return &c
}

// ofSeed is a run with such scores.
func ofSeed(seed int, scores ...float64) trained {
	return trained{seed: seed, course: *ofScores(scores...)}
}

func TestCurve(t *testing.T) {
	c := ofScores(80, 40, 21, 20, 20.5)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"at nothing", c.at(0), 80},
		{"before the first point", c.at(0.1), 80},
		{"half-way, between points", c.at(0.5), 40},
		{"at a point", c.at(0.6), 21},
		{"end", c.at(1), 20.5},
		{"least", c.least(), 20},
		// 22 is a tenth above 20.
		{"converges", c.converges(), 3000},
		{"reaches", c.reaches(40), 2000},
		// Both reach 30, of which 33 is a tenth above.
		{"slower", slower(ofScores(90, 80, 70, 30), c), 4. / 3},
		{"as slow", slower(c, c), 1},
		{"below zero", ofScores(5, -10, -9).converges(), 2000},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

func TestTogether(t *testing.T) {
	all := curves{
		"a": {ofSeed(1, 1), ofSeed(2, 2), ofSeed(3, 3)},
		"b": {ofSeed(2, 20), ofSeed(3, 30), ofSeed(4, 40)},
	}
	s := statement{agents: []string{"b", "a"}, value: finals}
	if got := s.values(all); !slices.Equal(got, []float64{18, 27}) {
		t.Errorf("b less a is %v", got)
	}
	d := &figures.Data{}
	for _, c := range []struct {
		least   int
		verdict figures.Verdict
		lower   bool
	}{{2, figures.Reproduced, true}, {3, figures.NotRunnable, false}} {
		f := s.judge(d, figures.Claim{Relation: figures.AtLeast, Published: 22.5}, all, c.least)
		if f.Verdict != c.verdict {
			t.Errorf("with at least %d seeds: %s (%s)", c.least, f.Verdict, f.Reason)
		}
		if c.lower && (f.Measured.Value != 22.5 || f.Measured.Low >= f.Measured.Value) {
			t.Errorf("measured %+v", f.Measured)
		}
	}
	one := statement{agents: []string{"c"}, value: final}
	f := one.judge(d, figures.Claim{}, all, 1)
	if f.Verdict != figures.NotRunnable || f.Reason != untrained+": c" {
		t.Errorf("of an agent that is not there: %s (%s)", f.Verdict, f.Reason)
	}
}

// fromCurves are the artefacts that are built from curves.
func fromCurves(claims *figures.Claims, all curves) []figures.Artefact {
	return []figures.Artefact{
		figure10(claims, all), figure11(claims, all), figure12(claims, all), figure13(claims, all), figure15(claims, all),
		seeds(claims, all), training(all),
	}
}

// TestAnyCurves builds all artefacts without curves, and with three of each agent.
func TestAnyCurves(t *testing.T) {
	claims := load(t)
	var names []string
	for _, s := range finalScores() {
		names = append(names, s.agent)
	}
	names = append(names, ppo64, dqn64, levelsOf(7), levelsOf(21), levelsOf(28), tasksOf(21), tasksOf(28), agentOf("FLOAT", "POORSCALING"), ownAgent+"ANY", deadlineAgent+"tight")
	full := curves{}
	for i, name := range names {
		for seed := 1; seed <= leastSeeds; seed++ {
			full[name] = append(full[name], ofSeed(seed, 100, 60+float64(i), 30, 20+float64(i+seed)))
		}
	}
	want := 0
	for _, a := range fromCurves(claims, nil) {
		want += len(claims.Of(a.Name))
	}
	dir := t.TempDir()
	for _, all := range []curves{{}, full} {
		r := figures.Reproduction{
			Engine: func() (*run.Engine, error) {
				st, err := store.Open(filepath.Join(dir, "store"))
				return &run.Engine{Store: st}, err
			},
			Papers: []figures.Paper{{Name: "drl", Artefacts: fromCurves(claims, all)}},
			Dir:    filepath.Join(dir, fmt.Sprint(len(all))), Scale: figures.Scale{Quick: true},
		}
		rows, _, err := r.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		missing := 0
		for _, row := range rows {
			if row.Verdict == figures.NotRunnable {
				missing++
			}
		}
		if len(rows) != want || len(all) == 0 && missing != want || len(all) > 0 && missing != 0 {
			t.Errorf("with %d agents %d of %d numbers, %d of them not runnable", len(all), len(rows), want, missing)
		}
		plots, err := filepath.Glob(filepath.Join(r.Dir, "drl", "*.png"))
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 && len(plots) != 0 || len(all) > 0 && len(plots) != 6 {
			t.Errorf("with %d agents the figures %v", len(all), plots)
		}
	}
}
