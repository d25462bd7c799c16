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
	for line := 1; in.Scan() && in.Err() == nil; line++ {
		row := struct {
			ID      string `json:"jobID"`
			Format  string `json:"format"`
			Arrival int    `json:"arrivalMS"`
			Work    int    `json:"computeCoreMS"`
			Memory  int    `json:"memoryMB"`
		}{}
		err := strictjson.Unmarshal(in.Bytes(), &row)
		q := task.Request{Arrival: row.Arrival, Work: row.Work/100 + min(row.Work%100, 1), MemoryMB: row.Memory}
		bad, ok := errors.AsType[*strictjson.Error](err)
		switch last := len(out) - 1; {
		case ok:
			bad.Line = 0 // the error below has the line of the file
		case row.Format != "resource-bound-v2":
			err = fmt.Errorf(`the format is %q; it must be "resource-bound-v2"`, row.Format)
		case q.CheckWork() != nil:
			err = fmt.Errorf("job %q: %w", row.ID, q.CheckWork())
		case last >= 0 && row.Arrival < out[last].Arrival:
			err = fmt.Errorf("job %q arrives at %d ms, and one before it at %d; sort the jobs by arrival", row.ID,
				row.Arrival, out[last].Arrival)
		}
		if err != nil {
			return nil, &task.ParseError{File: file, Line: line, Err: err}
		}
		out = append(out, q)
	}
	return out, in.Err()
}
