package traces

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	return readElements(r, file, "", "the file must be one JSON array of jobs", func(line int, raw []byte) {
		var p phillyJob
		err := json.Unmarshal(raw, &p)
		var j Job
		if err == nil {
			j, err = p.job()
		}
		each(line, j, err)
	})
}

// readElements reads a JSON array element by element: the file itself or, unless member is "", a member of an object.
// want says in errors what the file must be.
func readElements(r io.Reader, file, member, want string, each func(line int, raw []byte)) error {
	counting := &lineCounter{Reader: r}
	d := json.NewDecoder(counting)
	err := enter(d, member)
	for err == nil && d.More() {
		var raw json.RawMessage
		err = d.Decode(&raw)
		if err == nil {
			each(counting.at(d.InputOffset()-int64(len(raw))), raw)
		}
	}
	if err == nil {
		err = leave(d, member)
	}
	if err != nil {
		err = fmt.Errorf("%s:%d: %w; %s, and what follows was not read", file, counting.at(d.InputOffset()), err, want)
	}
	return err
}

// A lineCounter notes where lines end while a text is read, so that the line of an offset is found without reading
// twice.
type lineCounter struct {
	io.Reader
	read int64 // the number of bytes that were read
	// passed is the number of lines that end before the last offset given to at, and ends holds the offsets of later
	// line ends.
	passed int
	ends   []int64
}

// Read implements [io.Reader], and notes where lines end.
func (l *lineCounter) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	for i := 0; i < n; i++ {
		next := bytes.IndexByte(b[i:n], '\n')
		if next < 0 {
			break
		}
		i += next
		l.ends = append(l.ends, l.read+int64(i))
	}
	l.read += int64(n)
	return n, err
}

// at returns the line of an offset, from 1. Offsets must not decrease from call to call.
func (l *lineCounter) at(offset int64) int {
	for len(l.ends) > 0 && l.ends[0] < offset {
		l.ends = l.ends[1:]
		l.passed++
	}
	return l.passed + 1
}

// enter reads up to the first element of the array.
func enter(d *json.Decoder, member string) error {
	if member != "" {
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return cmp.Or(err, errors.New("there is no object"))
		}
		if err := seek(d, member); err != nil {
			return err
		}
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return cmp.Or(err, errors.New("there is no array"))
	}
	return nil
}

// leave reads from the last element of the array to the end of the file.
func leave(d *json.Decoder, member string) error {
	_, err := d.Token()
	if err == nil && member != "" {
		err = seek(d, "")
	}
	if err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return cmp.Or(err, errors.New("there is more text after the end"))
	}
	return nil
}

// seek reads an object up to the value of a member, or to its end if the member is "".
func seek(d *json.Decoder, member string) error {
	for d.More() {
		name, err := d.Token()
		if err != nil || member != "" && name == member {
			return err
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return err
		}
	}
	if member != "" {
		return fmt.Errorf("there is no member %s", member)
	}
	_, err := d.Token()
	return err
}

// job returns the job, which lives for the sum of its attempts and has the GPUs of the first.
func (p *phillyJob) job() (Job, error) {
	if len(p.Attempts) == 0 {
		return Job{}, neverStarted("has no attempts")
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
