package datasets

import (
	"strings"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// queueParam is a parameter of datasets for clusters. Requests that wait must leave at some time.
var queueParam = choice("queue", "a request that fits nowhere is forgotten, tried again whenever a request arrives or "+
	"an instance leaves, or lets nobody go before it", "reject", string(task.Retry), string(task.FIFO))

// geometryParam is a parameter of the same datasets.
var geometryParam = spec.Param{
	Name: "geometry",
	Doc: "instances of the GPUs, which are never changed, where requests wait: partitions joined by + and repeated " +
		"over the GPUs; a request asks for the smallest existing profile with its compute slices and memory",
	Type: spec.Type{Want: "partitions joined by +, as in 4-2-1+3-3", Read: func(value string) (string, error) {
		for _, name := range strings.Split(value, geometryJoint) {
			if !mig.NamesPartition(name) {
				return "", spec.ErrValue
			}
		}
		return value, nil
	}},
}

const geometryJoint = "+"

// waiting has the values of queueParam and geometryParam.
type waiting struct {
	queue    task.Waiting
	geometry string
}

// newWaiting reads the parameters. It returns an error for a geometry if requests do not wait or may be moved.
func newWaiting(a spec.Args) (w waiting, err error) {
	w.geometry = a[geometryParam.Name]
	switch queue := a[queueParam.Name]; {
	case w.geometry != "" && a.Float("moves") != 0:
		return w, refuse(a, "moves", "none with a geometry")
	case queue != queueParam.Default:
		w.queue = task.Waiting(queue)
	case w.geometry != "":
		return w, refuse(a, geometryParam.Name, "it with queue=retry or queue=fifo")
	}
	return w, nil
}

// apply sets the rules for waiting requests and the geometry. It returns an error if a request would wait forever.
func (w waiting) apply(g *mig.GPU, in *task.Requests) error {
	if w.queue == task.Reject {
		return nil
	}
	in.Waiting = w.queue
	if w.geometry != "" {
		if err := in.Fix(g, strings.Split(w.geometry, geometryJoint)); err != nil {
			return err
		}
	}
	return in.CheckEnd()
}

// regime returns the regime of a dataset whose requests may wait.
func (w waiting) regime(otherwise task.Regime) task.Regime {
	if w.queue != task.Reject {
		return task.Queued
	}
	return otherwise
}

// clusterParams returns the parameters of datasets for clusters that may have nodes. gpus is the default of gpus.
func clusterParams(gpus int) []spec.Param {
	return []spec.Param{
		whole("gpus", gpus, 1, maxGPUs, "GPUs of the cluster"),
		whole("pernode", 0, 0, maxGPUs, "GPUs of a node; 0 means all"),
		queueParam, geometryParam, movesParam, secondsParam,
	}
}

// cluster has the values of these parameters.
type cluster struct {
	gpus, perNode int
	waiting       waiting
	moves         moves
}

func newCluster(a spec.Args) (cluster, error) {
	w, err := newWaiting(a)
	if err != nil {
		return cluster{}, err
	}
	m, err := newMoves(a, secondsDowntime)
	return cluster{gpus: a.Int("gpus"), perNode: a.Int("pernode"), waiting: w, moves: m}, err
}

// apply sets the rules for moves and for waiting requests. It returns an error if a request would wait forever.
func (c cluster) apply(g *mig.GPU, in *task.Requests) (err error) {
	if in.Migration, err = c.moves.rules(c.gpus, in.Requests, in.Seconds()); err != nil {
		return err
	}
	return c.waiting.apply(g, in)
}

func (c cluster) regime() task.Regime { return c.waiting.regime(task.Whole) }

func (c cluster) empty() task.Requests {
	return task.Requests{GPUs: c.gpus, PerNode: c.perNode, Waiting: c.waiting.queue}
}
