package sweep

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"
)

// No job is lost if several are noted at the same time.
func TestAddJobKeepsTheOthers(t *testing.T) {
	dir := t.TempDir()
	var all errgroup.Group
	for i := range 20 {
		all.Go(func() error { return AddJob(dir, Job{Name: fmt.Sprint(i)}) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if jobs, err := Jobs(dir); err != nil || len(jobs) != 20 {
		t.Errorf("%d jobs, %v; want 20", len(jobs), err)
	}
}
