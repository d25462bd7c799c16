package reports

import (
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
)

// placedOn places profiles, by name, on an A100-80GB.
func placedOn(name string, start mig.Slices) mig.Instance {
	p, err := mig.MustLookup("A100-80GB").ProfileByName(name)
	if err != nil {
		panic(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// sampleMasks has GPU 2 of MFI Fig. 3a, whose slices 2, 3 and 5 are in use.
func sampleMasks() Masks {
	return Masks{
		Title: "A rejected workload",
		GPU:   mig.MustLookup("A100-80GB"),
		Rows: []MaskRow{
			{Label: "GPU 1", Instances: []mig.Instance{placedOn("3g.40gb", 4)}},
			{Label: "GPU 2", Instances: []mig.Instance{placedOn("2g.20gb", 2), placedOn("1g.10gb", 5)}, Rejected: placedOn("3g.40gb", 0).Profile},
		},
	}
}

func TestEmptyMasksAreRefused(t *testing.T) {
	checkRefused(t, sampleMasks, []refusal[Masks]{
		{func(f *Masks) { f.GPU = nil }, "needs a GPU model"},
		{func(f *Masks) { f.Rows = nil }, "at least one row"},
	})
}

func TestAnyMasksAreDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		f := Masks{Title: names.Draw(t, "title"), GPU: g}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			r := MaskRow{Label: names.Draw(t, "label")}
			var used mig.Mask
			for range rapid.IntRange(0, 6).Draw(t, "instances") {
				p := rapid.SampledFrom(g.Profiles).Draw(t, "profile")
				in := mig.Instance{Profile: p, Start: rapid.SampledFrom(p.Starts).Draw(t, "start")}
				if used&in.Mask() == 0 {
					used |= in.Mask()
					r.Instances = append(r.Instances, in)
				}
			}
			if rapid.Bool().Draw(t, "rejects") {
				r.Rejected = rapid.SampledFrom(g.Profiles).Draw(t, "rejected")
			}
			f.Rows = append(f.Rows, r)
		}
		checkDrawn(t, f)
	})
}
