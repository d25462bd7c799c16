package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Kubernetes' structured allocator decides as dra-first-fit does: all metrics are equal, on a cluster of nodes with a
// queue and on mixes where rejected requests are forgotten.
func TestDRAAllocator(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("fetches and compiles Kubernetes' modules; make test-long sets MIGLAB_LONG=1")
	}
	program := filepath.Join(t.TempDir(), "dra")
	c := exec.Command("go", "build", "-o", program, ".")
	c.Dir = filepath.Join(root, "harness/external/examples/dra")
	c.Env = append(os.Environ(), "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dir := t.TempDir()
	for _, on := range [][2]string{{"H100", "migbench"}, {"A100", "mfi/uniform"}, {"H100", "mfi/skew-small?queue=retry"}, {"A30", "mfi/uniform"}} {
		miglab(t, dir, "run", "--track", "placement", "--gpu", on[0], "--datasets", on[1], "--instances", "3", "--algorithms", "dra-first-fit,exec:"+program+"?timeout=10m")
	}
	rows, err := csv.NewReader(strings.NewReader(miglab(t, dir, "export", "--track", "placement"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Index(rows[0], "instance")
	cells := map[string][]string{}
	for _, row := range rows[1:] {
		key := strings.Join([]string{row[slices.Index(rows[0], "dataset")], row[slices.Index(rows[0], "gpu")], row[first]}, " ")
		if other := cells[key]; other != nil {
			for i := first; i < len(row); i++ {
				if row[i] != other[i] {
					t.Errorf("%s: %s is %s and %s", key, rows[0][i], other[i], row[i])
				}
			}
		}
		cells[key] = row
	}
	if len(cells) != 12 || len(rows) != 1+2*len(cells) {
		t.Errorf("%d rows of %d instances, want two of each of 12", len(rows)-1, len(cells))
	}
}
