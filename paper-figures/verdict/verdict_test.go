package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
	"miglab/harness/deep"
)

func TestJudge(t *testing.T) {
	equal := func(p float64, decimals int) Claim {
		return Claim{Relation: Equal, Published: p, Decimals: decimals, Margin: -1}
	}
	limit := func(r Relation, p float64, decimals int) Claim {
		return Claim{Relation: r, Published: p, Decimals: decimals, Margin: -1}
	}
	between := Claim{Relation: Between, Published: 85, To: 90, Margin: -1}
	order := Claim{Relation: AtMost, Compares: true, Margin: -1}
	count := equal(19, 0)
	count.Derived = true
	sampled := func(value, half float64) Measurement {
		return Measurement{Value: value, Low: value - half, High: value + half, StdErr: half / 1.96, Replicates: 1000, Unit: Executions}
	}
	withPrint := func(m Measurement, se float64) Measurement {
		m.PrintSE = se
		return m
	}
	learned := func(m Measurement, steps, from, to float64) Measurement {
		m.Training = Training{Steps: steps, Paper: 200e6, From: from, To: to}
		return m
	}
	const short = 2e6
	for _, c := range []struct {
		what  string
		claim Claim
		value Measurement
		want  Verdict
	}{
		{"worse than print after a short training", equal(20, 0), learned(Exactly(46), short, 3, 46), Inconclusive},
		{"worse than print after the paper's training", equal(20, 0), learned(Exactly(46), 200e6, 3, 46), Deviates},
		{"better than print after a short training", equal(85, 0), learned(Exactly(20), short, 3, 20), Deviates},
		{"worse than print, which no schedule can have", equal(20, 0), learned(Exactly(46), short, 22, 46), Deviates},
		{"less gain after a short training", equal(4, 0), learned(Exactly(-7), short, -7, 9), Inconclusive},
		{"less gain, and print gains more than any schedule", equal(4, 0), learned(Exactly(-7), short, -7, 2.9), Deviates},
		{"a limit that longer training could meet", order, learned(Exactly(4), short, -5, 4), Inconclusive},
		{"a limit that longer training leaves", limit(AtLeast, 80, 0), learned(Exactly(20), short, 3, 20), Deviates},
		{"near print after a short training", equal(20, 0), learned(Exactly(20.2), short, 3, 20.2), Reproduced},
		{"the number itself", equal(1.22, 2), Exactly(1.22), Reproduced},
		{"just within half a digit and 2 %", equal(1.22, 2), Exactly(1.22 + 0.005 + 0.0244), Reproduced},
		{"just beyond", equal(1.22, 2), Exactly(1.2495), Deviates},
		{"an interval that reaches over the margin", equal(1.22, 2), sampled(1.24, 0.02), Inconclusive},
		{"a whole interval within", equal(1.22, 2), sampled(1.23, 0.01), Reproduced},
		{"a whole interval beyond", equal(1.22, 2), sampled(1.30, 0.01), Deviates},
		{"below a limit", limit(AtMost, 1.75, 2), sampled(1.7, 0.01), Reproduced},
		{"a limit widened by half a digit alone", limit(AtMost, 17, 0), Exactly(17.4), Reproduced},
		{"above a limit", limit(AtMost, 17, 0), Exactly(17.6), Deviates},
		{"below a least value", limit(AtLeast, 50, 0), Exactly(49.4), Deviates},
		{"inside a range", between, sampled(87, 1), Reproduced},
		{"over the end of a range", between, sampled(89.5, 1), Inconclusive},
		{"outside a range", between, sampled(93, 1), Deviates},
		{"inside a range, which has the variation of the paper's runs in it", between, withPrint(sampled(87, 1), 3), Reproduced},
		{"outside such a range", between, withPrint(sampled(93, 1), 3), Deviates},
		{"less, by a little", order, sampled(-0.02, 0.01), Reproduced},
		{"perhaps less", order, sampled(-0.02, 0.03), Inconclusive},
		{"more", order, sampled(0.02, 0.01), Deviates},
		{"a tie is not less", order, Exactly(0), Inconclusive},
		{"a stated limit has no digits", Claim{Relation: AtLeast, Published: 80, Stated: true, Margin: -1}, Exactly(79.9), Deviates},
		{"outside by 95 % but not by 97.5 %", Claim{Relation: Equal, Published: 10, Decimals: 1, Margin: 0.2}, sampled(10.35, 0.095), Inconclusive},
		{"a count that follows from a model", count, Exactly(19), Consistent},
		{"a count that does not", count, Exactly(20), Deviates},
		{"one training run", equal(5, 0), Measurement{Value: 5, Low: math.NaN(), High: math.NaN(), Replicates: 1, Unit: TrainingRuns}, Inconclusive},
		{"two training runs", equal(5, 0), Measurement{Value: 5, Low: 5, High: 5, Replicates: 2, Unit: TrainingRuns}, Inconclusive},
		{"a print with a sampling error of its own", equal(1.22, 2), Measurement{Value: 1.22, Low: 1.22, High: 1.22, PrintSE: 0.1, Replicates: 1000, Unit: Executions}, Inconclusive},
	} {
		if got := Judge(c.claim, c.value).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestCountsAreNotBelowZero: the interval of a mean of counts ends at 0, also with the sampling error of the paper's own
// experiment; that of other numbers does not.
func TestCountsAreNotBelowZero(t *testing.T) {
	for _, c := range []struct {
		values []float64
		count  bool
	}{{[]float64{0, 0, 1, 0, 0}, true}, {[]float64{0, 0, 1, 0, 0.5}, false}, {[]float64{0, 0, 3, 0, -1}, false}} {
		m, err := MeanOf(c.values, Executions, 5)
		if err != nil {
			t.Fatal(err)
		}
		claim := Claim{Relation: Equal, Published: 0.01, Decimals: 2, Margin: -1}
		if j := Judge(claim, m); (j.Low == 0) != c.count || (m.Low == 0) != c.count {
			t.Errorf("%v: [%v, %v], and from %v with the paper's error", c.values, m.Low, m.High, j.Low)
		}
	}
}

func TestDefaultMargin(t *testing.T) {
	for _, c := range []struct {
		claim Claim
		want  float64
	}{
		{Claim{Relation: Equal, Published: 1.22, Decimals: 2}, 0.0244},
		{Claim{Relation: Equal, Published: 0.02, Decimals: 2}, 0.005},
		{Claim{Relation: Equal, Published: 1.02, Decimals: 2, Compares: true, Neutral: 1}, 0.005},
		{Claim{Relation: Equal, Published: 11.7, Decimals: 1, Compares: true}, 0.234},
		{Claim{Relation: Equal, Published: 1, Decimals: 0, Compares: true}, 0.25},
	} {
		if got := c.claim.DefaultMargin(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v: margin %v, want %v", c.claim, got, c.want)
		}
	}
}

// draw is the mean of n normal values about truth with the deviation sd, as MeanOf would
// measure it. The intervals are by the normal distribution or Student's t, so that many draws
// are cheap; TestBootstrapIntervals compares them with MeanOf's own.
func draw(r *rand.Rand, truth, sd float64, n, paper int, unit Unit) Measurement {
	// The mean and the deviation of normal values are independent.
	mean := truth + r.NormFloat64()*sd/math.Sqrt(float64(n))
	chi := 0.0
	if n <= leastBootstrapped {
		for range n - 1 {
			z := r.NormFloat64()
			chi += z * z
		}
	} else {
		// Wilson and Hilferty's approximation is close at hundreds of degrees of freedom.
		k := float64(n - 1)
		chi = k * math.Pow(1-2/(9*k)+r.NormFloat64()*math.Sqrt(2/(9*k)), 3)
	}
	s := sd * math.Sqrt(chi/float64(n-1))
	m := Measurement{Value: mean, StdErr: s / math.Sqrt(float64(n)), Replicates: n, Unit: unit}
	half := m.quantile() * m.StdErr
	m.Low, m.High = mean-half, mean+half
	if paper > 0 {
		m.PrintSE = s / math.Sqrt(float64(paper))
	}
	return m
}

// simulations is the number of draws in each case.
var simulations = deep.N(2_000, 10_000)

// rates judges many draws. The paper prints the mean of its own sample, if it has one.
func rates(c Claim, truth, paperTruth, sd float64, n, paper int) map[Verdict]float64 {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	out := map[Verdict]float64{}
	for range simulations {
		printed := c
		if paper > 0 {
			noise := r.NormFloat64() * sd / math.Sqrt(float64(paper))
			printed.Published = paperTruth + noise
		}
		out[Judge(printed, draw(r, truth, sd, n, paper, Executions)).Verdict] += 1 / float64(simulations)
	}
	return out
}

// claims are a two-sided claim, limits and a range with the value at each end of the region
// that agrees.
var claims = []struct {
	name string
	Claim
	ends []float64
}{
	{"two-sided", Claim{Relation: Equal, Published: 10, Decimals: 1, Margin: 0.2}, []float64{9.75, 10.25}},
	{"at most", Claim{Relation: AtMost, Published: 10, Decimals: 1, Margin: -1}, []float64{10.05}},
	{"at least", Claim{Relation: AtLeast, Published: 10, Decimals: 1, Margin: -1}, []float64{9.95}},
	{"range", Claim{Relation: Between, Published: 9, To: 11, Margin: -1}, []float64{9, 11}},
}

// TestErrorRates: whatever the replicates and the noise, a truth that agrees is DEVIATES at
// most 2.5 % of the time, and one that does not agree is REPRODUCED at most 2.5 % of the time.
// The end of the region is the hardest case of both. Sampling noise of the simulation itself
// is allowed for with three standard errors.
func TestErrorRates(t *testing.T) {
	allowed := 0.025 + 3*math.Sqrt(0.025*0.975/float64(simulations))
	for _, c := range claims {
		for _, n := range []int{3, 10, 1000} {
			for _, sd := range []float64{0.01, 0.3, 3} {
				for _, paper := range []int{0, 10, 1000} {
					if paper > 0 && c.Relation != Equal {
						continue // the ends would move with the printed number
					}
					for _, end := range c.ends {
						got := rates(c.Claim, end, c.Published, sd, n, paper)
						if got[Deviates] > allowed || got[Reproduced] > allowed {
							t.Errorf("%s, %d replicates, deviation %v, paper's replicates %d, truth %v: %v", c.name, n, sd, paper, end, got)
						}
					}
				}
			}
		}
	}
}

// TestPower: with 1000 replicates and a standard error of a fifth of the region, a truth that
// equals print is REPRODUCED, and one that is off by twice the region DEVIATES, at least 95 %
// of the time.
func TestPower(t *testing.T) {
	c := claims[0].Claim
	a := c.Allowed()
	const n, paper = 1000, 1000
	sd := a / 5 * math.Sqrt(n) / math.Sqrt2 // two samples of the same size
	if got := rates(c, c.Published, c.Published, sd, n, paper); got[Reproduced] < 0.95 {
		t.Errorf("truth equals print: %v", got)
	}
	if got := rates(c, c.Published+2*a, c.Published, sd, n, paper); got[Deviates] < 0.95 {
		t.Errorf("truth off by twice the region: %v", got)
	}
}

// TestBootstrapErrorRates: with MeanOf's own intervals, of normal and of skewed values, a truth
// at either end of the region is REPRODUCED at most 2.5 % of the time, and DEVIATES as rarely.
// Of 30 skewed values somewhat more is allowed.
func TestBootstrapErrorRates(t *testing.T) {
	trials := deep.N(80, 400)
	c := Claim{Relation: Equal, Published: 10, Decimals: 1, Margin: 0.2}
	r := rand.New(rand.NewPCG(11, 11))
	for _, x := range []struct {
		name    string
		n       int
		draw    func() float64 // mean 0, deviation 1
		allowed float64
	}{
		{"normal", 30, r.NormFloat64, 0.025},
		{"exponential", 30, func() float64 { return r.ExpFloat64() - 1 }, 0.045},
		{"exponential", 200, func() float64 { return r.ExpFloat64() - 1 }, 0.025},
	} {
		for _, end := range []float64{9.75, 10.25} {
			for _, sign := range []float64{1, -1} {
				count := map[Verdict]float64{}
				for range trials {
					values := make([]float64, x.n)
					for i := range values {
						values[i] = end + sign*0.3*x.draw()
					}
					m, err := MeanOf(values, Executions, 0)
					if err != nil {
						t.Fatal(err)
					}
					count[Judge(c, m).Verdict] += 1 / float64(trials)
				}
				if limit := x.allowed + 3*math.Sqrt(x.allowed/float64(trials)); count[Reproduced] > limit || count[Deviates] > limit {
					t.Errorf("%d %s values (sign %v), truth %v: %v, at most %v", x.n, x.name, sign, end, count, limit)
				}
			}
		}
	}
}

// TestSingleTrainingRunNeverDecides, whatever it measured.
func TestSingleTrainingRunNeverDecides(t *testing.T) {
	for _, c := range claims {
		for _, v := range []float64{-1e9, 0, 10, 1e9} {
			for n := 1; n < 3; n++ {
				m, err := MeanOf(append([]float64{v}, make([]float64, n-1)...), TrainingRuns, 1)
				if err != nil {
					t.Fatal(err)
				}
				if j := Judge(c.Claim, m); j.Verdict != Inconclusive {
					t.Errorf("%s: %d training runs of %v: %s", c.name, n, v, j.Verdict)
				}
			}
		}
	}
}

// TestBootstrapIntervals: MeanOf's interval of many values is close to the normal one, and of
// few values it is Student's.
func TestBootstrapIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{3, 29, 30, 1000} {
		values := make([]float64, n)
		for i := range values {
			values[i] = r.NormFloat64()
		}
		m, err := MeanOf(values, Executions, 4*n)
		if err != nil {
			t.Fatal(err)
		}
		want := m.quantile() * m.StdErr
		for _, half := range []float64{m.Value - m.Low, m.High - m.Value} {
			if math.Abs(half/want-1) > 0.1 {
				t.Errorf("%d values: half-width %v, want about %v", n, half, want)
			}
		}
		if math.Abs(m.PrintSE-m.StdErr/2) > 1e-12 {
			t.Errorf("%d values: the standard error of four times as many is %v, want %v", n, m.PrintSE, m.StdErr/2)
		}
	}
}

// TestEnough: as many replicates as Judge asks for settle the verdict, if mean and deviation
// stay as they are, and a few percent fewer do not.
func TestEnough(t *testing.T) {
	c := claims[0].Claim
	at := func(n int) (Measurement, Judgement) {
		se := 3 / math.Sqrt(float64(n))
		m := Measurement{Value: 10.1, Low: 10.1 - 1.96*se, High: 10.1 + 1.96*se, StdErr: se, Replicates: n, Unit: Executions, PrintSE: 0.01}
		return m, Judge(c, m)
	}
	_, j := at(100)
	if j.Verdict != Inconclusive || j.Enough <= 100 {
		t.Fatalf("%+v", j)
	}
	for share, want := range map[float64]Verdict{1.03: Reproduced, 0.7: Inconclusive} {
		if _, again := at(int(share * float64(j.Enough))); again.Verdict != want {
			t.Errorf("%v of %d replicates: %s, want %s", share, j.Enough, again.Verdict, want)
		}
	}
	m, _ := at(100)
	m.PrintSE = 1
	if j := Judge(c, m); j.Verdict != Inconclusive || j.Enough != 0 {
		t.Errorf("no number of replicates helps against the print's own error, but %s", fmt.Sprint(j))
	}
	shared, _ := at(100)
	shared.Fixed = shared.StdErr / 5
	if more := Judge(c, shared); more.Enough <= j.Enough {
		t.Errorf("%d replicates are enough beside what they share, and %d alone", more.Enough, j.Enough)
	}
	if one := Judge(c, Measurement{Value: 10.1, Low: math.NaN(), High: math.NaN(), StdErr: math.NaN(), Replicates: 1, Unit: TrainingRuns}); one.Enough != 3 {
		t.Errorf("a training run needs %d, want 3", one.Enough)
	}
}

// TestCrossedCoversTheTruth: runs and draws have effects of their own, and the interval holds
// the true mean about 95 % of the time or more.
func TestCrossedCoversTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	trials := deep.N(80, 300)
	for _, runs := range []int{3, 5} {
		held, width := 0, 0.0
		for range trials {
			values := make([][]float64, runs)
			effect := make([]float64, 20)
			for j := range effect {
				effect[j] = r.NormFloat64()
			}
			for i := range values {
				own := r.NormFloat64()
				for j := range effect {
					values[i] = append(values[i], own+effect[j]+0.2*r.NormFloat64())
				}
			}
			m, err := Crossed(values)
			if err != nil {
				t.Fatal(err)
			}
			width += (m.High - m.Value) / float64(trials)
			if m.Low <= 0 && 0 <= m.High {
				held++
			}
		}
		if width > 8 {
			t.Errorf("%d runs: the mean half-width is %v; an interval that holds everything says nothing", runs, width)
		}
		if share := float64(held) / float64(trials); share < 0.95-3*math.Sqrt(0.05*0.95/float64(trials)) {
			t.Errorf("%d runs: the interval holds the truth in %v of the trials", runs, share)
		}
	}
	one, err := Crossed([][]float64{{1, 2, 3}})
	if err != nil || Judge(claims[0].Claim, one).Verdict != Inconclusive {
		t.Errorf("one run decides: %+v, %v", one, err)
	}
	if _, err := Crossed([][]float64{{1, 2}, {1}}); err == nil {
		t.Error("runs on different draws are accepted")
	}
}

