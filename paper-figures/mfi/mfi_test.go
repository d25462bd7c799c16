package mfi

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms/placement"
	_ "miglab/bounds"
	"miglab/harness/mig"
	"miglab/harness/sim"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
)

func sum(terms map[string]int) (s int) {
	for _, v := range terms {
		s += v
	}
	return s
}

// TestTermsAddUpToTheScore: the example and the schedulers compute F apart from each
// other.
func TestTermsAddUpToTheScore(t *testing.T) {
	for _, r := range []sim.Reading{sim.Literal, sim.Partial, sim.StartFree} {
		for _, m := range reachable() {
			if got, want := sum(terms(m, r)), int(sim.Fragmentation(mig.MustLookup(gpu), r)[m]); got != want {
				t.Errorf("%v, %08b: %d, the simulator has %d", r, m, got, want)
			}
		}
	}
}

// TestExample checks what the table of the worked example says in its notes: under the
// literal reading no mask has F = 16, and of the masks that the text allows (5 in use
// and 4 not) one has the printed terms under both others.
func TestExample(t *testing.T) {
	printed := func(m mig.Mask, r sim.Reading) bool {
		f := terms(m, r)
		return f["1g.20gb"] == 2 && f["2g.20gb"] == 2 && f["3g.40gb"] == 8 && f["4g.40gb"] == 4 && sum(f) == 16
	}
	if n := len(reachable()); n != 192 {
		t.Fatalf("%d reachable masks, want 192", n)
	}
	var both []mig.Mask
	for _, m := range reachable() {
		if sum(terms(m, sim.Literal)) == 16 {
			t.Errorf("%08b has F = 16 as printed", m)
		}
		if m>>5&1 == 1 && m>>4&1 == 0 && printed(m, sim.Partial) && printed(m, sim.StartFree) {
			both = append(both, m)
		}
	}
	ours := mig.Partition(gpu2()).Mask()
	if !slices.Equal(both, []mig.Mask{ours}) || ours != 0b101100 {
		t.Errorf("masks %08b, ours %08b", both, ours)
	}
	if f := sum(terms(ours, sim.Literal)); f != 23 {
		t.Errorf("F = %d as printed, want 23", f)
	}
}

// TestDrawingsRejectAsTheTextSays: best fit takes the GPU with the fewest free slices
// that are enough, load balancing the one with the most; the other GPU has room.
func TestDrawingsRejectAsTheTextSays(t *testing.T) {
	free := func(r gpuState) int { return 8 - int(mig.Partition(r.instances).Mask().Count()) }
	rows := rejections()
	for _, c := range []struct {
		chosen, other int
		right         bool
	}{
		{1, 0, free(rows[1]) < free(rows[0])},
		{2, 3, free(rows[2]) > free(rows[3])},
	} {
		p := rows[c.chosen].rejected
		if !c.right || free(rows[c.chosen]) < int(p.Length) {
			t.Errorf("%s has %d free slices, %s %d", rows[c.chosen].label, free(rows[c.chosen]), rows[c.other].label, free(rows[c.other]))
		}
		if fits := (mig.Instance{Profile: p, Start: 0}).Mask()&mig.Partition(rows[c.other].instances).Mask() == 0; !fits {
			t.Errorf("%v does not fit %s", p, rows[c.other].label)
		}
	}
	for _, r := range slices.Concat(fragmentation(), rejections()) {
		checkState(t, r)
	}
}

// checkState checks that the instances of a row can coexist, and that a rejected profile fits nowhere beside them.
func checkState(t *testing.T, r gpuState) {
	t.Helper()
	var used mig.Mask
	for _, in := range r.instances {
		if !slices.Contains(in.Profile.Starts, in.Start) || used&in.Mask() != 0 {
			t.Errorf("%s: %v cannot be at slice %d", r.label, in.Profile, in.Start)
		}
		used |= in.Mask()
	}
	if r.rejected == nil {
		return
	}
	for _, s := range r.rejected.Starts {
		if used&(mig.Instance{Profile: r.rejected, Start: s}).Mask() == 0 {
			t.Errorf("%s: %v fits at slice %d", r.label, r.rejected, s)
		}
	}
}

