package drl

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	_ "miglab/algorithms"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
)

// TestMoldedExample: each task of Table 2 runs on its most efficient size alone, in the same time.
func TestMoldedExample(t *testing.T) {
	b := figures.Tasks(example, "A30", 0)
	one := figures.Tasks(molded, "A30", 0)
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

// TestArtefactsOfAgents builds what compares agents, from few batches of one workload under the defaults.
func TestArtefactsOfAgents(t *testing.T) {
	all, whole, varied := synthetic, readings, mixed
	synthetic, readings, mixed = all[:1], whole[:defaults], varied[:1]
	t.Cleanup(func() { synthetic, readings, mixed = all, whole, varied })
	dir := t.TempDir()
	figurestest.Reproduce(t, figures.Reproduction{
		Papers: []figures.Paper{{Name: "drl", Claims: figurestest.Load(t, Paper).Claims, Artefacts: []figures.Artefact{
			{Name: "figure16", Build: figure16},
			{Name: "ours", Build: ours},
			{Name: "reconfigures", Build: reconfigures},
			{Name: "baselines", Build: baselines},
		}}},
		Dir: dir, Scale: figures.Scale{Quick: true},
	})
	for _, file := range []string{"figure16.csv", "ours.csv", "ours.pdf"} {
		if _, err := os.Stat(filepath.Join(dir, "drl", file)); err != nil {
			t.Error(err)
		}
	}
}

// TestDefaultReadingFollowsTheScript: Table 4 is measured on what create_dataset.py draws.
func TestDefaultReadingFollowsTheScript(t *testing.T) {
	r := &readings[0]
	all := r.batches(synthetic[0], false)
	if r.name != "" || r.partial || r.model != mig.Parallel || len(all) != fullBatches {
		t.Errorf("%+v", r)
	}
	for k, b := range all {
		want := figures.Dataset(fmt.Sprintf("drl/POORSCALING?total=100&gen=released&order=classes&part=%d", k+1))
		if b != (batches{want, replicates, 1}) {
			t.Errorf("%+v, want %s", b, want)
		}
	}
	if got := figures.Dataset("drl/POORSCALING?gen=released&order=classes&total=100"); readings5[0].whole(synthetic[0]) != got || readings5[0].model != mig.Parallel {
		t.Errorf("Table 5 is measured on %s", readings5[0].whole(synthetic[0]))
	}
}

// TestRandomOrderEqualsTheDefault: the same data sets and model, with the tasks in random order.
func TestRandomOrderEqualsTheDefault(t *testing.T) {
	for _, r := range [][]reading{readings, readings5} {
		usual, shuffled := &r[0], &r[byRandomOrder]
		if shuffled.parameters+"&order=classes" != usual.parameters || shuffled.model != usual.model || shuffled.theirs != usual.theirs || shuffled.partial || shuffled.name != "random order" {
			t.Errorf("%+v beside %+v", shuffled, usual)
		}
	}
}

// TestBaselinesAreTimedAsInTheirCode: by default, where the readings do not say how they reconfigure.
func TestBaselinesAreTimedAsInTheirCode(t *testing.T) {
	for a, want := range map[approach][2]mig.Reconfiguration{
		far: {mig.Sequential, mig.Parallel}, miso: {mig.Free, mig.Parallel}, fixBest: {mig.Free, mig.Parallel},
		noMIG: {mig.Free, mig.Parallel}, direct: {mig.Parallel, mig.Parallel},
	} {
		for i, r := range []*reading{&readings[byScript], &readings[byPrint]} {
			if got := r.withModelOf(a); got.model != want[i] || got.parameters != r.parameters {
				t.Errorf("%s under %q: %+v, want %v", a, r.name, got, want[i])
			}
		}
	}
}

// TestPercentKept: a batch that destroys an instance is not run on one partition.
func TestPercentKept(t *testing.T) {
	if one, none := percentKept(1), percentKept(0); one != 0 || none != 100 {
		t.Errorf("%v %% with one destroyed instance and %v %% with none; want 0 and 100", one, none)
	}
}

// TestInputsLieBetween: where data that are not public are said to explain a number, stand-ins lie on both sides of
// it with their whole intervals. The kernels of Table 3 are certainly others than the paper's.
func TestInputsLieBetween(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	few := func(w workload) workload { return workload{w.name, w.spec, w.trainedOn, 100} }
	extreme, made := few(generated("MIXSCALINGEXTREME")), &adversarialReadings[0]
	figurestest.Reproduce(t, figurestest.Build(func(d *figures.Data) {
		d.Claims = claims
		generators := []figures.Measurement{
			miso.measure(d, extreme, &readings[byScript]), miso.measure(d, extreme, &readings[byPrint]),
		}
		between := func(w string) []figures.Measurement {
			return []figures.Measurement{
				far.measure(d, few(generated(w)), &readings[byScript]), far.measure(d, few(generated(w)), &readings[byPrintAll]),
			}
		}
		drawn := map[string]figures.Values{}
		for _, r := range redraws() {
			drawn[r.from] = figures.Values{} // of the last reading from the workload
			r.measure(d, drawn[r.from])
		}
		workloads := func(cell claim.Cell) []figures.Measurement {
			sides := []figures.Measurement{drawn[goodScaling][cell], drawn[mixExtreme][cell]}
			slices.SortFunc(sides, func(a, b figures.Measurement) int { return cmp.Compare(a.Value, b.Value) })
			return sides
		}
		standIns := map[claim.Key][]figures.Measurement{
			{Artefact: "table3"}: nil,
			{Artefact: "table4", Cell: claim.Cell{Row: "MIXSCALINGEXTREME", Column: "MISO"}}: generators,
			{Artefact: "text", Cell: claim.Cell{Row: "MIXSCALINGEXTREME", Column: "MISO"}}:   generators,
			{Artefact: "table4", Cell: claim.Cell{Row: mixUniform, Column: "FAR"}}:           between(mixUniform),
			{Artefact: "table4", Cell: claim.Cell{Row: wideTimes, Column: "FAR"}}:            between(wideTimes),
			{Artefact: "adversarial", Cell: claim.Of(direct.name)}:                           workloads(claim.Of(direct.name)),
			{Artefact: "adversarial", Cell: overDirect(far)}:                                 workloads(overDirect(far)),
			{Artefact: "adversarial", Cell: claim.Of("FAR")}:                                 {far.measure(d, few(peakAt2), made), far.measure(d, few(peakAt4), made)},
		}
		for _, e := range claims.Explanations {
			if e.Cause != claim.FromInput || d.Planning() {
				continue
			}
			key := claim.Key{Artefact: e.Artefact, Cell: claim.Cell(e.Selection)}
			sides, ok := standIns[key]
			if sides != nil {
				published := claims.Published(key.Artefact, key.Cell)
				ok = sides[0].High < published && published < sides[1].Low
			}
			if !ok {
				t.Errorf("%s %s does not lie between its stand-ins: %+v", e.Artefact, e.Selection, sides)
			}
		}
	}))
}

// TestConclusionsHaveTheRealKernels: a row that Tables 4 and 5 have is in the test of each sentence about them.
func TestConclusionsHaveTheRealKernels(t *testing.T) {
	of := []string{"table4", "table5", "baselines", "reconfigures"}
	tested := map[string]bool{}
	for _, test := range figurestest.Load(t, Paper).Claims.Tests {
		if slices.Contains(of, test.Artefact) {
			tested[test.ID] = tested[test.ID] || test.Has(claim.Cell{Row: rodinia.ours(), Column: test.Column, Quantity: test.Quantity})
		}
	}
	if len(tested) < 10 {
		t.Errorf("%d conclusions rest on the tables", len(tested))
	}
	for id, ok := range tested {
		if !ok {
			t.Errorf("%s is not tested on the real kernels", id)
		}
	}
	for _, c := range contests {
		if !slices.Contains(c.on, rodinia) {
			t.Errorf("%s is not measured on the real kernels", c.name)
		}
	}
}

// TestBudgetIsTheCause: a conclusion that waits for longer training tests no number that something else explains.
func TestBudgetIsTheCause(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	for _, test := range claims.Tests {
		for _, c := range claims.Of(test.Artefact) {
			if test.Status != claim.OfBudget || !test.Has(c.Cell) {
				continue
			}
			if e := claims.Explain(&c, func(claim.Cause) bool { return true }); e.Cause.Explains() {
				t.Errorf("%s waits for longer training, and the cause of %s is %s", test.ID, c.Cell, e.Cause)
			}
		}
	}
}

// TestRunsOfAgents: a workload names its agent, and all of its runs are shipped.
func TestRunsOfAgents(t *testing.T) {
	for w, a := range figures.Each(synthetic, agents) {
		runs := a.runs(w)
		if want := algo.MustParse(a.algorithm + "?workload=" + w.name).ID; algo.MustParse(runs[0]).ID != want {
			t.Errorf("%s on %s is %s", a.name, w.name, runs[0])
		}
		for _, id := range runs {
			if algo.MustParse(id).Weights() == "" {
				t.Errorf("%s has no weights", id)
			}
		}
	}
	if got := far.runs(rodinia); !slices.Equal(got, []string{"far"}) {
		t.Errorf("FAR is %v", got)
	}
}

// TestBatchesAreThoseOfTheReading: 100 tasks are 7 full batches and one of 2; of the subsets of
// kernels, those of more than 14 have a second batch.
func TestBatchesAreThoseOfTheReading(t *testing.T) {
	for i := range readings {
		r := &readings[i]
		for _, every := range []bool{false, true} {
			weight := 0.0
			all := r.batches(synthetic[1], every)
			for _, b := range all {
				weight += b.weight
			}
			want := float64(fullBatches)
			if r.partial {
				want++
			}
			if weight != want || every && len(all) != int(want) || r.alike && !every && all[0].weight != fullBatches {
				t.Errorf("%q: batches %+v", r.name, all)
			}
		}
	}
	all := readings[0].batches(rodinia, false)
	if len(all) != 2 || all[0].datasets != 1000 || all[1].datasets == 0 || all[1].datasets >= 500 {
		t.Errorf("subsets of kernels: %+v", all)
	}
}

// TestAverage has a batch that represents 3, and one that only the first of two data sets has.
func TestAverage(t *testing.T) {
	values := map[float64][]float64{3: {10, 20}, 1: {50}}
	got := average([]batches{{weight: 3}, {weight: 1}}, func(b batches) []float64 { return values[b.weight] })
	if !slices.Equal(got, []float64{20, 20}) {
		t.Errorf("%v", got)
	}
}

// TestChoose has three data sets: a worse partition, one as good, which comes later, and a better one.
func TestChoose(t *testing.T) {
	best, least := []float64{1, 2, 3}, []float64{5, 5, 5}
	choose(best, least, []float64{7, 8, 9}, []float64{6, 5, 4})
	if !slices.Equal(best, []float64{1, 2, 9}) || !slices.Equal(least, []float64{5, 5, 4}) {
		t.Errorf("%v of %v", best, least)
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
