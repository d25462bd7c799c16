package advise

import (
	"slices"
	"strings"
	"testing"

	"miglab/harness/advise"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestLayoutsOfNodes: nodes of one kind share a label, and the whole node is one of gres.conf.
func TestLayoutsOfNodes(t *testing.T) {
	g := mig.MustLookup("H100")
	p := Page{Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, PerNode: 2, Requests: task.Requests{}}, GPUs: 5,
		Fixed: advise.Fixed{Geometry: []string{"7", "7", "7", "4-3", "3-3"}},
	}}
	kinds, nodes, err := p.layouts()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range append(kinds, nodes...) {
		names := []string{}
		for _, p := range l.Profiles {
			names = append(names, p.String())
		}
		got = append(got, l.Label+" "+strings.Join(names, ","))
	}
	want := []string{
		"advice-1 7g.80gb", "advice-2 7g.80gb", "advice-2 4g.40gb,3g.40gb", "advice-3 3g.40gb,3g.40gb",
		"node0 7g.80gb,7g.80gb", "node1 7g.80gb,4g.40gb,3g.40gb", "node2 3g.40gb,3g.40gb",
	}
	if !slices.Equal(got, want) || !slices.Equal(kinds[2].Devices, []int{1}) {
		t.Errorf("%q, devices %v; want %q", got, kinds[2].Devices, want)
	}
}

func TestWords(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0.0 s", 119: "119.0 s", -150: "-2.5 min", 7200: "2.0 h", 259200: "3.0 days"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
	if got := list([]string{"a", "b", "c"}) + "; " + list([]string{"a"}); got != "a, b and c are; a is" {
		t.Error(got)
	}
}
