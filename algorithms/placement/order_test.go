package placement

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/stats"
	"miglab/harness/task"
)

var ordersFlag = flag.Bool("orders", false, "search for the best order of starts for dra-first-fit (minutes)")

// waits are streams with a full queue.
func waits(tb testing.TB, mix string, seed, gpus, turnover, instances int) (out []task.Requests) {
	tb.Helper()
	d := datasets.MustParse(fmt.Sprintf("mfi/%s?gpus=%d&lifespan=steady&queue=retry&rho=1.2&turnover=%d&seed=%d", mix, gpus, turnover, seed))
	for i := range instances {
		in, err := datasets.InstanceOf[task.Requests](d, mig.MustLookup("A100-80GB"), i)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, in)
	}
	return out
}

// turnarounds returns the mean time from arrival to end of each stream with the starts in an order of slices; nil is
// ascending.
func turnarounds(tb testing.TB, streams []task.Requests, order []string) (out []float64) {
	tb.Helper()
	id := "dra-first-fit"
	if order != nil {
		id += "?first=" + strings.Join(order, "-")
	}
	g, a := mig.MustLookup("A100-80GB"), algo.MustParse(id)
	for _, in := range streams {
		p, err := a.Placer(sim.PlacementSetting{GPU: g, GPUs: in.GPUs, Waiting: in.Waiting})
		if err != nil {
			tb.Fatal(err)
		}
		r, err := sim.RunWaiting(g, in, p)
		if err != nil {
			tb.Fatal(err)
		}
		sum := 0
		for i, q := range in.Requests {
			sum += r.Starts[i] + q.Lifespan - q.Arrival
		}
		out = append(out, float64(sum)/float64(len(in.Requests)))
	}
	return out
}

func turnaround(tb testing.TB, streams []task.Requests, order []string) float64 {
	tb.Helper()
	return mean(tb, turnarounds(tb, streams, order))
}

func mean(tb testing.TB, values []float64) float64 {
	tb.Helper()
	s, err := stats.Summarize(values)
	if err != nil {
		tb.Fatal(err)
	}
	return s.Mean
}

// searchOrder moves one slice of an order at a time to another place, where that lowers the mean time, until no move does
// or the steps are over.
func searchOrder(tb testing.TB, streams []task.Requests, steps int) ([]string, float64) {
	tb.Helper()
	order := []string{"0", "1", "2", "3", "4", "5", "6"}
	best, rng, failed := turnaround(tb, streams, order), rand.New(rand.NewPCG(1, 2)), 0
	for step := 0; step < steps && failed < 120; step++ {
		from, to := rng.IntN(len(order)), rng.IntN(len(order)-1)
		moved := slices.Delete(slices.Clone(order), from, from+1)
		if failed++; to != from {
			moved = slices.Insert(moved, to, order[from])
			if v := turnaround(tb, streams, moved); v < best {
				order, best, failed = moved, v, 0
			}
		}
	}
	return order, best
}

// TestOrderForDRA checks that the search finds an order that is better than ascending starts. With -orders it prints
// the best static order for each mix, for authors of drivers, and what it is worth on streams of another seed.
func TestOrderForDRA(t *testing.T) {
	if !*ordersFlag {
		streams := waits(t, "skew-small", 3, 4, 5, 2)
		order, best := searchOrder(t, streams, 30)
		if again, _ := searchOrder(t, streams, 30); !slices.Equal(again, order) {
			t.Errorf("two searches find %v and %v", order, again)
		}
		if ascending := turnaround(t, streams, nil); !(best < ascending) || best != turnaround(t, streams, order) {
			t.Errorf("%v takes %v slots on the mean, ascending starts %v", order, best, ascending)
		}
		return
	}
	for _, mix := range tableII {
		order, trained := searchOrder(t, waits(t, mix, 3, 32, 20, 150), 500)
		t.Logf("%s: first=%s, %.2f slots where it was searched for", mix, strings.Join(order, "-"), trained)
		fresh := waits(t, mix, 4, 32, 20, 300)
		found := turnarounds(t, fresh, order)
		for name, o := range map[string][]string{"ascending": nil, "descending": strings.Split("6-5-4-3-2-1-0", "-")} {
			less := turnarounds(t, fresh, o)
			for i := range less {
				less[i] = 100 * (1 - found[i]/less[i])
			}
			low, high, err := stats.Bootstrap(less, 1)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("  on fresh streams it takes %.2f %% less than %s (%.2f to %.2f)", mean(t, less), name, low, high)
		}
	}
}
