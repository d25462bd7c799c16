package hierarchical

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/rl/agents"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
	"miglab/paper-figures/figurestest"
	"miglab/paper-figures/verdict"
)

// TestMissingCounts: claims.csv says how many of the programs are drawn.
func TestMissingCounts(t *testing.T) {
	all := datasets.Programs()
	drawn := figures.Count(all, func(p task.Program) bool { return !p.Fitted })
	want := fmt.Sprintf(" %d of %d programs are drawn ", drawn, len(all))
	claims := figurestest.Load(t, Paper).Claims
	for cell, artefact := range map[claim.Cell]string{meanThroughput: "figure8", bestThroughput: "figure8", meanSlowdown: "figure11", bestSlowdown: "figure11"} {
		if c := claims.Find(claim.Key{Artefact: artefact, Cell: cell}); !strings.Contains(c.Missing, want) {
			t.Errorf("%s, %s: %q lacks %q", artefact, cell, c.Missing, want)
		}
	}
}

// TestReportedDrawsAreNew: no constant was chosen on a draw that is reported.
func TestReportedDrawsAreNew(t *testing.T) {
	for i, data := range reportedDraws(figures.Scale{}) {
		if want := figures.Dataset(fmt.Sprintf("corun/queues?draw=%d", firstReported+i)); data != want || firstReported <= 140 {
			t.Errorf("draw %d is %s", i, data)
		}
	}
	if n := len(reportedDraws(figures.Scale{})); n < 20 {
		t.Errorf("%d draws, want at least 20", n)
	}
}

// TestTable7HasAllFamilies: its rows are those of the family that has all others.
func TestTable7HasAllFamilies(t *testing.T) {
	for jobs := 2; jobs <= concurrency; jobs++ {
		all := figures.Map(corun.Setups(corun.Every, jobs), corun.Setup.String)
		for _, f := range []corun.Family{
			corun.DefaultShared, corun.DefaultPrivate, corun.DefaultWhole, corun.DefaultThree, corun.MIGShared, corun.MIGPrivate,
			corun.MPSOnly, corun.Lockstep, corun.Hierarchical, corun.Agent, corun.Every,
		} {
			for _, s := range corun.Setups(f, jobs) {
				if !slices.Contains(all, s.String()) {
					t.Errorf("%s has %v, which is not among the rows", f, s)
				}
			}
		}
	}
}

// TestAllSchedulersAreShown fails when the track has one more that cites the paper than this package.
func TestAllSchedulersAreShown(t *testing.T) {
	shown := map[string]bool{}
	for _, m := range slices.Concat(timed, []method{ceiling}) {
		for _, r := range m.runs() {
			shown[algo.MustParse(r.algorithm).ID] = true
		}
	}
	for _, s := range algo.All(algo.TrackCorun) {
		ids := []string{s.Name}
		for _, p := range s.Params {
			if len(p.Values) == 0 { // weights=FILE
				continue
			}
			ids = nil
			for _, v := range p.Values {
				ids = append(ids, algo.MustParse(s.Name+"?"+p.Name+"="+v).ID)
			}
		}
		for _, id := range ids {
			if !shown[id] && strings.Contains(s.Cite, "hierarchical") {
				t.Errorf("%s is missing", id)
			}
			delete(shown, id)
		}
	}
	if len(shown) > 0 {
		t.Errorf("%v are no schedulers of the track", shown)
	}
}

