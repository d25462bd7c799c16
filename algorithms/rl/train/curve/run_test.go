package curve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// curveText is a learning curve with a point each 1000 steps.
func curveText(scores ...float64) string {
	var b strings.Builder
	b.WriteString(header + "\n")
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

func TestLoad(t *testing.T) {
	all, err := Load(filesOf(map[string]string{"a-b-seed10.csv": curveText(30, 20), "a-b-seed2.csv": curveText(40, 10), "c-seed1.csv": curveText(7)}), "curves/*.csv")
	if err != nil {
		t.Fatal(err)
	}
	runs := all["a-b"]
	if len(runs) != 2 || runs[0].Seed != 2 || runs[1].Seed != 10 || len(all["c"]) != 1 {
		t.Fatalf("%+v", all)
	}
	if !slices.Equal(runs[0].Steps, []float64{1000, 2000}) || !slices.Equal(runs[0].Scores, []float64{40, 10}) {
		t.Errorf("%+v", runs[0])
	}
}

func TestLoadRefusesMistakes(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"no seed", map[string]string{"a.csv": curveText(1)}, "curves/a.csv: the name is not AGENT-seedK.csv"},
		{"seed 0", map[string]string{"a-seed0.csv": curveText(1)}, "curves/a-seed0.csv: the name is not AGENT-seedK.csv"},
		{"seed beyond all", map[string]string{"a-seed99999999999999999999.csv": curveText(1)}, "the name is not AGENT-seedK.csv"},
		{"no curve", map[string]string{"a-seed1.csv": curveText(1) + "2000,1\n"}, "curves/a-seed1.csv:3: "},
		{"other steps", map[string]string{"a-seed1.csv": curveText(1), "a-seed2.csv": strings.Replace(curveText(1, 2), "\n1000,", "\n999,", 1)}, "curves/a-seed2.csv: its steps differ from those of seed 1"},
		{"other steps than those of the longest run so far", map[string]string{"a-seed1.csv": curveText(1), "a-seed2.csv": curveText(1, 2), "a-seed3.csv": strings.Replace(curveText(1, 2), "\n2000,", "\n3000,", 1)}, "curves/a-seed3.csv: its steps differ from those of seed 2"},
	} {
		if _, err := Load(filesOf(c.files), "curves/*.csv"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one with %q", c.name, err, c.says)
		}
	}
}

// TestLoadTrainings reads the folders of trainings, of which the second goes on.
func TestLoadTrainings(t *testing.T) {
	files := fstest.MapFS{
		"a-64-seed1/curve.csv": {Data: []byte(curveText(3))},
		"a-seed2/curve.csv":    {Data: []byte(curveText(9))},
		"a-seed1/curve.csv":    {Data: []byte(curveText(30, 20))},
	}
	all, err := Load(files, "a-seed*/curve.csv")
	if err != nil || len(all) != 1 || len(all["a"]) != 2 || all["a"][0].Seed != 1 || len(all["a"][1].Steps) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// ofScores is the run of a curve with a point each 1000 steps.
func ofScores(scores ...float64) *Run {
	points, err := Read(strings.NewReader(curveText(scores...)), "test")
	if err != nil {
		panic(err)
	}
	r := RunOf(points)
	return &r
}

func TestRun(t *testing.T) {
	c := ofScores(80, 40, 21, 20, 20.5)
	for _, x := range []struct {
		what      string
		got, want float64
	}{
		{"at nothing", c.At(0), 80},
		{"before the first point", c.At(500), 80},
		{"half-way, between points", c.At(0.5 * c.Last()), 40},
		{"at a point", c.At(3000), 21},
		{"end", c.Final(), 20.5},
		{"least", c.Least(), 20},
		// 22 is a tenth above 20.
		{"converges", c.Converges(), 3000},
		{"reaches", c.Reaches(40), 2000},
		{"below zero", ofScores(5, -10, -9).Converges(), 2000},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v, want %v", x.what, x.got, x.want)
		}
	}
}

// TestShortCurvesHaveNoTrend: a line through its only points has no interval.
func TestShortCurvesHaveNoTrend(t *testing.T) {
	short := Run{Steps: []float64{1e6, 2e6}, Scores: []float64{9, 5}}
	long := Run{Steps: []float64{8e5, 9e5, 1e6}, Scores: []float64{9, 7, 5.1}}
	if got := TrendOf([]Run{short}); got.Word() != "too short" {
		t.Errorf("%+v %s", got, got.Word())
	}
	if got := TrendOf([]Run{long, long}); got.Word() != "falls" {
		t.Errorf("%+v %s", got, got.Word())
	}
}
