package algorithms

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

var update = flag.Bool("update", false, "write the golden files of the registered algorithms anew")

// goldenDir holds a file for each algorithm of this package and its version, with
// all that it answers on a few instances. As stored results are looked up by version, an
// answer that changes without a new one would stand beside the old.
const goldenDir = "testdata/golden"

// A goldenCase is an instance of the reference cases on so many GPUs.
type goldenCase struct {
	name  string
	gpus  int
	model mig.Reconfiguration
}

// In these FAR moves and swaps, and areas tie.
var goldenCases = []goldenCase{
	{"a100-01", 1, mig.Sequential},
	{"a100-07", 1, mig.Sequential},
	{"a100-07", 2, mig.Parallel},
	{"h100-52", 1, mig.Parallel},
	{"a30-36", 1, mig.Sequential},
}

// variants lists an algorithm with its defaults and with every other value of each
// listed parameter; FIXPART besides with a partition that has several sizes.
func variants(s algo.Spec, g *mig.GPU) []string {
	ids := []string{s.Name}
	for _, p := range s.Params {
		for _, v := range p.Values {
			if v != p.Default {
				ids = append(ids, s.Name+"?"+p.Name+"="+v)
			}
		}
	}
	if s.Name == "fixpart" {
		ids = append(ids, "fixpart?p="+g.Partitions()[2].String())
	}
	return ids
}

// answer is a schedule as text, times to the last bit: counters, then bars.
func answer(p algo.Problem, s schedule.Schedule, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Counters)) {
		fmt.Fprintf(&b, "%s %d\n", name, s.Counters[name])
	}
	exact := func(t mig.Seconds) string { return strconv.FormatFloat(float64(t), 'g', -1, 64) }
	for _, bar := range schedule.Bars(p, s) {
		fmt.Fprintf(&b, "%s %s gpu %d slice %d+%d %v %s\n", exact(bar.Start), exact(bar.End), bar.GPU, bar.Slice, bar.Width, bar.Kind, bar.Label)
	}
	return b.String()
}

// golden returns what an algorithm answers on all cases.
func golden(t *testing.T, spec algo.Spec) string {
	t.Helper()
	reference := map[string]referenceCase{}
	for _, c := range referenceCases(t) {
		reference[c.Name] = c
	}
	var b strings.Builder
	for _, c := range goldenCases {
		r, ok := reference[c.name]
		if !ok {
			t.Fatalf("there is no reference case %s", c.name)
		}
		p := r.problem(c.model)
		p.Count = c.gpus
		for _, id := range variants(spec, p.GPU) {
			var s schedule.Schedule
			var err error
			if a := algo.MustParse(id); spec.Track == algo.TrackStream {
				n := len(p.Tasks)
				s, err = a.ScheduleStream(context.Background(), p, []int{n / 2, n / 4, n - n/2 - n/4})
			} else {
				s, err = a.Schedule(context.Background(), p)
			}
			fmt.Fprintf(&b, "# %s: %s on %d x %s, %s\n%s\n", c.name, id, p.GPUs(), p.GPU, c.model, answer(p, s, err))
		}
	}
	return b.String()
}

func TestAnswersChangeWithTheVersionOnly(t *testing.T) {
	specs := slices.Concat(algo.All(algo.TrackBatch), algo.All(algo.TrackStream))
	if len(specs) == 0 {
		t.Fatal("no algorithm is registered")
	}
	files := map[string]bool{}
	for _, spec := range specs {
		name := fmt.Sprintf("%s-v%d.txt", spec.Name, spec.Version)
		path := filepath.Join(goldenDir, name)
		files[name] = true
		t.Run(spec.Name, func(t *testing.T) {
			got := golden(t, spec)
			if *update {
				writeGolden(t, path, got)
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v; write it with go test ./algorithms -run %s -update", err, "TestAnswersChangeWithTheVersionOnly")
			}
			if got == string(want) {
				return
			}
			writeGolden(t, path+".got", got)
			t.Errorf("%s answers otherwise than in %s, first on line %d; see %s.got. If that is meant, raise Version in its Spec and run this test with -update",
				spec.Name, path, firstDifference(got, string(want)), path)
		})
	}
	entries, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch {
		case files[e.Name()] || filepath.Ext(e.Name()) == ".got":
		case *update:
			if err := os.Remove(filepath.Join(goldenDir, e.Name())); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is of no registered algorithm and version; delete it, or run this test with -update", e.Name())
		}
	}
}

func writeGolden(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(goldenDir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// firstDifference returns the first line, from 1, in which two texts differ.
func firstDifference(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return 1 + strings.Count(a[:n], "\n")
}
