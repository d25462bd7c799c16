package advise

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/layout"
	"miglab/harness/mig"
)

// Held is a placement of the requests of a snapshot.
type Held struct {
	// Layouts has the instances of each GPU. Whole says which GPUs belong to a request for several GPUs; they have no
	// instances.
	Layouts [][]*mig.Profile
	Whole   []bool
	// Left has the requests for which there is no room, by their position in the snapshot.
	Left []int
}

// snapshot finds the number of GPUs that hold all requests at once. It places the requests on that many GPUs, or on the
// number of GPUs in the question: by first fit, the largest requests first, or by an exact search if that leaves some
// out.
func (a *adviser) snapshot(out *Advice) error {
	all := a.in.Requests
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		p, q := &all[i], &all[j]
		return cmp.Or(q.Slices()-p.Slices(), int(q.Profile.Size-p.Profile.Size))
	})
	sorted := *a.q
	sorted.Requests.Requests = nil
	for _, i := range order {
		sorted.Requests.Requests = append(sorted.Requests.Requests, all[i])
	}
	b := newAdviser(a.ctx, &sorted, a.runner)
	need, err := b.least(FirstFit, out.Below)
	if err != nil {
		return err
	}
	need.Least = need.GPUs == out.Below
	if !need.Least && a.divisions(need.GPUs) <= mostDivisions {
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
	if err := b.setGPUs(out.GPUs); err != nil {
		return err
	}
	if out.Held, err = b.firstFit(order); err == nil && out.Held.Left != nil && out.GPUs >= need.GPUs {
		out.Held, _, err = a.divide(out.GPUs)
	}
	return err
}

// firstFit places the requests of a snapshot by first fit. order has their positions in the snapshot.
func (a *adviser) firstFit(order []int) (h Held, err error) {
	r, err := runChecked(a, algo.MustParse(FirstFit), a.in)
	if err != nil {
		return h, err
	}
	h = Held{Layouts: make([][]*mig.Profile, a.in.GPUs), Whole: make([]bool, a.in.GPUs)}
	for i, spots := range r.Spots {
		q := &a.in.Requests[i]
		if r.Starts[i] > q.Arrival {
			h.Left = append(h.Left, order[i])
			continue
		}
		for _, s := range spots {
			if q.Instances() > 1 {
				h.Whole[s.GPU] = true
			} else {
				h.Layouts[s.GPU] = append(h.Layouts[s.GPU], q.Profile)
			}
		}
	}
	slices.Sort(h.Left)
	return h, nil
}

// mostDivisions bounds the work of an exact search for a snapshot.
const mostDivisions = 200_000

// divisions returns the number of states of [adviser.divide], at most.
func (a *adviser) divisions(gpus int) float64 {
	states := float64(gpus)
	for _, d := range demands(a.q.GPU, a.in) {
		states *= float64(d.Requests - d.Several + 1)
	}
	return states
}

// divide places the requests of a snapshot on GPUs; false if they do not fit.
func (a *adviser) divide(gpus int) (h Held, ok bool, err error) {
	h = Held{Layouts: make([][]*mig.Profile, gpus), Whole: make([]bool, gpus)}
	whole := 0
	var instances []*mig.Profile
	for i := range a.in.Requests {
		q := &a.in.Requests[i]
		if q.Instances() == 1 {
			instances = append(instances, q.Profile)
		} else {
			whole += q.Instances()
		}
	}
	if whole > gpus {
		return h, false, nil
	}
	plans, ok, err := layout.Divide(a.q.GPU, instances, gpus-whole)
	for i := range whole {
		h.Whole[i] = true
	}
	for i, plan := range plans {
		for _, in := range plan.Instances {
			h.Layouts[whole+i] = append(h.Layouts[whole+i], in.Profile)
		}
	}
	return h, ok, err
}
