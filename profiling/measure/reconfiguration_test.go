package measure_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
	"miglab/profiling/measure"
)

func TestReconfiguredPartitions(t *testing.T) {
	for name, want := range map[string]string{
		"A30":  "[1 2 4 1-1-1-1 2-2 2-1-1]",
		"A100": "[1 2 3 4 7 1-1-1-1-1-1-1 2-2-2 3-3 4-2-1]",
	} {
		if got := fmt.Sprint(measure.Reconfigured(mig.MustLookup(name))); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// reconfigure measures in virtual time.
func reconfigure(t *testing.T, g *devicetest.GPU) []datasets.ReconfigurationTime {
	t.Helper()
	next := 0
	rows, err := reconfiguration(t.Context(), t, g, measure.Bench{Repetitions: 3, Progress: func(done, all int) {
		if done != next || all != 27 {
			t.Errorf("%d of %d", done, all)
		}
		next++
	}})
	if err != nil || next != 28 {
		t.Fatal(next, err)
	}
	return rows
}

// reconfiguration measures in a folder of its own.
func reconfiguration(ctx context.Context, t *testing.T, g *devicetest.GPU, b measure.Bench) ([]datasets.ReconfigurationTime, error) {
	t.Helper()
	b.Dir, b.Session = t.TempDir(), open(t, g)
	_, err := measure.Measure(ctx, &b, measure.Reconfiguration, nil)
	return first(hardware(t, b.Dir, "reconfiguration").Reconfiguration), err
}

// find returns the row of a round, size, operation and number of threads.
func find(t *testing.T, rows []datasets.ReconfigurationTime, partition string, size mig.Slices, operation string, threads int) datasets.ReconfigurationTime {
	t.Helper()
	for _, r := range rows {
		if r.Partition == partition && r.Size == size && r.Operation == operation && r.Threads == threads {
			return r
		}
	}
	t.Fatalf("no row of %s %d %s %d", partition, size, operation, threads)
	return datasets.ReconfigurationTime{}
}

func near(a, b mig.Seconds) bool { return math.Abs(float64(a-b)) < 1e-6 }

// A30 creates in 0.11, 0.12 and 0.13 s and destroys in 0.10 s.
func TestReconfigurationOfADriverThatSerialises(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := reconfigure(t, devicetest.New(a30))
		if len(rows) != 6+8+8 {
			t.Fatalf("%d rows", len(rows))
		}
		one := find(t, rows, "2", 2, "create", 1)
		from := datasets.Provenance{GPU: "A30", Name: "NVIDIA A30 (fake)", Driver: "0.0 (fake)", Source: "mig", Date: "2000-01-01"}
		if one.Provenance != from || one.Runs != 3 || !near(one.Mean, 0.12) || one.StdDev != 0 || !near(one.Min, 0.12) || !near(one.Max, 0.12) || !near(one.Total, 0.12) {
			t.Errorf("%+v", one)
		}
		single := find(t, rows, "1-1-1-1", 1, "create", 1)
		if single.Runs != 12 || !near(single.Mean, 0.11) || !near(single.Total, 0.44) {
			t.Errorf("%+v", single)
		}
		// One after the other: the first of four takes 0.11 s, the last waits for three.
		all := find(t, rows, "1-1-1-1", 1, "create", 4)
		if all.Runs != 12 || !near(all.Mean, 0.275) || !near(all.Min, 0.11) || !near(all.Max, 0.44) || !near(all.Total, 0.44) {
			t.Errorf("%+v", all)
		}
		if r := find(t, rows, "2-1-1", 1, "destroy", 1); r.Runs != 6 || !near(r.Mean, 0.10) || !near(r.Total, 0.30) {
			t.Errorf("%+v", r)
		}
		if r := find(t, rows, "2-1-1", 2, "create", 3); r.Runs != 3 || !near(r.Total, 0.34) {
			t.Errorf("%+v", r)
		}
	})
}

func TestReconfigurationOfADriverThatDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := reconfigure(t, devicetest.New(a30, devicetest.Parallel(), devicetest.Scale(2)))
		table := measure.ReconfigurationTable(rows, a30)
		var w strings.Builder
		if err := table.Encode(&w, "csv"); err != nil {
			t.Fatal(err)
		}
		want := `round,size,operation,mean [s],mean [s] ±,model [s],one by one [s],all at once [s],ratio
1,1,create,0.220,0.000,0.11,0.220,–,–
1,1,destroy,0.200,0.000,0.10,0.200,–,–
2,2,create,0.240,0.000,0.12,0.240,–,–
2,2,destroy,0.200,0.000,0.10,0.200,–,–
4,4,create,0.260,0.000,0.13,0.260,–,–
4,4,destroy,0.200,0.000,0.10,0.200,–,–
1-1-1-1,1,create,0.220,0.000,0.11,0.880,0.220,0.25
1-1-1-1,1,destroy,0.200,0.000,0.10,0.800,0.200,0.25
2-2,2,create,0.240,0.000,0.12,0.480,0.240,0.50
2-2,2,destroy,0.200,0.000,0.10,0.400,0.200,0.50
2-1-1,1,create,0.220,0.000,0.11,0.680,0.240,0.35
2-1-1,1,destroy,0.200,0.000,0.10,0.600,0.200,0.33
2-1-1,2,create,0.240,0.000,0.12,0.680,0.240,0.35
2-1-1,2,destroy,0.200,0.000,0.10,0.600,0.200,0.33
`
		if w.String() != want {
			t.Errorf("got\n%s", w.String())
		}
		if table.Title != "Seconds to create and to destroy instances; NVIDIA A30 (fake), source: mig" || table.Notes[0] != "model: what schedulers reckon with, FAR Table 1" {
			t.Errorf("%q, %q", table.Title, table.Notes)
		}
	})
}

// Calls that the driver refuses for the moment count as attempts, and their time as that of the operation.
func TestReconfigurationCountsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		g.FailCreate(0, profiling.ErrBusy)
		rows, err := reconfiguration(t.Context(), t, g, measure.Bench{Repetitions: 2})
		if err != nil {
			t.Fatal(err)
		}
		first, other := find(t, rows, "1", 1, "create", 1), find(t, rows, "2", 2, "create", 1)
		if first.Attempts != 1.5 || other.Attempts != 1 || first.Max <= first.Min || other.Max != other.Min {
			t.Errorf("%+v, %+v", first, other)
		}
	})
}

// What a whole round gave is kept when the experiment cannot go on.
func TestReconfigurationKeepsWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := devicetest.New(a30)
		g.FailCreate(9, profiling.ErrLost) // one of four threads
		rows, err := reconfiguration(t.Context(), t, g, measure.Bench{})
		if !errors.Is(err, profiling.ErrLost) || !strings.HasPrefix(err.Error(), "partition 1-1-1-1: ") {
			t.Errorf("%v", err)
		}
		// Before it were the rounds of 1, 2 and 4, and of four one after the other.
		if len(rows) != 4*2 || find(t, rows, "1-1-1-1", 1, "destroy", 1).Runs != 4 {
			t.Errorf("%d rows", len(rows))
		}
	})
}
