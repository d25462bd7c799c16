package bounds

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

// Area returns the area bound in seconds: the tasks' least areas spread evenly over the slices of all GPUs,
//
//	sum_i min_s s t_i(s) / (#slices_G * GPUs),
//
// the "baseline" of FAR 6.4. Sizes are in compute slices: an instance
// of 3 compute slices at slice 0 counts as 3, though a fourth idles.
//
// PROVEN for every reconfiguration model, start partition and release times. Instances that exist together belong to
// one partition, and the sizes in a partition add up to at most #slices_G. So the sizes of the tasks that run at an
// instant do too, on each GPU. Integrated from 0 to the makespan, sum_i s_i t_i(s_i) <= #slices_G * GPUs * makespan,
// where s_i is the size that task i runs on. The least area of task i is at most s_i t_i(s_i).
//
// For several batches, FAR 6.7.2 applies the same formula to the tasks of all batches together.
//
// Area returns the error of [task.Batch.Validate] for invalid tasks.
func Area(p algo.Problem) (mig.Seconds, error) {
	if err := p.Tasks.Validate(p.GPU); err != nil {
		return 0, err
	}
	return mig.Seconds(leastWork(p.Tasks, sizeWeights(p.GPU.Sizes())) / capacity(&p)), nil
}

var _ = register("area", 1, true, "FAR 6.4 (one batch) and 6.7.2 (several)",
	"least task areas spread over all slices; proven", quick(Area))
