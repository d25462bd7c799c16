package drl

import (
	"fmt"
	"math"
	"math/big"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/track"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// lBoundExample is a task that ends before l_bound (see [bounds.LBound]).
var lBoundExample = figures.Dataset("drl-bound")

// polarized is the workload of 6.5.1.
var polarized = workloads[4]

// text judges numbers of the text, which count things or summarize tables.
func text(claims *figures.Claims, h datasets.HardwareSet) figures.Artefact {
	quoted := []approach{approaches[0], approaches[1], approaches[5], approaches[6]}
	return figures.Artefact{
		Name: "text", Title: "numbers in the text",
		Needs: func(s figures.Scale) (out []figures.Need) {
			out = figures.NeedFirst(1, batch(lBoundExample, "far"), lBound(lBoundExample))
			for _, g := range polarized.generators() {
				for _, a := range quoted {
					out = append(out, a.need(s, polarized, g)...)
				}
			}
			for _, w := range workloads {
				for _, a := range []approach{direct, approaches[0], approaches[1]} {
					out = append(out, a.need(s, w, "")...)
				}
			}
			return out
		},
		Build: func(d *figures.Data) (*figures.Output, error) {
			values := figures.Values{}
			counts(values)
			why, err := slowdowns(values)
			if err != nil {
				return nil, err
			}
			onHardware(h, values, why)
			const valid = "l_bound over the makespan of a schedule"
			values[valid] = figures.Exactly(d.First(lBound(lBoundExample), track.MetricBound) / d.First(batch(lBoundExample, "far"), makespan))
			why[valid] = "refuted by one task of 100 s on up to 4 slices and 1 s on 7: l_bound charges a destroy that is not needed"

			const states = "order of magnitude (log10) of the states with N = M = 7"
			values[states] = figures.Exactly(logStates(7, 7))
			why[states] = "the printed formula gives more"

			improvements(d, values)
			for _, claim := range []string{leastImprovement, largestImprovement} {
				why[claim] = agentsDiffer
			}
			readings := []figures.Reading{figures.Lookup("", values)}
			for _, generator := range generators {
				values := figures.Values{}
				for _, a := range quoted {
					claim := polarized.name + " " + a.name
					values[claim] = d.MeanOf(a.pOpt(d, polarized, generator).all, replicates)
					why[claim] = "as in Table 4, whose numbers for the same are others"
				}
				// Readings with the same name concern different claims.
				readings = append(readings, figures.Lookup(generator, values))
			}
			readings = append(readings, figures.Lookup("N = 5, M = 7", figures.Values{states: figures.Exactly(logStates(5, 7))}))
			var fs []figures.Finding
			for _, c := range claims.Of("text") {
				own := d.Compare([]figures.Claim{c}, readings, func(claim string) string { return why[claim] })
				if own == nil {
					own = []figures.Finding{figures.Missing(c, needsHardware(c.Name))}
				}
				fs = append(fs, own...)
			}
			return figures.Found(fs...).
				Table("text", figures.ComparisonTable("Numbers in the text", fs)).
				Table("text-6.5.1", twice(claims, fs, quoted)), nil
		},
	}
}

// The claims about the agent's improvement over FAR and MISO (6.7).
const (
	leastImprovement   = "improvement of DIRECT RECONFIG over the baselines, least"
	largestImprovement = "improvement of DIRECT RECONFIG over the baselines, largest"
)

// improvements measures by how much the makespans of FAR and MISO exceed the agent's: the
// least and the largest mean over workloads.
func improvements(d *figures.Data, values figures.Values) {
	for _, w := range workloads {
		for _, a := range approaches[:2] {
			m := ratio(d, a, direct, kinds[0].of, []workload{w})
			if least, ok := values[leastImprovement]; !ok || m.Value < least.Value {
				values[leastImprovement] = m
			}
			if largest, ok := values[largestImprovement]; !ok || m.Value > largest.Value {
				values[largestImprovement] = m
			}
		}
	}
}

// twice compares what 6.5.1 and Table 4 say about MIXSCALINGEXTREME.
func twice(claims *figures.Claims, fs []figures.Finding, quoted []approach) reports.Table {
	t := reports.Table{
		Title:   "p_opt [%] of MIXSCALINGEXTREME in 6.5.1 and in Table 4",
		Columns: reports.Left("approach").Right("6.5.1", "Table 4", "measured"),
	}
	for _, a := range quoted {
		name := polarized.name + " " + a.name
		row := []string{a.name, "", fmt.Sprintf("%.2f", claims.Get("table4", name).Published), "-"}
		for _, f := range fs {
			if f.Name == name && f.Reading == "" {
				row[1] = fmt.Sprintf("%.*f", f.Decimals, f.Published)
				if f.Measured != nil {
					row[3] = fmt.Sprintf("%.2f", f.Measured.Value)
				}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// counts measures what follows from the GPU models: #Actions = 1 + #Configurations +
// N K (4.2).
func counts(values figures.Values) {
	count := func(name string, n int) { values[name] = figures.Exactly(float64(n)) }
	for _, name := range []string{"A30", "A100"} {
		g := mig.MustLookup(name)
		count("partitions of "+name, len(g.Partitions()))
		count("classes of equivalent partitions, "+name, len(g.Classes()))
		count("actions on "+name+" besides those of tasks", 1+len(g.Classes()))
		count("actions on "+name+" for each task", int(g.ComputeSlices))
	}
	g := mig.MustLookup("A100")
	count("partitions of A100 that leave no slice idle", len(g.Useful()))
	count("actions on A100 with N = 14", 1+len(g.Classes())+n*int(g.ComputeSlices))
}

// logStates is log10 of the number of states on A100 as 4.1 prints it, the sum over i
// up to N of C(C(M+4, 5), i) 7 M^6.
func logStates(n, m int64) float64 {
	classes := new(big.Int).Binomial(m+4, 5).Int64()
	sum := new(big.Int)
	for i := int64(1); i <= n; i++ {
		sum.Add(sum, new(big.Int).Binomial(classes, i))
	}
	sum.Mul(sum, new(big.Int).Mul(big.NewInt(7), new(big.Int).Exp(big.NewInt(m), big.NewInt(6), nil)))
	f, _ := new(big.Float).SetInt(sum).Float64()
	return math.Log10(f)
}

// beyondNoise is the ratio of times from which on a kernel counts as slower. FAR 2.4 and DRL
// 2.1 say that measurements vary by 2 %.
const beyondNoise = 1.02

// slowdowns counts the public kernels that are slower on larger instances. The reasons by
// claim name the kernels.
func slowdowns(values figures.Values) (map[string]string, error) {
	b, err := kernelsOn("A100")
	if err != nil {
		return nil, err
	}
	var at4, anywhere []string
	sizes := mig.MustLookup("A100").Sizes()
	for i := range b {
		k := &b[i]
		if k.On(4) > beyondNoise*k.On(3) {
			at4 = append(at4, k.Name)
		}
		for j, large := range sizes {
			slower := false
			for _, small := range sizes[:j] {
				slower = slower || k.On(large) > beyondNoise*k.On(small)
			}
			if slower {
				anywhere = append(anywhere, k.Name)
				break
			}
		}
		if k.Name == "Myocyte" {
			values["Myocyte on one slice"] = figures.Exactly(float64(k.On(1)))
		}
	}
	why := map[string]string{"Myocyte on one slice": "of the public input, which need not be the paper's"}
	for name, kernels := range map[string][]string{
		"kernels more than 2 % slower on 4 slices than on 3": at4, "kernels more than 2 % slower on some larger instance": anywhere,
	} {
		values[name] = figures.Exactly(float64(len(kernels)))
		why[name] = "the public times refute it: " + reading(kernels...)
	}
	return why, nil
}
