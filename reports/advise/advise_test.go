package advise

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/advise"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/task"
)

func layoutsOf(t *testing.T, g *mig.GPU, names ...string) (out []mig.Partition) {
	t.Helper()
	for _, name := range names {
		p, err := g.ParseLayout(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestLayoutsOfNodes: nodes of one kind share a label, and the whole node is one of gres.conf.
func TestLayoutsOfNodes(t *testing.T) {
	g := mig.MustLookup("H100")
	p := Page{Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, PerNode: 2, Requests: task.Requests{}}, GPUs: 5,
		Whole: g.Profile(7), Fixed: advise.Fixed{Geometry: layoutsOf(t, g, "7", "7", "7", "4-3", "3-3")},
	}}
	kinds, nodes, line := p.layouts()
	var got []string
	for _, l := range append(kinds, nodes...) {
		names := []string{}
		for _, p := range l.Profiles {
			names = append(names, p.String())
		}
		got = append(got, l.Label+" "+strings.Join(names, ","))
	}
	want := []string{
		"advice-1 ", "advice-2 ", "advice-2 4g.40gb,3g.40gb", "advice-3 3g.40gb,3g.40gb",
		"node0 ", "node1 4g.40gb,3g.40gb", "node2 3g.40gb,3g.40gb",
	}
	if line != "node0 has advice-1. node1 has advice-2. node2 has advice-3." || nodes[0].Whole != 2 {
		t.Errorf("%s; %d whole", line, nodes[0].Whole)
	}
	if !slices.Equal(got, want) || !slices.Equal(kinds[2].Devices, []int{1}) {
		t.Errorf("%q, devices %v; want %q", got, kinds[2].Devices, want)
	}
}

// TestLayoutsOfASnapshot: GPUs of requests for several have MIG off in both files.
func TestLayoutsOfASnapshot(t *testing.T) {
	g := mig.MustLookup("H100")
	small, half, whole := g.Profile(1), g.Profile(3), new(mig.Profile)
	in := task.Requests{Requests: []task.Request{{Profile: g.Profile(7), GPUs: 2, Lifespan: 1}, {Profile: small, Lifespan: 1}, {Profile: half, Lifespan: 1}}}
	p := Page{
		Lines: []int{4, 6, 9},
		Types: layout.Types{Whole: "h100"},
		Advice: &advise.Advice{
			Question: &advise.Question{GPU: g, Requests: in, Snapshot: true}, GPUs: 3, Below: 2,
			Profiles: []advise.Demand{{Profile: small, Requests: 1, GPUHours: 1}, {Profile: whole, Requests: 1, Several: 1, GPUHours: 3}},
			Needs:    []advise.Need{{GPUs: 3}},
			Held:     advise.Held{Layouts: [][]*mig.Profile{{whole}, {whole}, {half, small}}, Omitted: []int{1, 2}}, Whole: whole,
		},
	}
	folder := t.TempDir()
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"mig-parted.yaml": "    - devices:\n        - 0\n        - 1\n      mig-enabled: false\n      mig-devices: {}\n    - devices:\n        - 2\n      mig-enabled: true\n",
		"gres.conf":       "NodeName=node0 Name=gpu Type=h100 Count=2\n",
		"left.csv":        "line,profile,gpus\n6,1g.10gb,1\n9,3g.40gb,1\n",
		"advice.md":       "On 3 GPUs no room was found for 2 requests, in the lines 6, 9.",
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s\nwant %s", name, err, text, want)
		}
	}
	if text := p.whole(); !strings.HasPrefix(text, " 1 request needs a whole GPU, 1 of them several at once: MIG must be off") {
		t.Error(text)
	}
}

// TestSnapshotWithoutLines: a page without the lines of its file still has the requests that do not fit.
func TestSnapshotWithoutLines(t *testing.T) {
	g := mig.MustLookup("H100")
	p := Page{Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, Requests: task.Requests{Requests: []task.Request{{Profile: g.Profile(1), Lifespan: 1}}}, Snapshot: true},
		GPUs:     1, Profiles: []advise.Demand{{Profile: g.Profile(1), Requests: 1, GPUHours: 1}}, Needs: []advise.Need{{GPUs: 1}},
		Held: advise.Held{Layouts: [][]*mig.Profile{nil}, Omitted: []int{0}},
	}}
	folder := t.TempDir()
	if err := p.Write(folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"left.csv": "line,profile,gpus\n–,1g.10gb,1\n", "advice.md": "On 1 GPU no room was found for 1 request.",
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s\nwant %s", name, err, text, want)
		}
	}
}

// TestBackticksInTheCommand: the code span of the command is longer than any backticks in it.
func TestBackticksInTheCommand(t *testing.T) {
	g := mig.MustLookup("H100")
	p := Page{Command: "miglab advise 'a``b`.csv'", Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, Snapshot: true, Requests: task.Requests{Requests: []task.Request{{Profile: g.Profile(1), Lifespan: 1}}}},
		Profiles: []advise.Demand{{Profile: g.Profile(1), Requests: 1, GPUHours: 1}}, Needs: []advise.Need{{GPUs: 1}},
	}}
	var b strings.Builder
	if err := p.Markdown(&b); err != nil || !strings.Contains(b.String(), "Made by ```miglab advise 'a``b`.csv'```.\n") {
		t.Errorf("%v, %s", err, b.String())
	}
}

