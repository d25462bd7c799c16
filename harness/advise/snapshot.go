package advise

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Held is a placement of the requests of a snapshot. All instances and GPUs of a request are on one node, unless a node
// has too few for it.
type Held struct {
	// Layouts has the instances of each GPU. A GPU with MIG off has [Advice.Whole], and a free one has nil.
	Layouts [][]*mig.Profile
	// Left has the requests for which there is no room, by their position in the snapshot.
	Left []int
}

// snapshot finds the number of GPUs that hold all requests at once. It places the requests on that many GPUs, or on the
// number of GPUs in the question: the largest requests first, or by an exact search if that leaves some out.
func (a *adviser) snapshot(out *Advice) error {
	need := Need{Policy: FirstFit}
	var err error
	need.GPUs, err = bisect(out.Below, func(gpus int) (bool, error) { return a.pack(gpus).Left == nil, nil })
	if err != nil {
		return err
	}
	need.Least = need.GPUs == out.Below
	exact := a.divisions(need.GPUs) <= mostDivisions
	if !need.Least && exact {
		need.GPUs, err = bisect(out.Below, func(gpus int) (bool, error) {
			_, ok, err := a.divide(gpus)
			return ok, err
		})
		if err != nil {
			return err
		}
		need.Least, out.Below = true, need.GPUs
	}
	out.Needs, out.GPUs = []Need{need}, cmp.Or(a.q.GPUs, need.GPUs)
	out.Held = a.pack(out.GPUs)
	if out.Held.Left != nil && exact && out.GPUs >= need.GPUs {
		out.Held, _, err = a.divide(out.GPUs)
	}
	return err
}

// A packer places requests on GPUs.
type packer struct {
	g    *mig.GPU
	held Held
	// room remembers which layouts fit on a GPU.
	room map[string]bool
}

func (a *adviser) newPacker(gpus int) *packer {
	return &packer{
		g: a.q.GPU, room: map[string]bool{},
		held: Held{Layouts: make([][]*mig.Profile, gpus)},
	}
}

// pack places the requests of a snapshot, the largest first: each on the first node with room, or on all GPUs if a node
// has too few.
func (a *adviser) pack(gpus int) Held {
	all := a.in.Requests
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		p, q := &all[i], &all[j]
		return cmp.Or(q.Slices()-p.Slices(), q.ComputeSlices()-p.ComputeSlices())
	})
	b, node := a.newPacker(gpus), cmp.Or(a.q.PerNode, gpus)
	for _, i := range order {
		placed := false
		for first := 0; first < gpus && !placed; first += node {
			placed = b.place(&all[i], first, min(first+node, gpus))
		}
		if !placed && node < gpus && !a.newPacker(node).place(&all[i], 0, node) {
			placed = b.place(&all[i], 0, gpus)
		}
		if !placed {
			b.held.Left = append(b.held.Left, i)
		}
	}
	slices.Sort(b.held.Left)
	return b.held
}

// place places a request on the GPUs from first to last-1: each instance on the first one with room. If they have no
// room for all, it places none and returns false.
func (b *packer) place(q *task.Request, first, last int) bool {
	var took []int
	gpu := first
	for k := range q.Instances() {
		p := q.Member(k).Profile
		if k > 0 && p != q.Member(k-1).Profile {
			gpu = first
		}
		for gpu < last && !b.hasRoom(gpu, p) {
			gpu++
		}
		if gpu == last {
			b.remove(took)
			return false
		}
		took = append(took, gpu)
		b.held.Layouts[gpu] = append(b.held.Layouts[gpu], p)
	}
	return true
}

// remove takes back the last instance of each of these GPUs.
func (b *packer) remove(gpus []int) {
	for _, gpu := range gpus {
		have := b.held.Layouts[gpu]
		b.held.Layouts[gpu] = have[:len(have)-1]
		if len(have) == 1 {
			b.held.Layouts[gpu] = nil // free again
		}
	}
}

// hasRoom reports whether a GPU has room for an instance.
func (b *packer) hasRoom(gpu int, p *mig.Profile) bool {
	have := b.held.Layouts[gpu]
	left := int(b.g.MemorySlices)
	for _, o := range have {
		left -= int(o.Length)
	}
	if left < int(p.Length) {
		return false
	}
	wanted := append(slices.Clone(have), p)
	key := fmt.Sprint(wanted)
	room, known := b.room[key]
	if !known {
		_, room = layout.Fit(b.g, wanted)
		b.room[key] = room
	}
	return room
}

// mostDivisions bounds the work of an exact search for a snapshot.
const mostDivisions = 200_000

// divisions returns the number of states of [adviser.divide], at most. It is too large for a search if requests need
// several instances of a node, which the search does not keep together.
func (a *adviser) divisions(gpus int) float64 {
	states := float64(gpus)
	for _, d := range demands(a.q.GPU, a.in) {
		states *= float64(d.Instances + 1)
	}
	if a.q.PerNode > 0 && slices.ContainsFunc(a.in.Requests, func(q task.Request) bool { return q.Instances() > 1 }) {
		return mostDivisions + 1
	}
	return states
}

// divide places the requests of a snapshot on GPUs, without regard to nodes; false if they do not fit.
func (a *adviser) divide(gpus int) (h Held, ok bool, err error) {
	h = Held{Layouts: make([][]*mig.Profile, gpus)}
	var instances []*mig.Profile
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		for k := range q.Instances() {
			instances = append(instances, q.Member(k).Profile)
		}
	}
	plans, ok, err := layout.Divide(a.q.GPU, instances, gpus)
	for i, plan := range plans {
		for _, in := range plan.Instances {
			h.Layouts[i] = append(h.Layouts[i], in.Profile)
		}
	}
	return h, ok, err
}
