package datasets

import (
	"fmt"
	"math"

	"miglab/harness/spec"
	"miglab/harness/task"
)

// moveParams returns the parameters of datasets for clusters that may allow moves. downtime is the default of the
// parameter downtime, in slots.
func moveParams(downtime int) []spec.Param {
	return []spec.Param{movesParam, whole("downtime", downtime, 0, 1_000_000,
		"slots for which a moved workload stands still; it leaves that much later")}
}

var (
	movesParam = number("moves", 0, 0, 1000,
		"most moves a GPU, on average over the cluster, in any time as long as the mean lifespan")
	// secondsParam is the parameter downtime of datasets with times in seconds.
	secondsParam = number("downtime", secondsDowntime, 0, 1_000_000,
		"seconds for which a moved request stands still on its new instance, a checkpoint and a restart; it leaves "+
			"that much later")
)

// secondsDowntime is the default of secondsParam, as for a restart in miso/stream.
const secondsDowntime = 30

// moves are the values of these parameters.
type moves struct {
	perGPU float64
	// downtime is in the unit of the dataset's parameter.
	downtime float64
}

// newMoves reads the parameters. It returns an error for a downtime, other than the default, without moves.
func newMoves(a spec.Args, downtime float64) (moves, error) {
	m := moves{a.Float("moves"), a.Float("downtime")}
	if m.perGPU == 0 && m.downtime != downtime {
		return m, refuse(a, "downtime", "it only with moves")
	}
	return m, nil
}

// rules returns the limits on moves in a cluster for a stream. slot is the length of a slot in the unit of the
// downtime. It returns an error if a request never leaves.
func (m moves) rules(gpus int, all []task.Request, slot float64) (task.Migration, error) {
	if m.perGPU == 0 {
		return task.Migration{}, nil
	}
	sum := 0.0
	for i := range all {
		if all[i].Lifespan == task.Forever {
			return task.Migration{},
				fmt.Errorf("request %d never leaves; give moves only where there is a mean lifespan", i)
		}
		sum += float64(all[i].Lifespan)
	}
	const rounding = 1e-9 // so that 0.29 moves a GPU make 29 on 100 GPUs
	moves := int(math.Floor(float64(m.perGPU*float64(gpus)) + rounding))
	window := int(math.Round(sum / float64(len(all))))
	downtime := int(math.Round(m.downtime / slot))
	return task.Migration{Moves: moves, Window: max(window, 1), Downtime: downtime}, nil
}
