package advise

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/layout"
	"miglab/harness/mig"
)

// Held is a placement of the requests of a snapshot. All instances and GPUs of a request are on one node, unless a node
// has too few for it.
type Held struct {
	// Layouts has the instances of each GPU. A GPU with MIG off has [Advice.Whole], and a free one has nil.
	Layouts [][]*mig.Profile
	// Omitted lists the requests without a place, by their positions in the snapshot: the largest ones.
	Omitted []int
}

// snapshot finds a number of GPUs that holds all requests at once; for a single node it is the least. Then it omits
// large requests until the number of GPUs in the question holds the others. It would not hold the last one omitted.
func (a *adviser) snapshot(out *Advice) error {
	requests := a.largestFirst()
	need := Need{Policy: FirstFit}
	need.GPUs, _ = bisect(out.Below, func(gpus int) (bool, error) {
		nodes, proven := a.pack(gpus, requests)
		if proven {
			out.Below = max(out.Below, gpus+1)
		}
		return nodes != nil, a.ctx.Err()
	})
	need.Least = need.GPUs == out.Below
	out.Needs, out.GPUs = []Need{need}, cmp.Or(a.q.GPUs, need.GPUs)
	var nodes [][]layout.Plan
	omitted, _ := bisect(0, func(omitted int) (bool, error) {
		held, _ := a.pack(out.GPUs, requests[min(omitted, len(requests)):])
		if held != nil {
			nodes = held
		}
		return held != nil, a.ctx.Err()
	})
	out.Held = Held{
		Layouts: make([][]*mig.Profile, out.GPUs), Omitted: slices.Sorted(slices.Values(requests[:omitted])),
	}
	for node, plans := range nodes {
		for i, plan := range plans {
			gpu := &out.Held.Layouts[node*a.q.PerNode+i]
			for _, in := range plan.Instances {
				*gpu = append(*gpu, in.Profile)
			}
		}
	}
	return a.ctx.Err()
}

// largestFirst returns the positions of the requests in descending order of their slices, the last of equal ones first.
func (a *adviser) largestFirst() (order []int) {
	for i := range a.in.Requests {
		order = append(order, i)
	}
	slices.SortFunc(order, func(i, j int) int {
		x, y := &a.in.Requests[i], &a.in.Requests[j]
		return cmp.Or(y.Slices()-x.Slices(), y.ComputeSlices()-x.ComputeSlices(), j-i)
	})
	return order
}

// pack gives each of some requests to the first node with room for it. It returns the plans of each node, or nil if a
// request finds no room. proven says that no other placement has room for all.
func (a *adviser) pack(gpus int, requests []int) (nodes [][]layout.Plan, proven bool) {
	perNode := cmp.Or(a.q.PerNode, gpus)
	several := func(i int) bool { return a.in.Requests[i].Instances() > 1 }
	if !slices.ContainsFunc(requests, several) {
		perNode = gpus // an instance is always on one node
	}
	nodes = make([][]layout.Plan, (gpus+perNode-1)/perNode)
	holds := make([][]*mig.Profile, len(nodes))
	nodeFor := map[string]int{} // by instances: the first node that may have room for them
	for _, part := range a.parts(requests, perNode, len(nodes)) {
		key := fmt.Sprint(part)
		for room := false; !room; {
			k := nodeFor[key]
			all := append(slices.Clone(holds[k]), part...)
			plans, ok, err := layout.Divide(a.q.GPU, all, min(perNode, gpus-k*perNode))
			switch {
			case ok:
				holds[k], nodes[k], room = all, plans, true
			case k+1 == len(nodes):
				return nil, len(nodes) == 1 && err == nil
			default:
				nodeFor[key]++
			}
		}
	}
	return nodes, false
}

// parts returns the instances of some requests in groups that must each be on one node. With a single node, they are
// one group. Otherwise each request is a group, and a request that is too large for a node is one for each instance.
func (a *adviser) parts(requests []int, perNode, nodes int) (out [][]*mig.Profile) {
	for _, i := range requests {
		r := &a.in.Requests[i]
		var own []*mig.Profile
		for k := range r.Instances() {
			own = append(own, r.Member(k).Profile)
		}
		together := nodes == 1
		if !together {
			_, together, _ = layout.Divide(a.q.GPU, own, perNode)
		}
		if together {
			out = append(out, own)
		} else {
			out = slices.AppendSeq(out, slices.Chunk(own, 1))
		}
	}
	if nodes == 1 {
		out = [][]*mig.Profile{slices.Concat(out...)}
	}
	return out
}
