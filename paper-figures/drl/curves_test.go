package drl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/harness/run"
	"miglab/harness/store"
	figures "miglab/paper-figures"
)

const header = "steps,score,mean_return,mean_length,entropy,policy_loss,value_loss,explained_variance,learning_rate,exploration\n"

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
	all, err := loadCurves(curveFiles)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Error("there are none")
	}
}

func TestLoadCurves(t *testing.T) {
	all, err := loadCurves(filesOf(map[string]string{
		"a-b-seed10.csv": curveText(30, 20), "a-b-seed2.csv": curveText(40, 10), "c-seed1.csv": curveText(7),
	}))
	if err != nil {
		t.Fatal(err)
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
	rest := ",0,0,0,0,0,0,0,0\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		line  int
		says  string
	}{
		{"no seed", map[string]string{"a.csv": curveText(1)}, 0, "AGENT-seedK.csv"},
		{"seed 0", map[string]string{"a-seed0.csv": curveText(1)}, 0, "AGENT-seedK.csv"},
		{"seed beyond all", map[string]string{"a-seed99999999999999999999.csv": curveText(1)}, 0, "too large"},
		{"empty", map[string]string{"a-seed1.csv": ""}, 0, "no points"},
		{"header alone", map[string]string{"a-seed1.csv": header}, 0, "no points"},
		{"other columns", map[string]string{"a-seed1.csv": strings.Replace(curveText(1), "score", "p_opt", 1)}, 1, "columns"},
		{"column missing", map[string]string{"a-seed1.csv": curveText(1) + "2000,1\n"}, 3, "number of fields"},
		{"steps descend", map[string]string{"a-seed1.csv": curveText(1, 2) + "1500,1" + rest}, 4, "above 2000"},
		{"no steps", map[string]string{"a-seed1.csv": header + "0,1" + rest}, 2, "steps"},
		{"steps no number", map[string]string{"a-seed1.csv": header + "1e3,1" + rest}, 2, "steps"},
		{"score no number", map[string]string{"a-seed1.csv": curveText(1) + "2000,x" + rest}, 3, "score"},
		{"score NaN", map[string]string{"a-seed1.csv": curveText(1) + "2000,NaN" + rest}, 3, "score"},
		{"infinite", map[string]string{"a-seed1.csv": header + "1000,1,0,0,0,0,Inf,0,0,0\n"}, 2, "value_loss"},
		{"other steps", map[string]string{"a-seed1.csv": curveText(1), "a-seed2.csv": curveText(1, 2)}, 0, "seed 1"},
	} {
		_, err := loadCurves(filesOf(c.files))
		var bad *curveError
		if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(bad.Reason, c.says) || !strings.HasPrefix(bad.File, "curves/a") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// FuzzReadCurve: what is accepted can be drawn and asked for any share and score.
func FuzzReadCurve(f *testing.F) {
	f.Add([]byte(curveText(3, 1, 2)))
	f.Add([]byte(header + "\"1\",2,3,4,5,6,7,8,9,10\r\n"))
	f.Add([]byte(header))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := readCurve("f", text)
		if err != nil {
			var bad *curveError
			if !errors.As(err, &bad) || bad.File != "f" || bad.Reason == "" {
				t.Errorf("error %v", err)
			}
			return
		}
		if len(c.steps) == 0 || len(c.steps) != len(c.scores) {
			t.Fatalf("%d steps, %d scores", len(c.steps), len(c.scores))
		}
		if c.at(1) != c.final() || c.at(0) != c.scores[0] {
			t.Errorf("begins with %v and ends with %v of %v", c.at(0), c.at(1), c.scores)
		}
		if s := c.converges(); s < c.steps[0] || s > c.steps[len(c.steps)-1] {
			t.Errorf("converges at %v of %v", s, c.steps)
		}
	})
}

// ofScores is a curve with a point each 1000 steps.
func ofScores(scores ...float64) *curve {
	c, err := readCurve("test", []byte(curveText(scores...)))
	if err != nil {
		panic(err)
	}
	return &c
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
		"a": {{1, *ofScores(1)}, {2, *ofScores(2)}, {3, *ofScores(3)}},
		"b": {{2, *ofScores(20)}, {3, *ofScores(30)}, {4, *ofScores(40)}},
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
		f, err := s.judge(d, figures.Claim{Relation: figures.AtLeast, Published: 22.5}, all, c.least)
		if err != nil || f.Verdict != c.verdict {
			t.Errorf("with at least %d seeds: %s (%s), %v", c.least, f.Verdict, f.Reason, err)
		}
		if c.lower && (f.Measured.Value != 22.5 || f.Measured.Low >= f.Measured.Value) {
			t.Errorf("measured %+v", f.Measured)
		}
	}
	one := statement{agents: []string{"c"}, value: final}
	f, err := one.judge(d, figures.Claim{}, all, 1)
	if err != nil || f.Verdict != figures.NotRunnable || f.Reason != untrained+": c" {
		t.Errorf("of an agent that is not there: %s (%s), %v", f.Verdict, f.Reason, err)
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
			full[name] = append(full[name], trained{seed, *ofScores(100, 60+float64(i), 30, 20+float64(i+seed))})
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