// TestMeasures computes again what the claims about Q1 to Q12 are made of.
func TestMeasures(t *testing.T) {
	build := func(d *figures.Data) {
		of := func(m method, metric string) (v []float64, total float64) {
			v = m.onQueues(d, queues, metric)
			for _, x := range v {
				total += x / 12
			}
			return v, total
		}
		if d.Planning() {
			rowsByQueue(d, []string{queues}, track.MetricThroughput)
			throughputs(d, []string{queues})
			decisions(d, agent)
			return
		}
		near := func(what string, got, want float64) {
			if math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		// The partition that is shipped as the default is the best one.
		best := bestDefault(d, queues)
		if best != partitions[0] {
			t.Errorf("the best partition is %v", best)
		}
		high, others := 0.0, 0.0
		for _, m := range []method{mpsOnly, migShared, migPrivate, best} {
			_, mean := of(m, track.MetricThroughput)
			others = max(others, mean)
		}
		own, ownMean := of(agent, track.MetricThroughput)
		for _, v := range own {
			high = max(high, v)
		}
		got := throughputs(d, []string{queues})
		near(meanThroughput.String(), got[meanThroughput].Value, ownMean)
		near(agentLead.String(), got[agentLead].Value, ownMean-others)
		if best := got[bestThroughput]; best.Value < high-1e-9 || best.Replicates != trainingRuns {
			t.Errorf("%s: %+v, under the best queue of the mean over the runs, %v", bestThroughput, best, high)
		}

		low, least := math.Inf(1), math.Inf(1)
		own, ownMean = of(agent, track.MetricSlowdownMean)
		for _, v := range own {
			low = min(low, v)
		}
		for _, m := range []method{mpsOnly, best, agent} {
			_, mean := of(m, track.MetricSlowdownMean)
			least = min(least, mean)
		}
		_, shared := of(migShared, track.MetricSlowdownMean)
		_, private := of(migPrivate, track.MetricSlowdownMean)
		got = slowdowns(d, []string{queues})
		near(meanSlowdown.String(), got[meanSlowdown].Value, ownMean)
		near(migSlowdown.String(), got[migSlowdown].Value, max(shared, private)-least)
		if best := got[bestSlowdown].Value; best > low+1e-9 {
			t.Errorf("%s: %v, over the least of the mean over the runs, %v", bestSlowdown, best, low)
		}

		micros, shares := decisions(d, agent)
		spans, _ := of(agent.runs()[0], track.MetricMakespan)
		if len(micros) != 12 {
			t.Fatalf("%v", micros)
		}
		near("share", shares[3], micros[3]*1e-6/spans[3])
	}
	figurestest.Reproduce(t, figurestest.Build(build))
}

// TestQuickRun builds every artefact and finds every claim once by default. Unless tests are deep it leaves out two
// figures that are made as Fig. 12 is, and what takes as long.
func TestQuickRun(t *testing.T) {
	p := figurestest.Load(t, Paper)
	long := []string{"figure8", "figure11"}
	keeps := func(_, artefact string) bool { return deep.On() || !slices.Contains(long, artefact) }
	m, left := figurestest.Reproduce(t, figures.Reproduction{Papers: []figures.Paper{p}, Scale: figures.Scale{Quick: true}, Only: keeps})
	if left != deep.N(len(long), 0) {
		t.Fatalf("%d left", left)
	}
	found := map[string]int{}
	for row := range m.Rows() {
		if row.Default {
			found[row.Artefact]++
		}
		if row.Verdict != verdict.None {
			t.Errorf("a quick run finds %s %s", row.Claim, row.Verdict)
		}
	}
	for _, a := range p.Artefacts {
		if n := len(p.Claims.Of(a.Name)); keeps("", a.Name) && found[a.Name] != n {
			t.Errorf("%s: %d findings for %d claims", a.Name, found[a.Name], n)
		}
	}
}

// TestMixesShowWhatTheTextSays holds our choice for Figs. 3 and 4 to it (III-B): the best split
// is off the middle for two mixes and near it for the third; private memory helps two mixes
// with either division of the GPCs, and not the last one.
func TestMixesShowWhatTheTextSays(t *testing.T) {
	measure := func(programs []string, setup string) float64 { return runTogether(programs, setup).Throughput() }
	for i, programs := range splitMixes {
		best, at := 0.0, 0
		for percent := 10; percent < 100; percent += 10 {
			if v := measure(programs, fmt.Sprintf("[(%g)+(%g),1m]", float64(percent)/100, float64(100-percent)/100)); v > best {
				best, at = v, percent
			}
		}
		if skewed := at <= 20 || at >= 80; skewed != (i < 2) || best <= 1 {
			t.Errorf("%v: the best throughput is %.3f at %d %%", programs, best, at)
		}
	}
	for i, programs := range memoryMixes {
		for range 2 {
			programs = []string{programs[1], programs[0]}
			if shared, private := measure(programs, sharedMemory), measure(programs, privateMemory); private > shared != (i < 2) {
				t.Errorf("%v: %.3f with shared memory, %.3f with private", programs, shared, private)
			}
		}
	}
}

// TestTogether: the first program has the first slot. The other way round hotspot3D would have a
// tenth of what it can use.
func TestTogether(t *testing.T) {
	r := runTogether([]string{"kmeans", "hotspot3D"}, "[(0.1)+(0.9),1m]")
	turned := runTogether([]string{"hotspot3D", "kmeans"}, "[(0.9)+(0.1),1m]")
	if r.Makespan != turned.Makespan || r.Slowdowns[0] != turned.Slowdowns[1] || r.Throughput() < 1 {
		t.Errorf("%+v, turned %+v", r, turned)
	}
}

// TestFitIsTheOneOfTheDatasets computes the residuals again from what the figure shows.
func TestFitIsTheOneOfTheDatasets(t *testing.T) {
	g := mig.MustLookup(gpu)
	public, err := datasets.InstanceOf[task.Batches](datasets.MustParse("rodinia"), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	well := 0
	for _, f := range datasets.KernelFits() {
		sum, n := 0.0, 0
		for _, k := range public.Tasks {
			if k.Name != f.Kernel {
				continue
			}
			for _, size := range g.Sizes() {
				r := float64(f.Fitted.Solo)*onInstance(&f.Fitted, size)/float64(k.On(size)) - 1
				sum += r * r
				n++
			}
		}
		if rms := math.Sqrt(sum / float64(n)); n != len(g.Sizes()) || math.Abs(rms-f.RMS) > 1e-9 {
			t.Errorf("%s: residual %v over %d sizes, the datasets have %v", f.Kernel, rms, n, f.RMS)
		}
		if f.RMS <= wellFitted {
			well++
		}
	}
	if well < 12 {
		t.Errorf("%d kernels are fitted within %v", well, wellFitted)
	}
}

// TestFirst: a queue counts only if all others are below, and equal plans do not.
func TestFirst(t *testing.T) {
	own := []float64{1.5, 1.4, 1.3, 1.2}
	others := [][]float64{{1.4, 1.4 - 1e-12, 1.2, 1.1}, {1.4, 1.3, 1.31, 1}}
	if got := first(own, others); got != 2 {
		t.Errorf("first on %v queues, want 2", got)
	}
}

// onInstance returns a program's relative time on an A100 instance of a size.
func onInstance(p *task.Program, size mig.Slices) float64 {
	g := mig.MustLookup(gpu)
	const gpcs = 8
	return p.Relative(float64(size)/gpcs, float64(g.Profile(size).Length)/float64(g.MemorySlices))
}
