package datasets_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// TestPartsMakeUpTheWhole cuts datasets and compares them with their parts and with
// the same tasks in one batch.
func TestPartsMakeUpTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 120).Draw(t, "total")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		index := rapid.IntRange(0, 1000).Draw(t, "index")
		name := rapid.SampledFrom([]string{"drl/POORSCALING", "drl/MIXSCALINGUNIFORM"}).Draw(t, "name")
		whole := instance(t, fmt.Sprintf("%s?n=%d&total=%d", name, n, total), "A100", index)
		if one := instance(t, fmt.Sprintf("%s?n=%d", name, total), "A100", index); !slices.Equal(one.Tasks, whole.Tasks) {
			t.Fatal("cutting changes the tasks")
		}
		var parts task.Batch
		for i, length := range whole.Lengths {
			if last := i == len(whole.Lengths)-1; length != n && !last || length < 1 || length > n {
				t.Fatalf("%d tasks in batches %v", total, whole.Lengths)
			}
			part := instance(t, fmt.Sprintf("%s?n=%d&total=%d&part=%d", name, n, total, i+1), "A100", index)
			if !slices.Equal(part.Lengths, []int{length}) || len(part.Tasks) != length {
				t.Fatalf("part %d has batches %v, want %d tasks", i+1, part.Lengths, length)
			}
			parts = append(parts, part.Tasks...)
		}
		if !slices.Equal(parts, whole.Tasks) {
			t.Fatal("the parts are not the whole")
		}
	})
	if got := instance(t, "WIDETIMES?total=100", "A100", 0).Lengths; !slices.Equal(got, []int{14, 14, 14, 14, 14, 14, 14, 2}) {
		t.Errorf("100 tasks in batches %v", got)
	}
}

// TestAdversarialTasks checks the conditions of DRL 6.7 in its own words.
func TestAdversarialTasks(t *testing.T) {
	for _, c := range []struct {
		spec  string
		peak  mig.Slices
		share mig.Seconds
	}{
		{"drl/ADVERSARIAL4?n=100", 4, 0.95},
		{"drl/ADVERSARIAL2?n=100", 2, 0.9},
	} {
		g := mig.MustLookup("A100")
		below := 0
		for i := range 5 {
			in := instance(t, c.spec, "A100", i)
			if err := in.Tasks.Validate(g); err != nil {
				t.Fatal(err)
			}
			for _, k := range in.Tasks {
				best := k.On(1) / k.On(c.peak) / mig.Seconds(c.peak)
				for _, s := range g.Sizes() {
					if e := k.On(1) / k.On(s) / mig.Seconds(s); e > best*(1+1e-12) {
						t.Fatalf("%s: efficiency %v on %d slices, %v on %d", c.spec, best, c.peak, e, s)
					}
				}
				three := k.On(1) / k.On(3) / 3
				if three < c.share*best*(1-1e-12) {
					t.Fatalf("%s: efficiency %v on %d slices, %v on 3", c.spec, best, c.peak, three)
				}
				if three < (c.share+1)/2*best {
					below++
				}
				if k.On(1) < 90 || k.On(1) > 100 {
					t.Fatalf("%s: t(1) = %v s", c.spec, k.On(1))
				}
			}
		}
		if below == 0 {
			t.Errorf("%s: no task near the limit of %v", c.spec, c.share)
		}
	}
}

// TestScarceTasks asks for tasks that do not exist: A30 has no instance of size 3, and
// without memory-bound tasks none is more efficient on several slices than on one.
func TestScarceTasks(t *testing.T) {
	for spec, gpu := range map[string]string{
		"drl/ADVERSARIAL4?n=1": "A30", "drl/ADVERSARIAL2?n=2": "A30", "drl/ADVERSARIAL4?n=2&psup=0": "A100", "drl/ADVERSARIAL4?gen=released-train": "A100",
	} {
		_, err := datasets.InstanceOf[task.Batches](datasets.MustParse(spec), mig.MustLookup(gpu), 0)
		want := fmt.Sprintf(`^dataset "%s" on %s: only [01] of (5000|10000|70000) drawn tasks meet its condition; change the parameter gen, psup or leave$`, regexp.QuoteMeta(spec), gpu)
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s on %s: %v, want %s", spec, gpu, err, want)
		}
	}
}

// TestRodiniaSubsets counts what DRL 5.1.1 says of them.
func TestRodiniaSubsets(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, n := range []int{14, 7}[:deep.N(1, 2)] {
		spec := fmt.Sprintf("drl/RODINIA?n=%d", n)
		s := datasets.MustParse(spec)
		if s.Instances() != 1000 {
			t.Fatalf("%s has %d instances, want 1000", spec, s.Instances())
		}
		orders := map[string]int{} // by subset
		seen := map[string]bool{}
		enough, before := 0, 17
		second := 0
		for i := range s.Instances() {
			in := instance(t, spec, "A100", i)
			if err := in.Tasks.Validate(g); err != nil {
				t.Fatal(err)
			}
			if i%5 == 0 && len(in.Tasks) >= n {
				enough++
			}
			if len(in.Tasks) > before {
				t.Errorf("instance %d is larger than the one before", i)
			}
			before = len(in.Tasks)
			if len(in.Lengths) > 1 {
				second++
			}
			var names []string
			for _, k := range in.Tasks {
				names = append(names, k.Name)
			}
			seen[fmt.Sprint(names)] = true
			slices.Sort(names)
			orders[fmt.Sprint(names)]++
		}
		if enough != 100 || len(orders) != 200 {
			t.Errorf("%s: %d subsets, %d with at least %d kernels", spec, len(orders), enough, n)
		}
		for names, k := range orders {
			if k != 5 {
				t.Errorf("%d orders of %s", k, names)
			}
		}
		if len(seen) < 950 { // a subset of one or two has fewer orders
			t.Errorf("%s: only %d different orders", spec, len(seen))
		}
		if got := datasets.MustParse(spec + "&part=2").Instances(); got != second || got == 0 {
			t.Errorf("%s: %d second parts, but %d instances have two", spec, got, second)
		}
		last := instance(t, spec+"&part=2", "A100", second-1)
		whole := instance(t, spec, "A100", second-1)
		if !slices.Equal(last.Tasks, whole.Tasks[n:min(2*n, len(whole.Tasks))]) {
			t.Error("part 2 is not the second batch")
		}
	}
}
