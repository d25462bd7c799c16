package devicetest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

// A row is a line of what nvidia-smi mig -lgip and -lgipp print.
type row struct {
	profile string
	id      int
	starts  []mig.Slices
	length  mig.Slices
	max     int
}

// tables are NVIDIA's placements, typed in once more: neither the fake nor package mig
// is asked.
var tables = map[string][]row{
	"A30": {
		{"1g.6gb", 14, []mig.Slices{0, 1, 2, 3}, 1, 4},
		{"2g.12gb", 5, []mig.Slices{0, 2}, 2, 2},
		{"4g.24gb", 0, []mig.Slices{0}, 4, 1},
	},
	"A100": {
		{"1g.5gb", 19, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 7},
		{"1g.5gb+me", 20, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 1},
		{"1g.10gb", 15, []mig.Slices{0, 2, 4, 6}, 2, 4},
		{"2g.10gb", 14, []mig.Slices{0, 2, 4}, 2, 3},
		{"3g.20gb", 9, []mig.Slices{0, 4}, 4, 2},
		{"4g.20gb", 5, []mig.Slices{0}, 4, 1},
		{"7g.40gb", 0, []mig.Slices{0}, 8, 1},
	},
	"H100": {
		{"1g.10gb", 19, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 7},
		{"1g.10gb+me", 20, []mig.Slices{0, 1, 2, 3, 4, 5, 6}, 1, 1},
		{"1g.20gb", 15, []mig.Slices{0, 2, 4, 6}, 2, 4},
		{"2g.20gb", 14, []mig.Slices{0, 2, 4}, 2, 3},
		{"3g.40gb", 9, []mig.Slices{0, 4}, 4, 2},
		{"4g.40gb", 5, []mig.Slices{0}, 4, 1},
		{"7g.80gb", 0, []mig.Slices{0}, 8, 1},
	},
}

// A line is a row with the model's profile of its name.
type line struct {
	row
	*mig.Profile
}

// table resolves the names of a model's rows, of the profiles that keep accepts.
func table(t *testing.T, g *mig.GPU, keep func(*mig.Profile) bool) (ls []line) {
	t.Helper()
	for _, r := range tables[g.Name] {
		p, err := g.ProfileByName(r.profile)
		if err != nil {
			t.Fatal(err)
		}
		if p.ID != r.id || p.Length != r.length || p.Max != r.max {
			t.Errorf("%s: %s is %+v", g, p, p)
		}
		if keep(p) {
			ls = append(ls, line{r, p})
		}
	}
	return ls
}

func every(*mig.Profile) bool { return true }

