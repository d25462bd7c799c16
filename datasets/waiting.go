package datasets

import (
	"strings"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// reject is the value of the parameter queue for clusters in which nothing waits.
const reject = "reject"

// queueParam is a parameter of datasets for clusters. Requests that wait have to leave at some time, and are not moved.
var queueParam = choice("queue", "a request that fits nowhere is forgotten, tried again whenever a request arrives or "+
	"an instance leaves, or lets nobody go before it", reject, string(task.Retry), string(task.FIFO))

// newWaiting reads the parameter. The error is about moves.
func newWaiting(a spec.Args) (task.Waiting, error) {
	if a[queueParam.Name] == reject {
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

// all is the value of the parameter profiles for every profile of the GPU model.
const all = "all"

// clusterParams are the parameters of datasets for clusters that may have nodes, with the number of GPUs by default.
func clusterParams(gpus int) []spec.Param {
	return []spec.Param{
		whole("gpus", gpus, 1, maxGPUs, "GPUs of the cluster"),
		whole("pernode", 0, 0, maxGPUs, "GPUs of a node; 0 means all"),
		queueParam,
		{
			Name: "profiles", Default: all, Type: spec.Type{
				Want: "profiles of the GPU model joined by dashes, as in 1g.10gb-2g.20gb",
				Read: func(value string) (string, error) { return value, nil },
			},
			Doc: "profiles that requests for memory may get",
		},
	}
}

// cluster has the values of these parameters.
type cluster struct {
	gpus, perNode int
	waiting       task.Waiting
	profiles      string
}

func newCluster(a spec.Args) (cluster, error) {
	w, err := newWaiting(a)
	return cluster{a.Int("gpus"), a.Int("pernode"), w, a["profiles"]}, err
}

func (c cluster) regime() task.Regime { return regimeOf(c.waiting, task.Whole) }

// on returns the cluster without requests. The error is about a profile that the model lacks.
func (c cluster) on(g *mig.GPU) (task.Requests, error) {
	out := task.Requests{GPUs: c.gpus, PerNode: c.perNode, Waiting: c.waiting}
	if c.profiles == all {
		return out, nil
	}
	for name := range strings.SplitSeq(c.profiles, "-") {
		p, err := g.ProfileByName(name)
		if err != nil {
			return out, err
		}
		out.Offered = append(out.Offered, p)
	}
	return out, nil
}