// TestFixedCost: a fixed geometry may delay less than the best policy; the difference then has no sign.
func TestFixedCost(t *testing.T) {
	cost := stats.BlockEstimate{Mean: -3, Low: -4, High: -2, Blocks: 9}
	g := mig.MustLookup("H100")
	p := Page{Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, Named: []*mig.Profile{g.Profile(3)}}, Profiles: []advise.Demand{{Profile: g.Profile(3), Requests: 84}, {Profile: g.Profile(7), Requests: 1}},
		GPUs: 1, Policies: []advise.Compared{{Outcome: advise.Outcome{Policy: "ff"}}}, Fixed: advise.Fixed{Geometry: layoutsOf(t, g, "7"), Cost: cost},
	}}
	for _, want := range []string{"3.0 s (2.0 s to 4.0 s) less than ff", "It has no 3g.40gb (84 requests), which Slurm rejects"} {
		if got := p.fixed().answer; !strings.Contains(got, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
}

// TestNamedWholeGPU: jobs that name 7g.80gb need MIG, jobs for a whole GPU need a GPU without it.
func TestNamedWholeGPU(t *testing.T) {
	g := mig.MustLookup("H100")
	whole := new(mig.Profile)
	for _, snapshot := range []bool{false, true} {
		p := Page{Advice: &advise.Advice{Whole: whole, Question: &advise.Question{GPU: g, Snapshot: snapshot}}}
		if snapshot {
			p.Advice.Held = advise.Held{Layouts: [][]*mig.Profile{{g.Profile(7)}, {whole}, nil}}
		} else {
			p.Advice.Fixed.Geometry = append(layoutsOf(t, g, "7"), mig.Partition{{Profile: whole}})
		}
		kinds, nodes, _ := p.layouts()
		if len(kinds) != 2 || len(kinds[0].Profiles) != 1 || kinds[1].Profiles != nil || nodes[0].Whole != len(p.instances())-1 {
			t.Errorf("snapshot %t: %+v, %+v", snapshot, kinds, nodes)
		}
		var b strings.Builder
		if err := p.layoutTable().Text(&b); err != nil || !strings.Contains(b.String(), "\n7g.80gb       1\nMIG off       1\n") {
			t.Errorf("%v, %s", err, &b)
		}
	}
}

// TestEveryNamedProfile: the answer says that the geometry has every named profile.
func TestEveryNamedProfile(t *testing.T) {
	g := mig.MustLookup("H100")
	p := Page{Advice: &advise.Advice{
		Question: &advise.Question{GPU: g, Named: []*mig.Profile{g.Profile(1), g.Profile(3)}},
		Profiles: []advise.Demand{{Profile: g.Profile(1), Requests: 5}, {Profile: g.Profile(3), Requests: 84}},
		Policies: []advise.Compared{{Outcome: advise.Outcome{Policy: "ff"}}},
		Fixed:    advise.Fixed{GPUs: 2, Geometry: layoutsOf(t, g, "3-3", "1-1-1-1-3"), Mean: stats.BlockEstimate{Mean: 50}},
	}}
	const want = "On 2 GPUs, the best geometry found with every profile that jobs name delays"
	if got := p.fixed().answer; !strings.Contains(got, want) {
		t.Errorf("%s; want %s", got, want)
	}
}

// TestWhatTheEvidenceAllows: a short trace, an interval above the target and a least number without some pods are said.
func TestWhatTheEvidenceAllows(t *testing.T) {
	g := mig.MustLookup("H100")
	two := task.Requests{Requests: make([]task.Request, 2)}
	wide := stats.BlockEstimate{Mean: 400, Low: 0, High: 900, Blocks: 20}
	needs := []advise.Need{{Policy: "ff", GPUs: 10, Mean: wide, Least: true, Gap: true}}
	a := &advise.Advice{
		Question: &advise.Question{GPU: g, Requests: two, Wait: 600, P95: -1}, GPUs: 10, Needs: needs, Span: advise.Span{Few: true},
		Policies: []advise.Compared{{Outcome: advise.Outcome{Policy: "ff"}}, {Outcome: advise.Outcome{Policy: "mfi"}}},
	}
	p := Page{Advice: a}
	var table strings.Builder
	if err := p.gpus().table.Text(&table); err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		table.String(): "do not suffice; one more waits too long",
		strings.Join(strings.Fields(table.String()), " "): "do not suffice: each smaller number that is not proven too few was simulated, and waits too long may suffice: not all of these were simulated",
		p.summary():       "Too few to decide anything: 2 requests in 0.0 s. For a mean wait of at most 10.0 min: 10 GPUs",
		p.policyAnswer():  "the trace cannot tell them apart",
		p.gpus().answer:   "on 10 GPUs. The interval reaches above the target, so that the GPUs may be too few, for: ",
		p.moving().answer: "Not answered",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s; want %s", got, want)
		}
	}
	needs = append(needs, advise.Need{Policy: "hami-binpack", GPUs: 9})
	a.Needs = needs
	two.Requests[0].Lifespan, two.Requests[1].Lifespan = 600, 1200
	a.Span = advise.Span{Block: 3600, Blocks: 20}
	a.Question.Named = []*mig.Profile{g.Profile(1)}
	if got := p.summary(); !strings.Contains(got, ": 10 GPUs with first fit, 9 with hami-binpack, 0 with fixed instances of every profile that jobs name, at least") {
		t.Error(got)
	}
	if got := p.span(); got != " over 20.0 h, median lifetime 15.0 min" {
		t.Error(got)
	}
	a.Question.Snapshot = true
	if got := p.summary(); got != "All requests at once fit on 10 GPUs and on no fewer." {
		t.Error(got)
	}
	if p.Partial = true; strings.Contains(p.summary(), "fewer") {
		t.Error(p.summary())
	}
}

func TestWords(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0.0 s", 119: "119.0 s", -150: "-2.5 min", 7200: "2.0 h", 259200: "3.0 days"} {
		if got := duration(seconds); got != want {
			t.Errorf("%v: %s, want %s", seconds, got, want)
		}
	}
}
