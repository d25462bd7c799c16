package datasets

import (
	"miglab/harness/spec"
	"miglab/harness/task"
)

// reject is the value of the parameter queue for clusters in which nothing waits.
const reject = "reject"

// queueParam is a parameter of datasets for clusters. Requests that wait have to leave at some time, and are not moved.
var queueParam = choice("queue", "a request that fits nowhere is forgotten, tried again whenever a request arrives or an "+
	"instance leaves, or lets nobody go before it", reject, string(task.Retry), string(task.FIFO))

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
