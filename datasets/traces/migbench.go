package traces

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"miglab/harness/strictcsv"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// MIGBench is the name of the format of [ReadMIGBench].
const MIGBench = "migbench"

// ReadMIGBench reads the requests of MIGBench (github.com/FouoF/MIG-scheduler-benchmark): a JSON object on each line,
// with the arrival in milliseconds, the work in percent of a GPU's compute times milliseconds, and the memory in MB.
// The requests have no profiles yet. ReadMIGBench returns a [*task.ParseError] for a wrong line.
func ReadMIGBench(r io.Reader, file string) ([]task.Request, error) {
	var out []task.Request
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	in.Buffer(nil, strictcsv.MaxLine+2)
	before := 0 // the arrival of the previous request
	for line := 1; in.Scan() && in.Err() == nil; line++ {
		q, err := migbenchRequest(in.Bytes(), before)
		if err != nil {
			return nil, &task.ParseError{File: file, Line: line, Err: err}
		}
		before = q.Arrival
		out = append(out, q)
	}
	return out, in.Err()
}

// migbenchRequest reads the request of a line. The request before it arrived at before, in milliseconds.
func migbenchRequest(line []byte, before int) (task.Request, error) {
	var row struct {
		ID      string `json:"jobID"`
		Format  string `json:"format"`
		Arrival int    `json:"arrivalMS"`
		Work    int    `json:"computeCoreMS"`
		Memory  int    `json:"memoryMB"`
	}
	err := strictjson.Unmarshal(line, &row)
	if bad, ok := errors.AsType[*strictjson.Error](err); ok {
		bad.Line = 0 // the caller has the line of the file
	}
	if err != nil {
		return task.Request{}, err
	}
	work := row.Work/100 + min(row.Work%100, 1) // rounded up
	q := task.Request{Arrival: row.Arrival, Work: work, MemoryMB: row.Memory}
	err = q.CheckWork()
	switch {
	case row.Format != "resource-bound-v2":
		return q, fmt.Errorf(`the format is %q; it must be "resource-bound-v2"`, row.Format)
	case err != nil:
		return q, fmt.Errorf("job %q: %w", row.ID, err)
	case row.Arrival < before:
		return q, fmt.Errorf("job %q arrives at %d ms, and one before it at %d; sort the jobs by arrival", row.ID,
			row.Arrival, before)
	}
	return q, nil
}
