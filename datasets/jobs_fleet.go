package datasets

import (
	"fmt"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// maxWatts is the largest accepted power of a GPU.
const maxWatts = 1_000_000

// fleetParams declares the GPUs of a dataset of the dispatch track. The defaults are the fleet of the deadline report:
// its configurations [1,1,2,2,3,3,12,12] by NVIDIA's numbering. There 1 is 7, 2 is 4-3, 3 is 4-2-1 and 12 is 2-2-2-1,
// for which FAR Fig. 1 has number 9. The fleet has 20 instances, which the report calls slices; it says 26 (2.3). The
// power table is the released ENERGY_TABLE.
var fleetParams = []spec.Param{
	{
		Name: "gpus", Default: "7+7+4-3+4-3+4-2-1+4-2-1+2-2-2-1+2-2-2-1", Doc: "a partition for each GPU",
		Type: spec.Names("partition", "at least one partition, joined by +, as in 7+4-3", "+", mig.PartitionNames,
			mig.NamesPartition),
	},
	{
		Name: "watts", Default: "40-120-160-200-240-250-250-250", Doc: "what a GPU draws by busy slices from 0",
		Type: spec.Numbers(0, maxWatts),
	},
	choice("preemption", "yes: all running jobs return to the queue whenever a job arrives or ends", "no", "yes"),
}

// A fleet has the values of fleetParams, as the spec spells them. id is the dataset's canonical spec, for errors.
type fleet struct{ id, gpus, watts, preemption string }

func newFleet(id string, a spec.Args) fleet {
	return fleet{id: id, gpus: a["gpus"], watts: a["watts"], preemption: a["preemption"]}
}

// resolve returns the fleet of GPUs of a model. The error wraps a [*nearest.UnknownError] if the
// model lacks a partition.
func (f *fleet) resolve(g *mig.GPU) (task.Fleet, error) {
	out := task.Fleet{Watts: spec.Floats(f.watts), Preemptive: f.preemption == "yes"}
	for _, name := range strings.Split(f.gpus, "+") {
		p, err := g.ParsePartition(name)
		if err != nil {
			all := g.Partitions()
			return task.Fleet{},
				fmt.Errorf("dataset %q: %w; its parameter gpus names a partition for each %s, as in gpus=%s+%s",
					f.id, err, g, all[0], all[len(all)-1])
		}
		out.Partitions = append(out.Partitions, p)
	}
	return out, nil
}
