package layout

import (
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
)

// bruteForce reports whether profiles fit, by trying all starts.
func bruteForce(profiles []*mig.Profile, made []mig.Instance) bool {
	if len(made) == len(profiles) {
		return true
	}
	p := profiles[len(made)]
	for _, s := range p.Starts {
		if in := (mig.Instance{Profile: p, Start: s}); admit(made, in) && bruteForce(profiles, append(slices.Clone(made), in)) {
			return true
		}
	}
	return false
}

// admit is the placement rule of the stub of the driver (profiling/nvml/nvmltest): a start of the profile, no overlap, and
// at most so many of it.
func admit(made []mig.Instance, in mig.Instance) bool {
	same := 0
	for _, o := range made {
		if in.Start < o.Start+o.Profile.Length && o.Start < in.Start+in.Profile.Length {
			return false
		}
		if o.Profile == in.Profile {
			same++
		}
	}
	return slices.Contains(in.Profile.Starts, in.Start) && same < in.Profile.Max
}

// TestAllLayouts: all multisets of up to seven instances are answered as by brute force. The driver admits the given
// order, and any start that it takes itself where the plan says so.
func TestAllLayouts(t *testing.T) {
	for _, name := range []string{"A30", "A100", "H100", "H200", "B200", "RTX-PRO-6000"} {
		g := mig.MustLookup(name)
		fits, all := 0, 0
		var visit func(from int, chosen []*mig.Profile)
		visit = func(from int, chosen []*mig.Profile) {
			plan, ok := Fit(g, chosen)
			if all++; ok != bruteForce(chosen, nil) {
				t.Errorf("%s: %v fits: %t", name, chosen, ok)
			}
			if ok {
				fits++
				check(t, chosen, plan)
			}
			for i := from; len(chosen) < 7 && i < len(g.Profiles); i++ {
				visit(i, append(slices.Clone(chosen), g.Profiles[i]))
			}
		}
		visit(0, nil)
		if n := map[string]int{"A30": 120, "RTX-PRO-6000": 330}[name]; n > 0 && all != n || n == 0 && all != 3432 || fits < 10 {
			t.Errorf("%s: %d multisets, %d fit", name, all, fits)
		}
	}
}

func check(t *testing.T, chosen []*mig.Profile, plan Plan) {
	t.Helper()
	var made []mig.Instance
	for _, in := range plan.Instances {
		if !admit(made, in) {
			t.Fatalf("%v: %v is refused after %v", chosen, in, made)
		}
		made = append(made, in)
	}
	if len(made) != len(chosen) {
		t.Fatalf("%v: %d instances", chosen, len(made))
	}
	var anyStart func(made []mig.Instance) bool
	anyStart = func(made []mig.Instance) bool {
		if len(made) == len(plan.Instances) {
			return true
		}
		p, some := plan.Instances[len(made)].Profile, false
		for _, s := range p.Starts {
			if in := (mig.Instance{Profile: p, Start: s}); admit(made, in) {
				if some = true; !anyStart(append(slices.Clone(made), in)) {
					return false
				}
			}
		}
		return some
	}
	if plan.AnyStart && !anyStart(nil) {
		t.Fatalf("%v: the driver can take a start from which %v cannot go on", chosen, plan.Instances)
	}
}

// TestOrder: 3g before 4g fails where the driver takes the lowest start.
func TestOrder(t *testing.T) {
	g := mig.MustLookup("H100")
	for text, want := range map[string]string{
		"3g,4g":                    "nvidia-smi mig -cgi 5,9 -C",
		"1g:7":                     "nvidia-smi mig -cgi 19,19,19,19,19,19,19 -C",
		"3g.40gb,2g,1g:2":          "nvidia-smi mig -cgi 9:4,14:0,19:2,19:3 -C",
		"1g.20gb:4":                "nvidia-smi mig -cgi 15,15,15,15 -C",
		"1g.10gb+me , 1g.10gb , 3": "",
	} {
		profiles, err := Parse(g, text)
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), `unknown profile of H100 "3"`) {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		plan, ok := Fit(g, profiles)
		if err != nil || !ok || plan.Command(g) != want {
			t.Errorf("%q: %s, %v; want %s", text, plan.Command(g), err, want)
		}
	}
	rtx := mig.MustLookup("RTX-PRO-6000")
	if c := (Plan{Instances: []mig.Instance{{Profile: rtx.Profile(2), Start: 2}}}).Command(rtx); c != "nvidia-smi mig -cgi 5:6 -C" {
		t.Error(c)
	}
}

func TestMend(t *testing.T) {
	g := mig.MustLookup("H100")
	for text, want := range map[string]string{
		"4g,4g":       "4g.40gb->3g.40gb",
		"7g,1g":       "1g.10gb->",
		"3g,3g,3g":    "3g.40gb->",
		"3g,3g,1g":    "1g.10gb->",
		"1g:7,1g":     "1g.10gb->",
		"2g,2g,2g,2g": "2g.20gb->1g.20gb",
	} {
		profiles, err := Parse(g, text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range Mend(g, profiles) {
			by := ""
			if c.By != nil {
				by = c.By.String()
			}
			got = append(got, c.Profile.String()+"->"+by)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
}

// TestDivide: as many GPUs as some instances need, and no fewer.
func TestDivide(t *testing.T) {
	g := mig.MustLookup("A100")
	for text, want := range map[string]int{"7g:3": 3, "4g:2,3g:2": 2, "3g:3,4g": 2, "4g:3,3g": 3, "1g:15": 3, "2g:4,1g:6": 2, "1g.5gb+me:2": 2} {
		profiles, err := Parse(g, text)
		if err != nil {
			t.Fatal(err)
		}
		for gpus := range 5 {
			plans, ok, err := Divide(g, profiles, gpus)
			if ok != (gpus >= want) || err != nil {
				t.Errorf("%s on %d GPUs: %t, %v", text, gpus, ok, err)
			}
			all := 0
			for _, p := range plans {
				all += len(p.Instances)
			}
			if ok && (all != len(profiles) || len(plans) > gpus) {
				t.Errorf("%s: %d plans with %d instances", text, len(plans), all)
			}
		}
	}
	rtx := mig.MustLookup("RTX-PRO-6000")
	if _, _, err := Divide(rtx, []*mig.Profile{rtx.Others[0]}, 1); err == nil {
		t.Error("a profile with graphics was divided")
	}
}

// TestDivideIsBounded: a search that takes too many steps ends without an answer, and not with a false one. More
// instances than the slices of the GPUs are refused at once.
func TestDivideIsBounded(t *testing.T) {
	g := mig.MustLookup("H100")
	var many []*mig.Profile
	for i, n := range []int{11, 29, 37, 1, 32, 26, 2} {
		many = append(many, slices.Repeat([]*mig.Profile{g.Profiles[i]}, n)...)
	}
	for gpus, want := range map[int]error{1: nil, 45: nil, 46: ErrUndecided} {
		if _, ok, err := Divide(g, many, gpus); ok || err != want {
			t.Errorf("on %d GPUs: %t, %v; want %v", gpus, ok, err, want)
		}
	}
	if _, ok, err := Divide(g, many, 60); !ok || err != nil {
		t.Errorf("on 60 GPUs: %t, %v", ok, err)
	}
}