// Where all draws agree, the deviation of the mean over a few runs is that of any few numbers: their
// standard deviation over the root of their number.
func TestCrossedDeviationOfFewRuns(t *testing.T) {
	for _, runs := range [][]float64{{1, 2, 6}, {3, 1, 4, 1, 5}} {
		values := make([][]float64, len(runs))
		for i, v := range runs {
			values[i] = []float64{v, v, v, v}
		}
		m, err := Crossed(values)
		if err != nil {
			t.Fatal(err)
		}
		if want := stat.StdDev(runs, nil) / math.Sqrt(float64(len(runs))); math.Abs(m.StdErr/want-1) > 0.05 {
			t.Errorf("%v: the deviation of the mean is %v, want about %v", runs, m.StdErr, want)
		}
	}
}

// TestAgrees: two measurements agree if their difference may be 0, or is surely no more than what is allowed.
func TestAgrees(t *testing.T) {
	sampled := func(mean float64, n int) Measurement { return Sampled(mean, 1, n, Executions, 0) }
	for what, c := range map[string]struct {
		a, b    Measurement
		allowed float64
		want    bool
	}{
		"the same":                     {sampled(1, 100), sampled(1, 100), 0, true},
		"within the interval":          {sampled(1, 100), sampled(1.27, 100), 0, true},
		"beyond it":                    {sampled(1, 100), sampled(1.28, 100), 0, false},
		"beyond it, as allowed":        {sampled(1, 1000), sampled(1.28, 1000), 0.37, true},
		"perhaps beyond both":          {sampled(1, 1000), sampled(1.28, 1000), 0.36, false},
		"of few, by Student's t":       {sampled(1, 5), sampled(2.7, 5), 0, true},
		"one that was not sampled":     {Exactly(1), sampled(1.19, 100), 0, true},
		"one beyond the interval":      {Exactly(1), sampled(1.20, 100), 0, false},
		"one without a standard error": {Measurement{Value: 1, StdErr: math.NaN(), Replicates: 1, Unit: TrainingRuns}, sampled(1, 100), 5, false},
	} {
		if c.a.Agrees(c.b, c.allowed) != c.want || c.b.Agrees(c.a, c.allowed) != c.want {
			t.Errorf("%s: agrees is not %v", what, c.want)
		}
	}
	if m := sampled(1, 100); m.Low != 1-0.1*m.quantile() || m.High != 1+0.1*m.quantile() || m.StdErr != 0.1 {
		t.Errorf("%+v", m)
	}
}

// The interval, the errors and the runs follow the sign of the scale.
func TestAffine(t *testing.T) {
	m := Measurement{Value: 2, Low: 1, High: 4, StdErr: 0.5, PrintSE: 0.25, Runs: []float64{1, 3}}
	got := m.Affine(-2, 10)
	if got.Value != 6 || got.Low != 2 || got.High != 8 || got.StdErr != 1 || got.PrintSE != 0.5 || !slices.Equal(got.Runs, []float64{8, 4}) {
		t.Errorf("%+v", got)
	}
	if m.Runs[0] != 1 {
		t.Error("the runs of the argument change")
	}
}
