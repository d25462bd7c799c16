package datasets

import (
	"miglab/harness/spec"
	"miglab/harness/task"
)

// queueParam is a parameter of datasets for clusters. Requests that wait have to leave at some time, and are not moved.
var queueParam = choice("queue", "a request that fits nowhere is forgotten, tried again whenever a request arrives or "+
	"an instance leaves, or lets nobody go before it", "reject", string(task.Retry), string(task.FIFO))

// newWaiting reads the parameter. The error is about moves.
func newWaiting(a spec.Args) (task.Waiting, error) {
	if a[queueParam.Name] == queueParam.Default {
		return task.Reject, nil
	}
	if a["moves"] != "" && a.Float("moves") != 0 {
		return "", refuse(a, "moves", "none with queue="+a[queueParam.Name])
	}
	return task.Waiting(a[queueParam.Name]), nil
}

// regimeOf is the regime of a dataset whose requests may wait.
func regimeOf(w task.Waiting, otherwise task.Regime) task.Regime {
	if w != task.Reject {
		return task.Queued
	}
	return otherwise
}

// clusterParams are the parameters of datasets for clusters that may have nodes, with the number of GPUs by default.
func clusterParams(gpus int) []spec.Param {
	return []spec.Param{
		whole("gpus", gpus, 1, maxGPUs, "GPUs of the cluster"),
		whole("pernode", 0, 0, maxGPUs, "GPUs of a node; 0 means all"),
		queueParam,
	}
}

// cluster has the values of these parameters.
type cluster struct {
	gpus, perNode int
	waiting       task.Waiting
}

func newCluster(a spec.Args) (cluster, error) {
	w, err := newWaiting(a)
	return cluster{a.Int("gpus"), a.Int("pernode"), w}, err
}

func (c cluster) regime() task.Regime { return regimeOf(c.waiting, task.Whole) }

func (c cluster) empty() task.Requests {
	return task.Requests{GPUs: c.gpus, PerNode: c.perNode, Waiting: c.waiting}
}
