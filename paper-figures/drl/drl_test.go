package drl

import (
	"context"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/store"
	"miglab/harness/task"
	figures "miglab/paper-figures"
)

func load(t *testing.T) *figures.Claims {
	t.Helper()
	c, err := figures.LoadClaims("drl", files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTablesAreComplete counts the numbers that the paper prints.
func TestTablesAreComplete(t *testing.T) {
	c := load(t)
	for artefact, want := range map[string]int{"table1": 26, "table2": 12, "table3": 27, "table4": 48, "table5": 18, "adversarial": 5} {
		if n := len(c.Of(artefact)); n != want {
			t.Errorf("%s has %d numbers, want %d", artefact, n, want)
		}
	}
}

// TestModelsCarryTable1 holds the GPU models against the published costs.
func TestModelsCarryTable1(t *testing.T) {
	for _, c := range load(t).Of("table1") {
		f := strings.Fields(c.Name) // A30 create size 1
		p := mig.MustLookup(f[0]).Profile(mig.Slices(f[3][0] - '0'))
		got := p.Create
		if f[1] == "destroy" {
			got = p.Destroy
		}
		if float64(got) != c.Published {
			t.Errorf("%s: the model has %v s, Table 1 %v", c.Name, got, c.Published)
		}
	}
}

// TestExampleIsTable2 holds the dataset against the published times.
func TestExampleIsTable2(t *testing.T) {
	b, err := instanceOf(example, "A30")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range load(t).Of("table2") {
		name, quantity, _ := strings.Cut(c.Name, " time on ")
		if quantity == "" {
			continue
		}
		for i := range b {
			if s := mig.Slices(quantity[0] - '0'); strings.Contains(name, b[i].Name) && float64(b[i].On(s)) != c.Published {
				t.Errorf("%s takes %v s on %d slices, Table 2 has %v", b[i].Name, b[i].On(s), s, c.Published)
			}
		}
	}
	one, err := instanceOf(molded, "A30")
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		for _, s := range mig.MustLookup("A30").Sizes() {
			most := true
			for _, o := range mig.MustLookup("A30").Sizes() {
				most = most && efficiency(&b[i], s) >= efficiency(&b[i], o)
			}
			if one[i].Fits(s) != most || most && one[i].On(s) != b[i].On(s) {
				t.Errorf("%s on %d slices: %v s", one[i].Name, s, one[i].On(s))
			}
		}
	}
}

func TestEveryClaimHasAnArtefact(t *testing.T) {
	p, err := Paper()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range p.Artefacts {
		names = append(names, a.Name)
	}
	published, err := files.ReadFile("published.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(published)), "\n")
	for _, line := range lines[1:] {
		if artefact, _, _ := strings.Cut(line, ","); !slices.Contains(names, artefact) {
			t.Errorf("no artefact for %s", line)
		}
	}
}

func TestNeedsNameWhatExists(t *testing.T) {
	p, err := Paper()
	if err != nil {
		t.Fatal(err)
	}
	for _, quick := range []bool{false, true} {
		for _, a := range p.Artefacts {
			if a.Needs == nil {
				continue
			}
			for _, n := range a.Needs(figures.Scale{Quick: quick}) {
				canonical, err := n.Series.Canonical()
				canonical.Content, canonical.Weights = "", ""
				if err != nil {
					t.Errorf("%s: %v", a.Name, err)
				} else if canonical != n.Series {
					t.Errorf("%s needs %v, canonically %v", a.Name, n.Series, canonical)
				}
				if quick && n.N > 20 {
					t.Errorf("%s needs %d of %v in a quick run", a.Name, n.N, n.Series)
				}
			}
		}
	}
}

// TestArtefactsOfAgents builds what compares agents, from few batches of one workload.
func TestArtefactsOfAgents(t *testing.T) {
	all := workloads
	workloads = all[:2]
	t.Cleanup(func() { workloads = all })
	claims := load(t)
	dir := t.TempDir()
	r := figures.Reproduction{
		Engine: func() (*run.Engine, error) {
			st, err := store.Open(filepath.Join(dir, "store"))
			return &run.Engine{Store: st}, err
		},
		Papers: []figures.Paper{{Name: "drl", Artefacts: []figures.Artefact{adversarial(claims), figure16(claims), ours(), reconfigures()}}},
		Dir:    dir, Scale: figures.Scale{Quick: true},
	}
	if _, _, err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"adversarial-ours.csv", "ours-paired.csv", "ours.png", "reconfigures.csv"} {
		if _, err := os.Stat(filepath.Join(dir, "drl", file)); err != nil {
			t.Error(err)
		}
	}
}

func TestWithout(t *testing.T) {
	if got := without([]float64{0, 3, 0, 0}); got != 0.75 {
		t.Errorf("%v of the batches have none, want 0.75", got)
	}
}

// TestSharesAreAllBatches: 100 tasks are 7 batches of 14 and one of 2; of the subsets,
// half have a full batch.
func TestSharesAreAllBatches(t *testing.T) {
	for _, w := range append(slices.Clone(workloads), peaks...) {
		batches, full := 0.0, 0.0
		for _, s := range w.shares(figures.Scale{}, "") {
			batches += s.batches * float64(s.datasets)
			full += s.batches * float64(s.full)
		}
		want := [2]float64{8 * float64(w.datasets), 7 * float64(w.datasets)}
		if w == rodinia {
			want = [2]float64{1000, 500}
			batches -= float64(w.shares(figures.Scale{}, "")[1].datasets)
		}
		if batches != want[0] || full != want[1] {
			t.Errorf("%s: %v batches, %v full, want %v", w.name, batches, full, want)
		}
	}
}

// TestAverage has a share that stands for 3 batches, and one that only the first of
// two datasets has.
func TestAverage(t *testing.T) {
	shares := []share{{datasets: 2, full: 1, batches: 3}, {datasets: 1, batches: 1}}
	values := [][]float64{{10, 20}, {50}}
	a := average(shares, func(k int) []float64 { return values[k] })
	for _, c := range []struct{ got, want []float64 }{{a.all, []float64{20, 20}}, {a.full, []float64{10}}, {a.partial, []float64{50, 20}}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

// TestChoose has two partitions; the first is better for dataset 0 in sum, though not
// in its second batch, and the second for dataset 1.
func TestChoose(t *testing.T) {
	shares := []share{{datasets: 2}, {datasets: 1}}
	got := choose(shares, [][][]float64{{{1, 9}, {5}}, {{4, 8}, {3}}})
	if !slices.Equal(got[0], []float64{1, 8}) || !slices.Equal(got[1], []float64{5}) {
		t.Errorf("%v", got)
	}
}

// TestLogStates counts by hand: with N = 1 and M = 1 there is C(5,5) = 1 class, so
// 7 states; with N = 2, M = 2, 6 + 15 batches and 7 times 64.
func TestLogStates(t *testing.T) {
	for _, c := range []struct{ n, m, want int64 }{{1, 1, 7}, {2, 2, 21 * 7 * 64}} {
		f, _ := new(big.Float).SetInt64(c.want).Float64()
		if got := logStates(c.n, c.m); math.Abs(got-math.Log10(f)) > 1e-12 {
			t.Errorf("N = %d, M = %d: 10^%v states, want %d", c.n, c.m, got, c.want)
		}
	}
}

func TestScalabilityOfLinearTasks(t *testing.T) {
	linear := task.New("t", map[mig.Slices]mig.Seconds{1: 84, 2: 42, 3: 28, 4: 21, 7: 12})
	flat := task.New("t", map[mig.Slices]mig.Seconds{1: 84, 2: 84, 3: 84, 4: 84, 7: 84})
	g := mig.MustLookup("A100")
	if s := scalability(&linear, g); math.Abs(s-1) > 1e-12 {
		t.Errorf("scalability %v of a task that scales linearly", s)
	}
	if s, want := scalability(&flat, g), (1./2+1./3+1./4+1./7)/4; math.Abs(s-want) > 1e-12 {
		t.Errorf("scalability %v of a task that does not scale, want %v", s, want)
	}
}

// TestQueues follows the example of Fig. 3 by hand.
func TestQueues(t *testing.T) {
	for _, refilled := range []bool{false, true} {
		q := &queue{refilled: refilled, pending: []string{"a", "b", "c", "d", "e"}}
		q.fill()
		q.execute("b")
		want := "a c d"
		if refilled {
			want = "a c d e"
		}
		if got := strings.Join(q.batch, " "); got != want {
			t.Errorf("refilled %v: batch %s, want %s", refilled, got, want)
		}
		for _, k := range []string{"a", "c", "d"} {
			q.execute(k)
		}
		if got := strings.Join(q.batch, " "); got != "e" {
			t.Errorf("refilled %v: batch %s, want e", refilled, got)
		}
	}
}
