package sim

import (
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestFixedGeometry: the engine and the referee keep an instance where its GPU has it, and a stream that needs more of
// them at once than there are never begins.
func TestFixedGeometry(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	three, seven := profileOf(t, g, "3g.40gb"), profileOf(t, g, "7g.80gb")
	in := task.Requests{GPUs: 2, Waiting: task.Retry, Requests: []task.Request{{Lifespan: 4, Profile: three}, {Lifespan: 1, Profile: three}}}
	if err := in.UseGeometry(g, []string{"7", "2-2-3"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   Spot
		want string
	}{
		{Spot{0, 0}, "3g.40gb cannot be placed on GPU 0 at slice 0: it may start at []"},
		{Spot{1, 0}, "3g.40gb cannot be placed on GPU 1 at slice 0: it may start at [4]"},
	} {
		if _, err := RunWaiting(g, in, &script{c.at}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
		err := CheckWaiting(waited(in, []int{0, 4}, [][]Spot{{c.at}, {{1, 4}}}))
		if err == nil || !strings.Contains(err.Error(), "request 0 has 3g.40gb") || !strings.Contains(err.Error(), "where it cannot be") {
			t.Errorf("the referee says %v", err)
		}
	}
	in.Requests = []task.Request{{Lifespan: 1, Profile: seven, GPUs: 2}}
	if _, err := RunWaiting(g, in, firstSpot{}); err == nil || err.Error() != "request 0 needs 2 of 7g.80gb and would wait forever; the geometry has 1" {
		t.Error(err)
	}
}
