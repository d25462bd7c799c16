package traces

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"miglab/harness/strictcsv"
)

// A pod is an element of the list that kubectl get pods -o json prints.
type pod struct {
	Metadata struct {
		Created string `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Containers []container       `json:"containers"`
		Init       []container       `json:"initContainers"`
		Selector   map[string]string `json:"nodeSelector"`
		Claims     []json.RawMessage `json:"resourceClaims"`
	} `json:"spec"`
	Status struct {
		Phase      string `json:"phase"`
		Start      string `json:"startTime"`
		Containers []struct {
			State struct {
				Terminated struct {
					Finished string `json:"finishedAt"`
				} `json:"terminated"`
			} `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

// A container of a pod. Kubernetes demands equal limits and requests of GPUs.
type container struct {
	Restart   string `json:"restartPolicy"`
	Resources struct {
		Limits map[string]quantity `json:"limits"`
	} `json:"resources"`
}

// A quantity is a number of Kubernetes, which is a string or a number in JSON.
type quantity string

// UnmarshalJSON implements [json.Unmarshaler].
func (q *quantity) UnmarshalJSON(text []byte) error {
	*q = quantity(strings.Trim(string(text), `"`))
	return nil
}

// readPods reads the pods that kubectl get pods -A -o json prints.
func readPods(r io.Reader, file string, o Options, each jobFunc) error {
	const want = "the file must be one list as kubectl get pods -A -o json prints it"
	in := bufio.NewReader(r)
	first, _ := in.Peek(64) // an error comes again
	if bytes.Contains(first, []byte("|")) {
		return fmt.Errorf("%s:1: this looks like sacct: say --format sacct", file)
	}
	return readElements(in, file, "items", want, func(line int, raw []byte) {
		var p pod
		var j Job
		err := json.Unmarshal(raw, &p)
		if err == nil {
			j, err = p.job(o)
		}
		each(line, j, err)
	})
}

// job returns the job of a pod, which lives from its start to the end of its last container.
func (p *pod) job(o Options) (Job, error) {
	j, err := p.gpus()
	ended := p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed"
	waits := p.Status.Start == "" || p.Status.Phase == "Pending"
	switch {
	case errors.Is(err, errNoGPU):
		return j, err
	case waits && !(o.Snapshot && o.Pending):
		return j, &partError{Waiting, fmt.Sprintf("is %s: it was never started; --snapshot --pending counts it",
			p.Status.Phase)}
	case ended && o.Snapshot:
		return j, o.present(&j, false, p.Status.Phase)
	case err != nil:
		return j, err
	case o.Snapshot || !ended:
		return j, o.present(&j, !ended, p.Status.Phase)
	}
	var f fields
	last := ""
	for _, c := range p.Status.Containers {
		last = max(last, c.State.Terminated.Finished) // RFC 3339 in UTC
	}
	if last == "" {
		return j, errors.New("has no container with finishedAt, so that its lifetime is not known")
	}
	j.Submit = f.instant("creationTimestamp", p.Metadata.Created)
	j.Lifetime = f.instant("finishedAt", last) - f.instant("startTime", p.Status.Start)
	return j, f.err
}

// gpus returns a job with the GPUs or instances of a pod.
func (p *pod) gpus() (j Job, err error) {
	sums, err := p.resources()
	if err != nil {
		return j, err
	}
	var kinds []gpuKind
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		k := gpuKind{model: p.Spec.Selector["nvidia.com/gpu.product"], count: sums[name]}
		profile, instance := strings.CutPrefix(name, "nvidia.com/mig-")
		switch {
		case k.count == 0:
			continue
		case !instance && name != "nvidia.com/gpu" || strings.HasSuffix(name, ".shared"):
			return j, fmt.Errorf("asks for %s, and the file does not say which share of a GPU that is", name)
		case instance:
			k.profile = strings.Replace(profile, ".me", "+me", 1)
		}
		kinds = append(kinds, k)
	}
	if kinds == nil && p.Spec.Claims != nil {
		return j, errors.New("asks for devices by resourceClaims, which the file does not have")
	}
	return kindJob(kinds)
}

// resources returns the number of GPUs or instances that a pod needs, by the name of the resource: the sum over its
// containers, or the largest number of an init container if that is larger. Init containers run one after another,
// except that a container with restartPolicy Always keeps running and is added to the sum.
func (p *pod) resources() (map[string]int, error) {
	sums, inits := map[string]int{}, map[string]int{}
	for i, c := range slices.Concat(p.Spec.Containers, p.Spec.Init) {
		for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
			if !strings.HasPrefix(name, "nvidia.com/gpu") && !strings.HasPrefix(name, "nvidia.com/mig-") {
				continue
			}
			value := string(c.Resources.Limits[name])
			n, err := strictcsv.Int(value)
			if err != nil || n < 0 || n > mostGPUs {
				return nil, fmt.Errorf("%s is %q; write a whole number from 0 to %d", name, value, mostGPUs)
			}
			if i < len(p.Spec.Containers) || c.Restart == "Always" {
				sums[name] += n
			} else {
				inits[name] = max(inits[name], n)
			}
		}
	}
	for name, n := range inits {
		sums[name] = max(sums[name], n)
	}
	return sums, nil
}
