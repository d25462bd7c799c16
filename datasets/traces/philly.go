package traces

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"miglab/harness/strictjson"
)

// A phillyJob is an element of cluster_job_log.
type phillyJob struct {
	Submitted string `json:"submitted_time"`
	Attempts  []struct {
		Start  *string `json:"start_time"`
		End    *string `json:"end_time"`
		Detail []struct {
			GPUs []string `json:"gpus"`
		} `json:"detail"`
	} `json:"attempts"`
}

// readPhilly reads the array of jobs one by one. It rejects a job of the wrong shape. A mistake in
// the JSON itself is an error and ends the reading.
func readPhilly(r io.Reader, file string, _ Options, each jobFunc) error {
	counting := &strictjson.LineCounter{Reader: r}
	d := json.NewDecoder(counting)
	broken := func(err error) error {
		return fmt.Errorf("%s:%d: %w; the file must be one JSON array of jobs, and what follows was not read", file,
			counting.At(d.InputOffset()), err)
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return broken(cmp.Or(err, errors.New("there is no array")))
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return broken(err)
		}
		line := counting.At(d.InputOffset() - int64(len(raw)))
		var p phillyJob
		err := json.Unmarshal(raw, &p)
		var j Job
		if err == nil {
			j, err = p.job()
		}
		each(line, j, err)
	}
	if _, err := d.Token(); err != nil {
		return broken(err)
	}
	return nil
}

func (p *phillyJob) job() (Job, error) {
	if len(p.Attempts) == 0 {
		return Job{}, errors.New("was never started: it has no attempts")
	}
	var f fields
	j := Job{Submit: f.instant("submitted_time", p.Submitted), Milli: WholeGPU}
	for _, a := range p.Attempts {
		if a.Start == nil || a.End == nil || *a.Start == "None" || *a.End == "None" {
			return Job{}, errors.New("has an attempt without start_time or end_time, so that its lifetime is not known")
		}
		j.Lifetime += f.instant("end_time", *a.End) - f.instant("start_time", *a.Start)
	}
	for _, machine := range p.Attempts[0].Detail {
		j.GPUs += len(machine.GPUs)
	}
	return j, f.err
}
