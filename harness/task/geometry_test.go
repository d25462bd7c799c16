package task_test

import (
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestRequestsForWhatExists: each request asks for the smallest instance with its memory and slices; work takes less time
// on a larger one.
func TestRequestsForWhatExists(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g) // 1g 1g.20gb 2g 3g 4g 7g
	in := task.Requests{GPUs: 3, Demand: []float64{1}, Requests: []task.Request{
		{Lifespan: 8, Profile: p[0]},
		{Lifespan: 8, Profile: p[1]},
		{Lifespan: 8, Profile: p[3]},
		{Lifespan: 815, Work: 114, MemoryMB: 10240, Profile: p[0]},
		{Lifespan: 300, Work: 84, MemoryMB: 40960, Profile: p[3]},
	}}
	if err := in.UseGeometry(g, []string{"4-2-1", "2-2-3"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		p    *mig.Profile
		last int
	}{{p[0], 8}, {p[2], 8}, {p[3], 8}, {p[0], 815}, {p[3], 200}} {
		if q := in.Requests[i]; q.Profile != want.p || q.Lifespan != want.last {
			t.Errorf("request %d asks for %v, %d slots; want %v, %d", i, q.Profile, q.Lifespan, want.p, want.last)
		}
	}
	if in.Demand != nil || len(in.Geometry) != 3 || in.Geometry[2].String() != "4-2-1" {
		t.Errorf("the geometry is %v, the demand %v", in.Geometry, in.Demand)
	}
	if !in.Geometry.Has(1, mig.Instance{Profile: p[3], Start: 4}) || in.Geometry.Has(0, mig.Instance{Profile: p[3], Start: 4}) {
		t.Error("3g is at slice 4 of GPU 1 only")
	}
	in.Geometry = nil
	if err := in.UseGeometry(g, []string{"4-2-1"}); err != nil || in.Requests[4].Profile != p[4] || in.Requests[4].Lifespan != 148 {
		t.Errorf("%+v, %v; want 4g for 84 / 0.57", in.Requests[4], err)
	}
	in = task.Requests{GPUs: 2, Requests: []task.Request{{Lifespan: 8, Profile: p[0]}, {Lifespan: 8, Profile: p[1]}, {Lifespan: 8, Profile: p[3]}}}
	if err := in.UseGeometry(g, []string{"1g.20gb-3g.40gb", "1g.20gb-1g.10gb"}); err != nil {
		t.Fatal(err)
	}
	if in.Requests[0].Profile != p[0] || in.Requests[1].Profile != p[1] || in.Geometry[0][1].Start != 4 || in.Geometry[0].String() != "1g.20gb-3" {
		t.Errorf("%v, %v", in.Requests, in.Geometry)
	}
	for names, want := range map[string]string{
		"3g.40gb-4g.40gb":         "cannot have the instances",
		"3g.20gb":                 "unknown profile",
		"2-2-2-1":                 "request 2 asks for 3g.40gb; all instances of [2-2-2-1] are smaller",
		"7 7 7 7":                 "the geometry has 4 partitions; the cluster has 3 GPUs",
		"5-2":                     "unknown partition",
		"4-2-1 5-2":               "unknown partition",
		"3-3 3-3 3-3 3-3 3-3 3-3": "6 partitions",
	} {
		bad := task.Requests{GPUs: 3, Requests: []task.Request{{Lifespan: 8, Profile: p[0]}, {Lifespan: 8, Profile: p[1]}, {Lifespan: 8, Profile: p[3]}}}
		if err := bad.UseGeometry(g, strings.Fields(names)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", names, err, want)
		}
	}
}
