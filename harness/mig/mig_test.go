package mig_test

import (
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
)

func TestMaximalPartitionsFollowFigure1(t *testing.T) {
	seven := strings.Fields("7 4-3 4-2-1 4-1-1-1 3-3 3-2-1 3-1-1-1 2-2-3 2-2-2-1 2-2-1-1-1 2-1-1-3 2-1-1-2-1 " +
		"2-1-1-1-1-1 1-1-2-3 1-1-2-2-1 1-1-2-1-1-1 1-1-1-1-3 1-1-1-1-2-1 1-1-1-1-1-1-1")
	four := strings.Fields("4 2-2 2-1-1 1-1-2 1-1-1-1")
	boards := map[string][]string{
		"A30": four, "RTX-PRO-6000": four, "RTX-PRO-5000": strings.Fields("4 2-1 1-1-1"),
	}
	for _, g := range mig.GPUs() {
		var got []string
		want := boards[g.Name]
		if want == nil {
			want = seven
		}
		for _, p := range g.Partitions() {
			got = append(got, p.String())
			back, err := g.ParsePartition(p.String())
			if err != nil || !slices.Equal(back, p) {
				t.Errorf("%s: ParsePartition(%s) = %v, %v", g, p, back, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: partitions\n got %v\nwant %v", g, got, want)
		}
	}
}

func TestDoubleMemoryGives78Partitions(t *testing.T) {
	g := mig.MustLookup("A100")
	got := g.PartitionsOf(func(p *mig.Profile) bool { return !p.MediaExtensions })
	if len(got) != 78 {
		t.Errorf("%d maximal partitions with double memory, want 78", len(got))
	}
	multisets := map[string]bool{}
	for _, p := range g.Partitions() {
		s := strings.Split(p.String(), "-")
		slices.Sort(s)
		multisets[strings.Join(s, "-")] = true
	}
	if len(multisets) != 14 {
		t.Errorf("%d distinct multisets of sizes, want 14", len(multisets))
	}
}

func TestPartitionsAreDisjointAndMaximal(t *testing.T) {
	for _, g := range mig.GPUs() {
		for _, p := range g.Partitions() {
			var m mig.Mask
			for _, in := range p {
				if m&in.Mask() != 0 {
					t.Errorf("%s %s: instances overlap", g, p)
				}
				m |= in.Mask()
			}
			if m != p.Mask() {
				t.Errorf("%s %s: mask %08b, want %08b", g, p, p.Mask(), m)
			}
			for _, n := range g.Tree() {
				if m&n.Mask() == 0 {
					t.Errorf("%s %s is not maximal: %s can be added", g, p, n)
				}
			}
		}
	}
}

// TestTreeIsLaminar checks a property from FAR 1.2: two instances are disjoint, or one
// covers the other.
func TestTreeIsLaminar(t *testing.T) {
	for _, g := range mig.GPUs() {
		tree := g.Tree()
		for i, a := range tree {
			for _, b := range tree[i+1:] {
				common := a.Mask() & b.Mask()
				if common != 0 && common != a.Mask() && common != b.Mask() {
					t.Errorf("%s: %s and %s cross", g, a, b)
				}
			}
			if i > 0 && tree[a.Parent].Mask()&a.Mask() != a.Mask() {
				t.Errorf("%s: the parent of %s does not cover it", g, a)
			}
		}
	}
}

func TestTreeFollowsFigure4(t *testing.T) {
	want := map[string]string{
		"A30":  "4@0(2@0(1@0 1@1) 2@2(1@2 1@3))",
		"A100": "7@0(4@0(3@0(2@0(1@0 1@1) 2@2(1@2 1@3))) 3@4(2@4(1@4 1@5) 1@6))",
	}
	for name, w := range want {
		tree := mig.MustLookup(name).Tree()
		var draw func(int) string
		draw = func(i int) string {
			s := tree[i].String()
			if len(tree[i].Children) == 0 {
				return s
			}
			var c []string
			for _, j := range tree[i].Children {
				c = append(c, draw(j))
			}
			return s + "(" + strings.Join(c, " ") + ")"
		}
		if got := draw(0); got != w {
			t.Errorf("%s: %s, want %s", name, got, w)
		}
	}
}

func TestSixteenUsefulConfigurationsFallInto13Classes(t *testing.T) {
	g := mig.MustLookup("A100")
	if n := len(g.Useful()); n != 16 {
		t.Errorf("%d useful configurations, want 16", n)
	}
	var merged []string
	for _, c := range g.Classes() {
		if len(c) > 1 {
			var s []string
			for _, p := range c {
				s = append(s, p.String())
			}
			merged = append(merged, strings.Join(s, "="))
		}
	}
	want := []string{"2-1-1-3=1-1-2-3", "2-1-1-2-1=1-1-2-2-1", "2-1-1-1-1-1=1-1-2-1-1-1"}
	if len(g.Classes()) != 13 || !slices.Equal(merged, want) {
		t.Errorf("%d classes, merged %v; want 13 and %v", len(g.Classes()), merged, want)
	}
	if n := len(mig.MustLookup("A30").Classes()); n != 4 {
		t.Errorf("A30: %d classes, want 4", n)
	}
}

func TestProfileNamesBothWays(t *testing.T) {
	want := map[string]string{
		"A30": "1g.6gb 2g.12gb 4g.24gb 1g.6gb+me 2g.12gb+me", "A100": "1g.5gb 1g.5gb+me 1g.10gb 2g.10gb 3g.20gb 4g.20gb 7g.40gb",
		"A100-80GB": "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
		"H100":      "1g.10gb 1g.10gb+me 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb",
		"H200":      "1g.18gb 1g.18gb+me 1g.35gb 2g.35gb 3g.71gb 4g.71gb 7g.141gb",
		"B200":      "1g.23gb 1g.23gb+me 1g.45gb 2g.45gb 3g.90gb 4g.90gb 7g.180gb",
		"H100-NVL":  "1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.47gb 4g.47gb 7g.94gb",
		"GH200":     "1g.12gb 1g.12gb+me 1g.24gb 2g.24gb 3g.48gb 4g.48gb 7g.96gb", "GH200-144GB": "1g.18gb 1g.18gb+me 1g.36gb 2g.36gb 3g.72gb 4g.72gb 7g.144gb",
		"GB200": "1g.23gb 1g.23gb+me 1g.47gb 2g.47gb 3g.93gb 4g.93gb 7g.186gb",
		"B300":  "1g.34gb 1g.34gb+me 1g.67gb 2g.67gb 3g.135gb 4g.135gb 7g.269gb",
		"GB300": "1g.35gb 1g.35gb+me 1g.70gb 2g.70gb 3g.139gb 4g.139gb 7g.278gb",
		"RTX-PRO-6000": "1g.24gb 1g.24gb+me 2g.48gb 4g.96gb 1g.24gb+gfx 1g.24gb+me.all 1g.24gb-me 2g.48gb+gfx 2g.48gb+me.all 2g.48gb-me " +
			"4g.96gb+gfx",
		"RTX-PRO-5000": "1g.12gb-me 2g.24gb-me 4g.48gb 1g.12gb 1g.12gb+me 1g.12gb+gfx",
	}
	for _, g := range mig.GPUs() {
		var names []string
		for _, p := range g.AllProfiles() {
			names = append(names, p.String())
			back, err := g.ProfileByName(p.String())
			if err != nil || back != p {
				t.Errorf("%s: ProfileByName(%s) = %v, %v", g, p, back, err)
			}
		}
		if got := strings.Join(names, " "); got != want[g.Name] {
			t.Errorf("%s: profiles %q, want %q", g, got, want[g.Name])
		}
		if _, err := g.ProfileByName("8g.96gb"); err == nil {
			t.Errorf("%s knows 8g.96gb", g)
		}
	}
}

func TestLookup(t *testing.T) {
	for given, want := range map[string]string{"a100": "A100", "A100-40GB": "A100", "h100-80gb": "H100", "B200": "B200"} {
		g, err := new(mig.Catalog).Lookup(given)
		if err != nil || g.Name != want {
			t.Errorf("Lookup(%q) = %v, %v; want %s", given, g, err, want)
		}
	}
	_, err := new(mig.Catalog).Lookup("A101")
	if err == nil || !strings.Contains(err.Error(), `did you mean "A100"`) {
		t.Errorf("Lookup(A101): %v", err)
	}
}

func TestInstanceRefusesWrongPlacements(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, c := range []struct{ size, start mig.Slices }{{2, 1}, {3, 1}, {4, 4}, {5, 0}, {0, 0}, {8, 0}, {-1, 0}, {1, 7}} {
		if _, err := g.Instance(c.size, c.start); err == nil {
			t.Errorf("A100 places size %d at %d", c.size, c.start)
		}
	}
}
