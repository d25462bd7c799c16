package mfi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// profiles returns the profiles of the paper's GPU in the order of its tables, the
// largest first.
func profiles() []*mig.Profile {
	out := task.RequestProfiles(mig.MustLookup(gpu))
	slices.Reverse(out)
	return out
}

// tableI returns what Table I says about a profile: slices, instances and indexes.
func tableI(claims *figures.Claims, p *mig.Profile) (size, instances int, starts []mig.Slices) {
	for _, c := range claims.Of("table1") {
		profile, quantity, _ := strings.Cut(c.Name, " ")
		if profile != p.String() {
			continue
		}
		switch quantity {
		case "slices":
			size = int(c.Published)
		case "instances":
			instances = int(c.Published)
		default:
			starts = append(starts, mig.Slices(c.Published))
		}
	}
	return size, instances, starts
}

func table1(d *figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title: "Table I. MIG profiles of A100-80GB, the paper's beside the GPU model's",
		Columns: reports.Left("profile").
			Right("slices (paper)", "compute slices", "memory slices", "instances (paper)", "instances").
			Left("index (paper)", "index"),
		Notes: []string{
			"The paper's slices are memory slices, with one exception: 7g.80gb has 7 compute slices and takes all 8 memory slices, as F and the free slices count them.",
		},
	}
	for _, p := range profiles() {
		size, instances, starts := tableI(d.Claims, p)
		t.Rows = append(t.Rows, []string{
			p.String(), strconv.Itoa(size), fmt.Sprint(p.Size), fmt.Sprint(p.Length),
			strconv.Itoa(instances), strconv.Itoa(p.Max), fmt.Sprint(starts), fmt.Sprint(p.Starts),
		})
	}
	return (&figures.Output{Taken: "placements of the GPU model"}).Table("table1", t), nil
}

func table2(*figures.Data) (*figures.Output, error) {
	t := reports.Table{
		Title:   "Table II. Probability of each profile, as the generator of requests has it",
		Columns: reports.Left("profile").Right(distributions...),
	}
	for _, p := range profiles() {
		t.Rows = append(t.Rows, []string{p.String()})
	}
	load := []string{"mean memory slices of a request"}
	for _, d := range distributions {
		shares, err := probabilities(d)
		if err != nil {
			return nil, err
		}
		var mean float64
		for i, p := range profiles() {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4g", shares[i]))
			mean += float64(shares[i] * float64(p.Length)) // rounded before it is added
		}
		load = append(load, fmt.Sprintf("%.2f", mean))
	}
	t.Rows = append(t.Rows, load)
	return (&figures.Output{Taken: "probability in the generator of requests"}).Table("table2", t), nil
}

// probabilities returns a distribution in the order of [profiles].
func probabilities(distribution string) ([]float64, error) {
	in, err := datasets.InstanceOf[task.Requests](datasets.MustParse(demand(distribution, 1)), mig.MustLookup(gpu), 0)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(in.Demand)
	slices.Reverse(out)
	return out, nil
}