func TestReadingsNameTheSchedulers(t *testing.T) {
	want := map[string]string{
		"V-A: all strict":      "ff?index=strict rr?index=strict bf-bi?index=strict wf-bi?index=strict mfi?f=start-free",
		"VI: FF and RR strict": "ff?index=strict rr?index=strict bf-bi wf-bi mfi?f=start-free",
		"VI: first free slice": "ff?index=slice rr?index=slice bf-bi wf-bi mfi?f=start-free",
		"VI: F literal":        "ff?index=strict rr?index=strict bf-bi wf-bi mfi",
		"VI: F partial":        "ff?index=strict rr?index=strict bf-bi wf-bi mfi?f=partial",
		"F literal":            "ff?index=strict rr?index=strict bf-bi?index=strict wf-bi?index=strict mfi",
		"F partial":            "ff?index=strict rr?index=strict bf-bi?index=strict wf-bi?index=strict mfi?f=partial",
		"all feasible":         "ff rr bf-bi wf-bi mfi?f=start-free",
	}
	if len(readings) != len(want) {
		t.Errorf("%d readings", len(readings))
	}
	for _, r := range readings {
		var got []string
		for _, s := range schemes {
			got = append(got, r.series(s, demand("uniform", heavy)).Algorithm)
		}
		if strings.Join(got, " ") != want[r.name] {
			t.Errorf("%q: %v, want %s", r.name, got, want[r.name])
		}
	}
}

// TestGains: MFI accepts 12 and 11, the baselines 10 on average, so that it accepts
// 20 and 10 % more.
func TestGains(t *testing.T) {
	if got := eachInstance(gain, []float64{12, 11}, []float64{8, 7}, []float64{10, 10}, []float64{10, 11}, []float64{12, 12}); math.Abs(got[0]-20) > 1e-9 || math.Abs(got[1]-10) > 1e-9 {
		t.Errorf("gains %v, want 20 and 10", got)
	}
}

// TestNearestIsTheLeastSurePair: 1 in every simulation is surer than 1.5 on average.
func TestNearestIsTheLeastSurePair(t *testing.T) {
	m, cell := &measured{d: &figures.Data{}, values: figures.Values{}}, claim.Of("lead")
	m.nearest(cell, 2, []pair{
		{[]float64{2, 3, 2, 3}, []float64{1, 1, 1, 1}}, // clearly more
		{[]float64{3, 3, 3, 1}, []float64{1, 1, 1, 1}}, // more, and less surely
		{[]float64{2, 2, 2, 2}, []float64{1, 1, 1, 1}}, // always more
	})
	if m.d.Err() != nil || m.values[cell].StdErr != 1 {
		t.Errorf("%v, %v; want the second pair", m.values[cell], m.d.Err())
	}
	m.mean(claim.Of("none"), nil)
	if m.d.Err() == nil {
		t.Error("a mean of nothing is no error")
	}
}

// TestOrdered: of four pairs that surely differ, F orders two as the paper says and one the other way; of the fourth it
// is not sure. Pairs that do not surely differ do not count.
func TestOrdered(t *testing.T) {
	m := &measured{d: &figures.Data{}}
	less, more, either := []float64{1, 2, 1, 2}, []float64{3, 4, 4, 3}, []float64{0, 3, 3, 0}
	var o clearPairs
	for _, p := range [][2]pair{
		{{less, more}, {more, less}},
		{{more, less}, {less, more}},
		{{more, less}, {more, less}},
		{{less, either}, {more, less}},
		{{less, more}, {less, either}},
	} {
		o.count(m.sign(p[0]), m.sign(p[1]))
	}
	if got := o.share(); got.Low != 50 || got.High != 75 || math.Abs(got.Value-200./3) > 1e-9 {
		t.Errorf("%+v; want 2 of 3, and from 2 to 3 of 4", got)
	}
}

