package algorithms

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

//go:embed testdata/far.json
var referenceJSON []byte

// referenceCase is an instance with what the FAR authors' released code gives on it.
type referenceCase struct {
	Name      string
	GPU       string
	Tasks     []map[string]float64
	AreaTies  int `json:"area_ties"`
	Family    []string
	Phase2    []float64          `json:"phase2_s"`
	Unrefined float64            `json:"far_unrefined_s"`
	FAR       float64            `json:"far_s"`
	Moves     int                `json:"moves"`
	Swaps     int                `json:"swaps"`
	MISO      float64            `json:"miso_s"`
	FixPart   map[string]float64 `json:"fixpart_s"`
	NoMIG     float64            `json:"nomig_s"`
	LBound    float64            `json:"l_bound_s"` // 0 where the code gives none
	Area      float64            `json:"area_s"`
}

func (c *referenceCase) problem(model mig.Reconfiguration) algo.Problem {
	var tasks task.Batch
	for i, times := range c.Tasks {
		t := task.New(fmt.Sprintf("t%02d", i), nil)
		for s, d := range times {
			size, _ := strconv.Atoi(s)
			t.Set(mig.Slices(size), mig.Seconds(d))
		}
		tasks = append(tasks, t)
	}
	return algo.Problem{GPU: mig.MustLookup(c.GPU), Model: model, Tasks: tasks}
}

func referenceCases(t testing.TB) []referenceCase {
	var file struct{ Cases []referenceCase }
	if err := json.Unmarshal(referenceJSON, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 13 {
		t.Fatalf("%d reference cases, want 13", len(file.Cases))
	}
	return file.Cases
}

// allocation returns allocation k of a family as a string of sizes.
func (f *family) allocation(p algo.Problem, k int) string {
	sizes := make([]string, len(p.Tasks))
	for c, spans := range f.spans {
		for i := range spans {
			if spans[i].holds(k) {
				sizes[spans[i].task] = strconv.Itoa(int(p.GPU.Sizes()[c]))
			}
		}
	}
	return strings.Join(sizes, "")
}

func TestFamilyAndPhase2MatchReleasedCode(t *testing.T) {
	for _, c := range referenceCases(t) {
		p := c.problem(mig.Sequential)
		f := newFamily(p)
		if len(f.bound) != len(c.Family) {
			t.Errorf("%s: %d allocations, want %d", c.Name, len(f.bound), len(c.Family))
			continue
		}
		r := newRepartitioner(p, f)
		for k := range len(f.bound) {
			if got := f.allocation(p, k); got != c.Family[k] {
				t.Errorf("%s: allocation %d is %s, want %s", c.Name, k, got, c.Family[k])
			}
			got := r.makespan(k, math.Inf(1), nil)
			if math.Abs(got-c.Phase2[k]) > 1e-6 {
				if c.AreaTies == 0 {
					t.Errorf("%s: allocation %d takes %v s, want %v", c.Name, k, got, c.Phase2[k])
				} else {
					t.Logf("%s (%d area ties): allocation %d takes %v s, released code %v", c.Name, c.AreaTies, k, got, c.Phase2[k])
				}
			}
		}
		if _, got := r.best(t.Context()); math.Abs(got-c.Unrefined) > 1e-6 {
			t.Errorf("%s: phase 2 gives %v s, want %v", c.Name, got, c.Unrefined)
		}
	}
}

func mustSchedule(t testing.TB, id string, p algo.Problem) schedule.Schedule {
	t.Helper()
	s, err := algo.MustParse(id).Schedule(context.Background(), p)
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	return s
}

func TestRefinedFARIsNoWorseThanReleasedCode(t *testing.T) {
	for _, c := range referenceCases(t) {
		s := mustSchedule(t, "far", c.problem(mig.Sequential))
		if got := float64(s.Makespan()); got > c.FAR+1e-6 {
			t.Errorf("%s: %v s, released code %v", c.Name, got, c.FAR)
		} else {
			t.Logf("%s: %v s (%d moves, %d swaps), released code %v (%d, %d)", c.Name, got, s.Counters["moves"], s.Counters["swaps"], c.FAR, c.Moves, c.Swaps)
		}
	}
}

func TestBaselinesMatchReleasedCode(t *testing.T) {
	for _, c := range referenceCases(t) {
		p := c.problem(mig.Free)
		want := map[string]float64{"miso": c.MISO, "nomig": c.NoMIG, "fixpartbest": math.Inf(1)}
		for part, m := range c.FixPart {
			want["fixpart?p="+part] = m
			want["fixpartbest"] = min(want["fixpartbest"], m)
		}
		if len(c.FixPart) != len(p.GPU.Partitions()) {
			t.Errorf("%s: %d partitions, want %d", c.Name, len(c.FixPart), len(p.GPU.Partitions()))
		}
		for id, w := range want {
			s := mustSchedule(t, id, p)
			if got := float64(s.Makespan()); math.Abs(got-w) > 1e-6 {
				t.Errorf("%s: %s takes %v s, want %v", c.Name, id, got, w)
			}
		}
	}
}

func TestBoundsMatchReleasedCode(t *testing.T) {
	lBounds := 0
	for _, c := range referenceCases(t) {
		p := c.problem(mig.Sequential)
		area, err := bounds.Area(p)
		if err != nil || math.Abs(float64(area)-c.Area) > 1e-6 {
			t.Errorf("%s: area bound %v s, %v; want %v", c.Name, area, err, c.Area)
		}
		if c.LBound == 0 {
			continue
		}
		lBounds++
		l, err := bounds.LBound(p)
		if err != nil || math.Abs(float64(l)-c.LBound) > 1e-6 {
			t.Errorf("%s: l_bound %v s, %v; want %v", c.Name, l, err, c.LBound)
		}
	}
	if lBounds != 7 {
		t.Errorf("%d cases have an l_bound, want 7", lBounds)
	}
}
