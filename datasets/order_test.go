package datasets

import (
	"slices"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

func TestLastMovesOneKernel(t *testing.T) {
	g := mig.MustLookup("A100")
	names := func(spec string) []string {
		in, err := InstanceOf[task.Batches](MustParse(spec), g, 0)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for i := range in.Tasks {
			out = append(out, in.Tasks[i].Name)
		}
		return out
	}
	want := names("rodinia")
	i := slices.Index(want, "HotSpot")
	want = append(slices.Delete(want, i, i+1), "HotSpot")
	if got := names("rodinia?last=HotSpot"); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	for _, bad := range []string{"rodinia?last=", "rodinia?last=HotSpots", "rodinia?last=DWT2D", "a30-batch?last=LU"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}
