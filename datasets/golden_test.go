package datasets_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// variations are parameters to try with every family that has them.
var variations = []string{
	"", "n=7", "n=20&psup=50", "n=5&batches=3&seed=7", "gen=released&leave=0.3&psup=50", "gen=released-train", "leave=1e-7",
	"total=30", "total=30&part=2", "part=2", "order=shuffled&seed=7", "last=CFD", "only=CFD&copies=20", "order=shuffled&copies=2&last=LU",
	"load=10", "gpus=7&load=130", "lifespan=steady&rho=0.85", "lifespan=forever", "T=expected",
	"gpus=7+4-3&watts=1-2", "deadlines=tight", "deadlines=tight&numpy=1&clock=float64", "rate=0.5", "order=classes", "total=30&part=2&order=classes&gen=released", "start=busy", "w=5", "w=30&seed=2", "draw=9", "cmax=2&kappa=0.1&delta=1e-9&release=true", "jobs=cfd&draw=2",
	"pods=shared&gpus=14", "alpha=0&slack=1.5&scale=2", "n=20&alpha=0.5", "map=memory&scale=1.5", "scale=0.4&slot=60&pending=in&seed=2",
	"queue=retry", "queue=fifo&gpus=8", "queue=retry&pernode=4&requests=80&gap=3&seed=2",
}

var update = flag.Bool("update", false, "write the golden file")

// TestGoldenFamilies compares the digests of instances with those in testdata/golden.txt, one line a
// dataset. They may only change together with the results.
func TestGoldenFamilies(t *testing.T) {
	const path = "testdata/golden.txt"
	var lines []string
	for _, info := range builtin {
		name, _, _ := strings.Cut(info.Name, "?")
		for _, parameters := range variations {
			s, err := datasets.Parse(strings.TrimSuffix(name+"?"+parameters, "?"))
			if err != nil || strings.HasSuffix(name, datasets.FileKey) {
				continue // the family does not have these parameters
			}
			d := task.NewDigest()
			for _, gpu := range []string{"A30", "A100", "A100-80GB"} {
				for _, index := range []int{0, 1, 11} {
					if in, err := s.Instance(mig.MustLookup(gpu), index); err == nil {
						in.AddTo(d)
					}
				}
			}
			lines = append(lines, fmt.Sprintln(s.ID(), d))
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		beside := path + ".got"
		t.Errorf("the datasets are not those of %s; what they are now is in %s (%v)", path, beside, os.WriteFile(beside, []byte(got), 0o644))
	}
}