func TestEveryProfileAtEveryStart(t *testing.T) {
	for name := range tables {
		g := mig.MustLookup(name)
		rows := table(t, g, every)
		if len(g.Profiles) != len(rows) {
			t.Errorf("%s has %d profiles, want %d", g, len(g.Profiles), len(rows))
		}
		d := devicetest.New(g, devicetest.Scale(0))
		for _, r := range rows {
			p := r.Profile
			if starts, err := d.Placements(p); err != nil || !slices.Equal(starts, r.starts) {
				t.Errorf("%s: %s may begin at %v, %v; want %v", g, p, starts, err, r.starts)
			}
			for start := mig.Slices(-1); start <= 9; start++ {
				i, err := d.Create(mig.Instance{Profile: p, Start: start})
				if !slices.Contains(r.starts, start) {
					if !errors.Is(err, profiling.ErrPlacement) {
						t.Errorf("%s: %s at %d: %v, want ErrPlacement", g, p, start, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %s at %d: %v", g, p, start, err)
				}
				// Alone on the GPU, it keeps away exactly what shares a memory slice with it, or a count of 1.
				for _, o := range rows {
					for _, s := range o.starts {
						_, err := d.Create(mig.Instance{Profile: o.Profile, Start: s})
						apart := s+o.length <= start || start+r.length <= s
						fits := apart && (o.profile != r.profile || o.max > 1)
						if fits != (err == nil) || !fits && !errors.Is(err, profiling.ErrInsufficient) {
							t.Errorf("%s: %s at %d beside %s at %d: %v", g, o.profile, s, p, start, err)
						}
						for _, other := range instances(t, d) {
							if other.ID != i.ID {
								destroy(t, d, other)
							}
						}
					}
				}
				destroy(t, d, i)
			}
		}
	}
}

func instances(t *testing.T, d profiling.Device) []profiling.Instance {
	t.Helper()
	all, err := d.Instances()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func destroy(t *testing.T, d profiling.Device, i profiling.Instance) {
	t.Helper()
	if err := d.Destroy(i.ID); err != nil {
		t.Fatal(err)
	}
}

// layout writes a set of instances, by ascending start.
func layout(is []mig.Instance) string {
	var words []string
	for _, i := range is {
		words = append(words, fmt.Sprintf("%s@%d", i.Profile, i.Start))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestReachableLayouts creates instances in every order and collects what cannot be
// added to. NVIDIA's guide counts 19 layouts on A100 and 5 on A30.
func TestReachableLayouts(t *testing.T) {
	standard := (*mig.Profile).Standard
	double := func(p *mig.Profile) bool { return !p.MediaExtensions }
	for _, c := range []struct {
		gpu  string
		of   string
		keep func(*mig.Profile) bool
		want int
	}{
		{"A30", "standard profiles", standard, 5},
		{"A100", "standard profiles", standard, 19},
		{"H100", "standard profiles", standard, 19},
		{"A100", "standard profiles and double memory", double, 78},
		{"H100", "all profiles", every, 0},
	} {
		g := mig.MustLookup(c.gpu)
		rows := table(t, g, c.keep)
		got, want := reachable(t, g, rows), possible(rows)
		if !slices.Equal(got, want) {
			t.Errorf("%s, %s: the fake reaches %d layouts and the table has %d\n%q\n%q", g, c.of, len(got), len(want), got, want)
		}
		if c.want > 0 && len(got) != c.want {
			t.Errorf("%s, %s: %d layouts, want %d", g, c.of, len(got), c.want)
		}
		var model []string
		for _, p := range g.PartitionsOf(c.keep) {
			model = append(model, layout(p))
		}
		slices.Sort(model)
		if !slices.Equal(got, model) {
			t.Errorf("%s, %s: package mig has %d layouts and the fake reaches %d", g, c.of, len(model), len(got))
		}
	}
}

// reachable tries on the fake.
func reachable(t *testing.T, g *mig.GPU, rows []line) []string {
	t.Helper()
	d := devicetest.New(g, devicetest.Scale(0))
	var maximal []string
	seen := map[string]bool{}
	var extend func()
	extend = func() {
		var now []mig.Instance
		for _, i := range instances(t, d) {
			now = append(now, i.Instance)
		}
		if seen[layout(now)] {
			return
		}
		seen[layout(now)] = true
		full := true
		for _, r := range rows {
			for start := range mig.Slices(8) {
				i, err := d.Create(mig.Instance{Profile: r.Profile, Start: start})
				if err != nil {
					continue
				}
				full = false
				extend()
				destroy(t, d, i)
			}
		}
		if full {
			maximal = append(maximal, layout(now))
		}
	}
	extend()
	slices.Sort(maximal)
	return maximal
}

// possible goes by the table alone: sets of placements that share no memory slice and
// keep the counts, and to which none can be added.
func possible(rows []line) []string {
	type placed struct {
		row   int
		start mig.Slices
	}
	var all []placed
	for n, r := range rows {
		for _, s := range r.starts {
			all = append(all, placed{n, s})
		}
	}
	fits := func(set []placed, p placed) bool {
		same := 0
		for _, o := range set {
			if o.row == p.row {
				same++
			}
			for slice := p.start; slice < p.start+rows[p.row].length; slice++ {
				if o.start <= slice && slice < o.start+rows[o.row].length {
					return false
				}
			}
		}
		return same < rows[p.row].max
	}
	var maximal []string
	var choose func(set []placed, from int)
	choose = func(set []placed, from int) {
		if !slices.ContainsFunc(all, func(p placed) bool { return fits(set, p) }) {
			var is []mig.Instance
			for _, p := range set {
				is = append(is, mig.Instance{Profile: rows[p.row].Profile, Start: p.start})
			}
			maximal = append(maximal, layout(is))
		}
		for n := from; n < len(all); n++ {
			if fits(set, all[n]) {
				choose(append(slices.Clone(set), all[n]), n+1)
			}
		}
	}
	choose(nil, 0)
	slices.Sort(maximal)
	return maximal
}
