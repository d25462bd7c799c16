package advise

import (
	"cmp"
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
)

// Held is a placement of the requests of a snapshot by first fit, the largest requests first.
type Held struct {
	// Layouts has the instances of each GPU. Whole says which GPUs belong to a request for several GPUs; they have no
	// instances.
	Layouts [][]*mig.Profile
	Whole   []bool
	// Left has the requests for which there is no room, by their position in the snapshot.
	Left []int
}

// snapshot finds a number of GPUs that hold all requests at once. It places the requests on that many GPUs, or on the
// number of GPUs in the question.
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
	out.Needs, out.GPUs = []Need{need}, cmp.Or(a.q.GPUs, need.GPUs)
	if err := b.setGPUs(out.GPUs); err != nil {
		return err
	}
	r, err := runChecked(b, algo.MustParse(FirstFit), b.in)
	if err != nil {
		return err
	}
	out.Held = Held{Layouts: make([][]*mig.Profile, out.GPUs), Whole: make([]bool, out.GPUs)}
	for i, spots := range r.Spots {
		q := &b.in.Requests[i]
		if r.Starts[i] > q.Arrival {
			out.Held.Left = append(out.Held.Left, order[i])
			continue
		}
		for _, s := range spots {
			if q.Instances() > 1 {
				out.Held.Whole[s.GPU] = true
			} else {
				out.Held.Layouts[s.GPU] = append(out.Held.Layouts[s.GPU], q.Profile)
			}
		}
	}
	slices.Sort(out.Held.Left)
	return nil
}