// TestDefaultIsTheDescriptionOfTheExperiments: section VI, and it alone; V-A is another reading.
func TestDefaultIsTheDescriptionOfTheExperiments(t *testing.T) {
	for _, r := range figurestest.Load(t, Paper).Claims.Readings {
		if r.Weight == claim.AnotherDefault {
			t.Errorf("%s is %q", r.Name, r.Weight)
		}
	}
	for i, section := range []string{"VI:", "V-A:"} {
		if !strings.HasPrefix(readings[i].name, section) {
			t.Errorf("reading %d is %q", i, readings[i].name)
		}
	}
}

func TestNormalized(t *testing.T) {
	m := func(value, low, high float64) figures.Measurement {
		return figures.Measurement{Value: value, Low: low, High: high}
	}
	g := grid{{m(1, 0, 2), m(4, 3, 5)}, {m(2, 2, 2), m(3, 1, 5)}}.normalized()
	if !reflect.DeepEqual(g[0][1], m(1, 0.75, 1.25)) || !reflect.DeepEqual(g[1][0], m(0.5, 0.5, 0.5)) {
		t.Errorf("got %v", g)
	}
}

// TestQuickRun builds every artefact on few simulations, and checks what these suffice for. It leaves out the one
// that takes longest and that it asks nothing of; make test-long builds it.
func TestQuickRun(t *testing.T) {
	m, left := figurestest.Reproduce(t, figures.Reproduction{
		Papers: []figures.Paper{figurestest.Load(t, Paper)}, Scale: figures.Scale{Quick: true},
		Only: func(_, artefact string) bool { return artefact != "steady" },
	})
	if left != 1 {
		t.Fatalf("%d artefacts left", left)
	}
	got := map[[2]string]*float64{}
	for row := range m.Rows() {
		got[[2]string{row.Claim, row.Reading}] = row.Measured
	}
	for key, want := range map[[2]string]float64{
		{"F(2)", "start-free"}: 16, {"F(2)", "partial"}: 16, {"F(2)", "literal"}: 23,
		{"acceptance of MFI, least over the loads", "V-A: all strict"}:      100,
		{"acceptance of MFI, least over the loads", "VI: FF and RR strict"}: 100,
	} {
		if v := got[key]; v == nil || *v != want {
			t.Errorf("%v: %v, want %v", key, v, want)
		}
	}
	for _, reading := range readings { // four baselines have 6 pairs, under four distributions 24
		v := got[[2]string{"pairs of baselines of which the lower score has the higher acceptance", reading.name}]
		if v == nil || math.Abs(*v*24/100-math.Round(*v*24/100)) > 1e-3 {
			t.Errorf("%s: the share is not of 24 pairs", reading.name)
		}
	}
	if v, ok := got[[2]string{"F(1)", "start-free"}]; !ok || v != nil {
		t.Errorf("F(1) is measured: %v", v)
	}
}

// TestGPUsOfEachBaseline: the sentence about GPUs is tested against each baseline, from above and from below.
func TestGPUsOfEachBaseline(t *testing.T) {
	limits := map[string]int{}
	for _, row := range figurestest.Load(t, Paper).Claims.Tests {
		for _, b := range baselines {
			if row.ID == "M3" && row.Has(claim.Of("active GPUs of MFI over those of "+b)) {
				limits[b+string(row.Relation)]++
			}
		}
	}
	for _, b := range baselines {
		if limits[b+"<="] != 1 || limits[b+">="] != 1 {
			t.Errorf("%s: the limits are %v", b, limits)
		}
	}
}

// TestFeasibleBaselinesAreAControl: no passage of the paper describes baselines of which none is strict.
func TestFeasibleBaselinesAreAControl(t *testing.T) {
	claims := figurestest.Load(t, Paper).Claims
	for _, artefact := range []string{"figure4", "figure5", "figure6", "text", "steady"} {
		if claims.Reading(artefact, "all feasible").Weight.Counts() || !claims.Reading(artefact, "V-A: all strict").Weight.Counts() {
			t.Errorf("%s: V-A is a reading of the paper, and that no baseline is strict is none", artefact)
		}
	}
}
