package bounds_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
)

// An assignment says on which node of which GPU's tree each task runs.
type assignment struct {
	p algo.Problem
	// load and used are by GPU and node.
	load [][]mig.Seconds
	used [][]bool
}

// chain returns the longest chain below and at a node, given whether an ancestor is
// used that was not there at the start, and whether anything is used from the node on.
func (a *assignment) chain(gpu, v int, above bool) (mig.Seconds, bool) {
	node := a.p.GPU.Tree()[v]
	create, destroy := node.Profile.Create, node.Profile.Destroy
	if a.p.Model == mig.Free {
		create, destroy = 0, 0
	}
	var there *schedule.Existing
	for i, e := range a.p.Start {
		if e.GPU == gpu && e.Instance.Start == node.Start && e.Instance.Size() == node.Size() {
			there = &a.p.Start[i]
		}
	}
	load, used := a.load[gpu][v], a.used[gpu][v]
	var below []mig.Seconds
	var belowUsed []bool
	for _, c := range node.Children {
		length, u := a.chain(gpu, c, above || used && there == nil)
		below, belowUsed = append(below, length), append(belowUsed, u)
	}
	var longest mig.Seconds
	var some bool
	switch len(below) {
	case 1:
		longest, some = below[0], belowUsed[0]
	case 2:
		longest, some = max(below[0], below[1]), belowUsed[0] || belowUsed[1]
		if belowUsed[0] && belowUsed[1] {
			longest = max(longest, min(below[0], below[1])+a.delay(gpu, v))
		}
	}
	if a.p.Model == mig.Sequential && a.p.GPUs() == 1 && a.p.Start == nil {
		longest = inBestOrder(a.heads(v, above || used), 0, a.delay(0, 0))
	}
	switch {
	case there != nil:
		if used || some || above {
			longest += there.BusyUntil + load
		}
		if some || above {
			longest += destroy
		}
	case used:
		longest += create + load
		if above {
			longest += destroy
		}
	}
	return longest, used || some
}

// heads are the chains of the topmost used nodes below a node.
func (a *assignment) heads(v int, above bool) []mig.Seconds {
	var heads []mig.Seconds
	for _, c := range a.p.GPU.Tree()[v].Children {
		if a.used[0][c] {
			length, _ := a.chain(0, c, above)
			heads = append(heads, length)
		} else {
			heads = append(heads, a.heads(c, above)...)
		}
	}
	return heads
}

// inBestOrder tries all orders of heads of which each waits for those before it.
func inBestOrder(heads []mig.Seconds, before int, wait mig.Seconds) mig.Seconds {
	if len(heads) == 0 {
		return 0
	}
	best := mig.Seconds(math.Inf(1))
	for i, first := range heads {
		rest := slices.Delete(slices.Clone(heads), i, i+1)
		best = min(best, max(first+mig.Seconds(before)*wait, inBestOrder(rest, before+1, wait)))
	}
	return best
}

// delay is the shortest create below a node, of those that some task can need.
func (a *assignment) delay(gpu, v int) mig.Seconds {
	tree := a.p.GPU.Tree()
	delay := mig.Seconds(math.Inf(1))
	for u := range tree {
		if u == v || tree[u].Mask()&tree[v].Mask() != tree[u].Mask() || tree[u].Size() >= tree[v].Size() {
			continue
		}
		for _, e := range a.p.Start {
			if e.GPU == gpu && e.Instance.Start == tree[u].Start && e.Instance.Size() == tree[u].Size() {
				return 0
			}
		}
		for i := range a.p.Tasks {
			if a.p.Tasks[i].Fits(tree[u].Size()) {
				delay = min(delay, tree[u].Profile.Create)
			}
		}
	}
	if a.p.Model != mig.Sequential {
		return 0
	}
	return delay
}

// naiveChains tries all assignments.
func naiveChains(p algo.Problem) mig.Seconds {
	tree := p.GPU.Tree()
	best := mig.Seconds(math.Inf(1))
	a := assignment{p: p}
	for range p.GPUs() {
		a.load, a.used = append(a.load, make([]mig.Seconds, len(tree))), append(a.used, make([]bool, len(tree)))
	}
	var assign func(i int)
	assign = func(i int) {
		if i == len(p.Tasks) {
			var longest mig.Seconds
			for gpu := range p.GPUs() {
				length, used := a.chain(gpu, 0, false)
				if used {
					longest = max(longest, length)
				}
			}
			best = min(best, longest)
			return
		}
		for gpu := range p.GPUs() {
			for v, n := range tree {
				if t := p.Tasks[i].On(n.Size()); p.Tasks[i].Fits(n.Size()) {
					load, used := a.load[gpu][v], a.used[gpu][v]
					a.load[gpu][v], a.used[gpu][v] = load+t, true
					assign(i + 1)
					a.load[gpu][v], a.used[gpu][v] = load, used
				}
			}
		}
	}
	assign(0)
	return best
}

func TestChainsAreThoseOfTheBestAssignment(t *testing.T) {
	for _, c := range []struct {
		gpu                     string
		count, tasks, instances int
	}{
		{"A30", 1, 2, 50},
		{"A30", 1, 3, 100},
		{"A30", 1, 4, 50},
		{"A30", 1, 5, 5},
		{"A30", 1, 6, 1},
		{"A30", 2, 3, 30},
		{"A30", 3, 3, 10},
		{"A100", 1, 2, 100},
		{"A100", 1, 3, 50},
		{"A100", 1, 4, 4},
		{"A100", 2, 3, 4},
		{"H100", 1, 3, 50},
		{"H100", 1, 4, 4},
	} {
		t.Run(fmt.Sprintf("%d %s, %d tasks", c.count, c.gpu, c.tasks), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(c.count), uint64(c.tasks)))
			for k := range deep.N(1+c.instances/10, c.instances) {
				p := drawProblem(r, mig.MustLookup(c.gpu), c.count, c.tasks)
				want := naiveChains(p)
				for _, limit := range []mig.Seconds{want * (1 + 1e-9), 1.05 * want, 5 * want} {
					if got := bounds.Chains(p, limit); !near(got, want) {
						t.Errorf("%d: up to %v s chains are %v, want %v: %v %+v", k, limit, got, want, p.Model, p)
					}
				}
				if got := bounds.Chains(p, 0.99*want); got != 0.99*want {
					t.Errorf("%d: chains are %v, below %v", k, got, 0.99*want)
				}
			}
		})
	}
}

// The dearest destroy of a chain is that of the topmost node used.
func TestDestroysAreDearerUpTheTree(t *testing.T) {
	for _, g := range mig.GPUs() {
		tree := g.Tree()
		for _, n := range tree {
			if n.Parent >= 0 && tree[n.Parent].Profile.Destroy < n.Profile.Destroy {
				t.Errorf("%v: destroying %v takes longer than %v", g, n, tree[n.Parent])
			}
		}
	}
}
