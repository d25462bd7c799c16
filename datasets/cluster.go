package datasets

import (
	"fmt"
	"math"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// A cluster has the parameters of datasets of requests: its GPUs, how requests wait, which instances never change, and
// how running requests may move.
type cluster struct {
	// perNode is the number of GPUs of a node; 0 means that one node has all.
	gpus, perNode int
	queue         task.Waiting
	geometry      string  // partitions joined by [geometryJoint]; "" if instances are made on demand
	moves         float64 // limits the moves a GPU in any time as long as the mean lifespan; 0 allows none
	downtime      float64 // in slots or in seconds, as the dataset's parameter has it
}

// clusterParams returns the parameters of datasets for clusters that may have nodes. gpus is the default of gpus.
func clusterParams(gpus int) []spec.Param {
	return []spec.Param{
		whole("gpus", gpus, 1, maxGPUs, "GPUs of the cluster"),
		whole("pernode", 0, 0, maxGPUs, "GPUs of a node; 0 means all"),
		queueParam, geometryParam, movesParam,
		number("downtime", secondsDowntime, 0, 1_000_000,
			"seconds for which a moved request stands still on its new instance, a checkpoint and a restart; it "+
				"leaves that much later"),
	}
}

// maxGPUs is the size of the largest cluster.
const maxGPUs = 1_000_000

// secondsDowntime is the default of the parameter downtime in seconds, as for a restart in miso/stream.
const secondsDowntime = 30

// moveParams returns the parameters of moves in datasets that count downtime in slots.
func moveParams(downtime int) []spec.Param {
	return []spec.Param{movesParam, whole("downtime", downtime, 0, 1_000_000,
		"slots for which a moved workload stands still; it leaves that much later")}
}

var (
	queueParam = choice("queue", "a request that fits nowhere is forgotten, tried again whenever a request arrives or "+
		"an instance leaves, or lets nobody go before it", "reject", string(task.Retry), string(task.FIFO))
	movesParam = number("moves", 0, 0, 1000,
		"most moves a GPU, on average over the cluster, in any time as long as the mean lifespan")
	geometryParam = spec.Param{
		Name: "geometry",
		Doc: "instances of the GPUs, which are never changed, where requests wait: partitions, or profiles such as " +
			"1g.20gb-1g.20gb, joined by + and repeated over the GPUs; a request asks for the smallest existing profile " +
			"with its compute slices and memory",
		Type: spec.Type{Want: "partitions joined by +, as in 4-2-1+3-3", Read: func(value string) (string, error) {
			for _, name := range strings.Split(value, geometryJoint) {
				if !mig.NamesPartition(name) && !mig.NamesProfiles(name) {
					return "", spec.ErrValue
				}
			}
			return value, nil
		}},
	}
)

const geometryJoint = "+"

// newCluster reads the parameters, of which downtime has a default. It returns an error for parameters that have no
// effect together.
func newCluster(a spec.Args, downtime float64) (cluster, error) {
	c := cluster{
		gpus: a.Int("gpus"), perNode: a.Int("pernode"), geometry: a[geometryParam.Name], moves: a.Float("moves"),
		downtime: a.Float("downtime"),
	}
	if a[queueParam.Name] != queueParam.Default {
		c.queue = task.Waiting(a[queueParam.Name])
	}
	switch {
	case c.geometry != "" && c.moves != 0:
		return c, refuse(a, "moves", "none with a geometry")
	case c.geometry != "" && c.queue == task.Reject:
		return c, refuse(a, geometryParam.Name, "it with queue=retry or queue=fifo")
	case c.moves == 0 && c.downtime != downtime:
		return c, refuse(a, "downtime", "it only with moves")
	}
	return c, nil
}

func (c cluster) regime() task.Regime {
	if c.queue != task.Reject {
		return task.Queued
	}
	return task.Whole
}

// apply sets the cluster of requests and its rules. slot is the length of a slot in the unit of the downtime. It
// returns an error if a request would wait forever, or never leaves and may be moved.
func (c cluster) apply(g *mig.GPU, in *task.Requests, slot float64) error {
	in.GPUs, in.PerNode, in.Waiting = c.gpus, c.perNode, c.queue
	if err := c.limitMoves(in, slot); err != nil || c.queue == task.Reject {
		return err
	}
	if c.geometry != "" {
		if err := in.UseGeometry(g, strings.Split(c.geometry, geometryJoint)); err != nil {
			return err
		}
	}
	return in.CheckEnd()
}

// limitMoves sets the limits on moves.
func (c cluster) limitMoves(in *task.Requests, slot float64) error {
	if c.moves == 0 {
		return nil
	}
	lifespans := 0.0
	for i := range in.Requests {
		if in.Requests[i].Lifespan == task.Forever {
			return fmt.Errorf("request %d never leaves; give moves only where there is a mean lifespan", i)
		}
		lifespans += float64(in.Requests[i].Lifespan)
	}
	const rounding = 1e-9 // so that 0.29 moves a GPU make 29 on 100 GPUs
	window := int(math.Round(lifespans / float64(len(in.Requests))))
	in.Migration = task.Migration{
		Moves:    int(math.Floor(float64(c.moves*float64(c.gpus)) + rounding)),
		Window:   max(window, 1),
		Downtime: int(math.Round(c.downtime / slot)),
	}
	return nil
}
