package task

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/mig"
)

// A Geometry holds the instances of each GPU of a cluster that never changes them. It is nil for a cluster that creates
// instances on demand.
type Geometry []mig.Partition

// Has reports whether an instance may exist on a GPU.
func (g Geometry) Has(gpu int, in mig.Instance) bool { return g == nil || slices.Contains(g[gpu], in) }

// UseGeometry gives the GPUs of the cluster the named layouts in turn (see [mig.GPU.ParseLayout]); there must be at
// least one name. A request then asks for the smallest profile in the geometry with at least the compute slices and the
// memory of its original profile. Its lifespan changes only if it asks for work. UseGeometry returns an error for a bad
// name, for more names than GPUs, and for a request that asks for media extensions or is larger than every instance;
// after an error about a request, r is partly changed.
func (r *Requests) UseGeometry(g *mig.GPU, names []string) error {
	var partitions []mig.Partition
	for _, name := range names {
		p, err := g.ParseLayout(name)
		if err != nil {
			return err
		}
		partitions = append(partitions, p)
	}
	if len(names) > r.GPUs {
		return fmt.Errorf("the geometry has %d partitions; the cluster has %d GPUs", len(names), r.GPUs)
	}
	r.Geometry = nil
	for gpu := range r.GPUs {
		r.Geometry = append(r.Geometry, partitions[gpu%len(partitions)])
	}
	r.Demand = nil // it describes the original profiles
	instances := slices.Concat(partitions...)
	slices.SortFunc(instances, func(a, b mig.Instance) int {
		return cmp.Or(cmp.Compare(a.Size(), b.Size()), cmp.Compare(a.Profile.MemoryGB, b.Profile.MemoryGB))
	})
	for i := range r.Requests {
		q := &r.Requests[i]
		var members []Member
		for k := range q.Instances() {
			m := q.Member(k)
			if m.Media {
				return fmt.Errorf("request %d asks for %v; the instances of a geometry have no media extensions", i, m)
			}
			at := slices.IndexFunc(instances, func(in mig.Instance) bool {
				return in.Size() >= m.Profile.Size && in.Profile.MemoryGB >= m.Profile.MemoryGB
			})
			if at < 0 {
				return fmt.Errorf("request %d asks for %v; all instances of %v are smaller", i, m, names)
			}
			members = append(members, Member{Profile: instances[at].Profile})
		}
		if q.Gang == nil {
			q.Profile = members[0].Profile
		} else {
			q.SetGang(members, q.Gang.OneGPU)
		}
		if q.Work > 0 {
			q.setLifespan(g)
		}
	}
	return nil
}
